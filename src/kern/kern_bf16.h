/* kern_bf16.h - products with packed bfloat16 on vector units. For kern_impl.c alone.
 *
 * bfloat16 is the upper half of a float: half the memory traffic. With an instruction that multiplies pairs
 * of bfloat16 (AVX512_BF16), rows of the other operand are rounded to bfloat16 too, as on tile units; sums
 * are floats, and numbers below 2^-126 count as zero. Without it weights are widened, one instruction for
 * several rows, and the other operand is not rounded.
 *
 *     without the instruction:  panels as in kern_gemm.h
 *     with it:                  word n of line k / 2 of a panel has B[k][n] in its lower half, B[k + 1][n] in
 *                               its upper half
 */
#ifndef KERN_KERN_BF16_H
#define KERN_KERN_BF16_H

#include "kern/kern_gemm.h"
#include "kern/kern_vector.h"
#ifdef __AVX512BF16__
#include "kern/kern_pairs.h"
#endif

#ifdef __AVX512BF16__
enum { BF16_LINES = 2 };
#else
enum { BF16_LINES = 1 };
#endif
enum { BF16_WORDS = PANEL * BF16_LINES / 2 }; /* of BF16_LINES lines of a panel */

INLINE size_t bf16_words(int depth) { return ((size_t)depth + BF16_LINES - 1) / BF16_LINES * BF16_WORDS; }

static size_t kern_bf16_size(int K, int N) {
    return panel_columns(N) / PANEL * bf16_words(K) * sizeof(uint32_t);
}

#ifdef __AVX512BF16__

/* The first `count` numbers of x as words of pairs; the last pair may have one number. */
INLINE IntVec bf16_pairs_along(const real *x, int count) {
    static const uint16_t UPPER[2 * LANES] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                              33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
    IntVec first = rounded_halves(load_upto(x, count)), second = {0};
    if (count > LANES) second = rounded_halves(load_upto(x + LANES, count - LANES));
    return (IntVec)_mm512_permutex2var_epi16((__m512i)first, _mm512_loadu_si512(UPPER), (__m512i)second);
}

/* Words of `columns` columns of two lines; the second line may be NULL. */
INLINE IntVec bf16_pairs_across(const real *line, const real *next, int columns) {
    IntVec low = rounded_halves(load_upto(line, columns)), high = {0};
    if (next) high = rounded_halves(load_upto(next, columns));
    return join_halves(low, high);
}

/* For a matrix whose lines are the columns of the product. */
INLINE void bf16_pack_transposed(int depth, int width, const real *b, size_t ldb, Word *out) {
    for (int k = 0, words; k < depth; k += 2 * LANES, out += LANES * BF16_WORDS) {
        words = (depth - k + 1) / 2 < LANES ? (depth - k + 1) / 2 : LANES;
        for (int j = 0; j < PANEL; j += LANES) {
            Word square[LANES * LANES];
            for (int n = 0; n < LANES; n++) {
                IntVec line = {0};
                if (j + n < width) line = bf16_pairs_along(b + (size_t)(j + n) * ldb + k, depth - k);
                memcpy(square + n * LANES, &line, sizeof line);
            }
            transpose_words(square);
            for (int w = 0; w < words; w++)
                memcpy(out + w * BF16_WORDS + j, square + w * LANES, LANES * sizeof *out);
        }
    }
}

INLINE void bf16_pack_lines(int depth, int width, const real *b, size_t ldb, Word *out) {
    for (int k = 0; k < depth; k += 2, b += 2 * ldb, out += BF16_WORDS)
        for (int j = 0; j < PANEL; j += LANES) {
            IntVec words = bf16_pairs_across(b + j, k + 1 < depth ? b + ldb + j : NULL, width - j);
            memcpy(out + j, &words, sizeof words);
        }
}

INLINE void bf16_pack_panel(int depth, int width, bool transposed, const real *b, size_t ldb, uint32_t *out) {
    if (transposed)
        bf16_pack_transposed(depth, width, b, ldb, out);
    else
        bf16_pack_lines(depth, width, b, ldb, out);
}

#else

/* A number as 16 bits; 0 beyond the edge. */
INLINE uint32_t bf16_at(bool there, const real *x) {
    uint32_t bits = 0;
    if (there) memcpy(&bits, x, sizeof bits);
    return (bits + 0x8000) >> 16;
}

INLINE void bf16_pack_panel(int depth, int width, bool transposed, const real *b, size_t ldb, uint32_t *out) {
    size_t line = transposed ? 1 : ldb, column = transposed ? ldb : 1;
    for (int k = 0; k < depth; k++, b += line)
        for (int w = 0; w < BF16_WORDS; w++) {
            int low = w / LANES * 2 * LANES + w % LANES, high = low + LANES;
            *out++ = bf16_at(low < width, b + (size_t)low * column) |
                     bf16_at(high < width, b + (size_t)high * column) << 16;
        }
}
#endif

static void kern_bf16_pack(int K, int N, const real *B, bool transposed, int first, int end, void *packed) {
    size_t ldb = transposed ? (size_t)K : (size_t)N;
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        size_t before = (size_t)k0 / BF16_LINES * BF16_WORDS * (panel_columns(N) / PANEL);
        int depth = K - k0 < DEPTH ? K - k0 : DEPTH;
        uint32_t *out = (uint32_t *)packed + before + (size_t)(first / PANEL) * bf16_words(depth);
        for (int n0 = first; n0 < end; n0 += PANEL, out += bf16_words(depth)) {
            const real *b = transposed ? B + (size_t)(n0 - first) * ldb + k0 : B + (size_t)k0 * ldb + n0;
            bf16_pack_panel(depth, N - n0 < PANEL ? N - n0 : PANEL, transposed, b, ldb, out);
        }
    }
}

#ifdef __AVX512BF16__

enum {
    BF16_ROWS = 256, /* rows of the other operand that are rounded at a time */
    BF16_SCRATCH = BF16_ROWS * DEPTH / 2 * (int)sizeof(Word)
};

/* Numbers k0 .. k0 + depth - 1 of rows as pairs, DEPTH / 2 words for each. */
INLINE void bf16_rows(int rows, const GemmRow *at, int k0, int depth, Word *out) {
    for (int r = 0; r < rows; r++, out += DEPTH / 2)
        for (int k = 0; k < depth; k += 2 * LANES) {
            const real *a = at[r].a + k0 + k;
            Vec low = load_upto(a, depth - k), high = load_upto(a + LANES, depth - k - LANES);
            __m512bh pairs = _mm512_cvtne2ps_pbh((__m512)high, (__m512)low);
            memcpy(out + k / 2, &pairs, sizeof pairs);
        }
}

/* sum[r] += words a[r] of rows times a line of a panel. */
INLINE void bf16_add_products(int rows, const Word *a, size_t row, const Word *line,
                              Vec sum[BLOCK_ROWS][PANEL_VECTORS]) {
    __m512i b[PANEL_VECTORS];
    for (int j = 0; j < PANEL_VECTORS; j++) b[j] = _mm512_loadu_si512(line + j * LANES);
    for (int r = 0; r < rows; r++) {
        __m512i pair = _mm512_set1_epi32((int)a[(size_t)r * row]);
        for (int j = 0; j < PANEL_VECTORS; j++)
            sum[r][j] = (Vec)_mm512_dpbf16_ps((__m512)sum[r][j], (__m512bh)pair, (__m512bh)b[j]);
    }
}

INLINE void bf16_block(int rows, int first, bool ahead, int words, const Word *A, const Word *B,
                       const GemmRow *at, int n, int width, bool accumulate) {
    Vec sum[BLOCK_ROWS][PANEL_VECTORS];
    A += (size_t)first * (DEPTH / 2), at += first;
    for (int r = 0; r < rows; r++) {
        for (int j = 0; j < PANEL_VECTORS; j++) sum[r][j] = (Vec){0};
        fetch_for_sums(at[r].c + n);
    }
    UNROLLED
    for (int k = 0; k < words; k++, B += BF16_WORDS) {
        if (ahead) fetch(B + words * BF16_WORDS, BF16_WORDS * sizeof *B);
        bf16_add_products(rows, A + k, DEPTH / 2, B, sum);
    }
    for (int r = 0; r < rows; r++) store_row(sum[r], at[r].c + n, width, accumulate);
}

/* At most BF16_ROWS rows. */
static void bf16_multiply(int M, int N, int K, const GemmRow *at, const Word *panel, bool accumulate,
                          Word *scratch) {
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        int depth = K - k0 < DEPTH ? K - k0 : DEPTH, words = (depth + 1) / 2;
        bf16_rows(M, at, k0, depth, scratch);
        for (int n = 0; n < N; n += PANEL, panel += words * BF16_WORDS)
            FOR_ROWS_AHEAD(M, bf16_block, words, scratch, panel, at, n, N - n, accumulate || k0)
    }
}

static void kern_bf16_multiply_rows(int M, int N, int K, const GemmRow *rows, const void *packed,
                                    bool accumulate, void *scratch) {
    for (int m = 0; m < M; m += BF16_ROWS)
        bf16_multiply(M - m < BF16_ROWS ? M - m : BF16_ROWS, N, K, rows + m, packed, accumulate, scratch);
}

static void kern_bf16_multiply(int M, int N, int K, const real *A, int lda, const void *packed, real *C,
                               int ldc, bool accumulate, void *scratch) {
    GemmRow at[BF16_ROWS];
    for (int m = 0, rows; m < M; m += rows) {
        rows = M - m < BF16_ROWS ? M - m : BF16_ROWS;
        for (int r = 0; r < rows; r++, A += lda, C += ldc) at[r] = (GemmRow){A, C};
        bf16_multiply(rows, N, K, at, packed, accumulate, scratch);
    }
}

/* ---- weight gradients ---- */

enum { BF16_OUTER_WORDS = OUTER_DEPTH, BF16_OUTER_DEPTH = 2 * BF16_OUTER_WORDS }; /* in OUTER_SCRATCH */

/* While pair w is gathered, rows further on come nearer. */
INLINE void bf16_fetch_ahead(int w, int depth, int columns, const real *const *rows, size_t first) {
    enum { AHEAD = 16 };
    for (int r = 2 * w + AHEAD; r < 2 * w + AHEAD + 2 && r < depth; r++)
        fetch(rows[r] + first, (size_t)columns * sizeof **rows);
}

/* As gather_panels and gather_rows of kern_gemm.h, with a word for two rows. */
INLINE void bf16_gather_panels(int depth, int columns, const real *const *B, size_t n0, Word *panels) {
    int words = (depth + 1) / 2;
    for (int w = 0; w < words; w++) {
        const real *line = B[2 * w] + n0, *next = 2 * w + 1 < depth ? B[2 * w + 1] + n0 : NULL;
        bf16_fetch_ahead(w, depth, columns, B, n0);
        for (int n = 0; n < columns; n += LANES) {
            IntVec pairs = bf16_pairs_across(line + n, next ? next + n : NULL, columns - n);
            memcpy(panels + n / PANEL * PANEL * words + w * PANEL + n % PANEL, &pairs, sizeof pairs);
        }
    }
}

INLINE void bf16_gather_block(int rows, int first, int w, int words, const Word *line, Word *blocks) {
    memcpy(blocks + first * words + w * rows, line + first, (size_t)rows * sizeof *line);
}

INLINE void bf16_gather_rows(int depth, int M, const real *const *A, size_t a0, Word *blocks) {
    int words = (depth + 1) / 2;
    for (int w = 0; w < words; w++) {
        Word pairs[OUTER_ROWS + LANES];
        const real *line = A[2 * w] + a0, *next = 2 * w + 1 < depth ? A[2 * w + 1] + a0 : NULL;
        bf16_fetch_ahead(w, depth, M, A, a0);
        for (int m = 0; m < M; m += LANES) {
            IntVec some = bf16_pairs_across(line + m, next ? next + m : NULL, M - m);
            memcpy(pairs + m, &some, sizeof some);
        }
        FOR_ROWS(M, bf16_gather_block, w, words, pairs, blocks)
    }
}

INLINE void bf16_outer_block(int rows, int first, int words, const Word *blocks, const Word *panel, real *C,
                             size_t ldc, int width) {
    Vec sum[BLOCK_ROWS][PANEL_VECTORS];
    blocks += first * words, C += (size_t)first * ldc;
    for (int m = 0; m < rows; m++)
        for (int j = 0; j < PANEL_VECTORS; j++) sum[m][j] = (Vec){0};
    for (int m = 0; m < rows; m++) fetch_for_sums(C + (size_t)m * ldc);
    UNROLLED
    for (int w = 0; w < words; w++, blocks += rows, panel += PANEL)
        bf16_add_products(rows, blocks, 1, panel, sum);
    for (int m = 0; m < rows; m++) store_row(sum[m], C + (size_t)m * ldc, width, true);
}

static void kern_bf16_outer(int M, int N, int R, const real *const *A, size_t a0, const real *const *B,
                            size_t b0, real *C, int ldc, void *scratch) {
    Word *panels = scratch, *blocks = panels + BF16_OUTER_WORDS * OUTER_COLUMNS;
    for (int r0 = 0; r0 < R; r0 += BF16_OUTER_DEPTH) {
        int depth = R - r0 < BF16_OUTER_DEPTH ? R - r0 : BF16_OUTER_DEPTH, words = (depth + 1) / 2;
        for (int n0 = 0; n0 < N; n0 += OUTER_COLUMNS) {
            int columns = N - n0 < OUTER_COLUMNS ? N - n0 : OUTER_COLUMNS;
            bf16_gather_panels(depth, columns, B + r0, b0 + (size_t)n0, panels);
            for (int m0 = 0, rows; m0 < M; m0 += rows) {
                rows = M - m0 < OUTER_ROWS ? M - m0 : OUTER_ROWS;
                bf16_gather_rows(depth, rows, A + r0, a0 + (size_t)m0, blocks);
                for (int n = 0; n < columns; n += PANEL)
                    FOR_ROWS(rows, bf16_outer_block, words, blocks, panels + n * words,
                             C + (size_t)m0 * (size_t)ldc + n0 + n, (size_t)ldc, columns - n)
            }
        }
    }
}

#else

enum { BF16_SCRATCH = 0 };

static void kern_bf16_multiply(int M, int N, int K, const real *A, int lda, const void *packed, real *C,
                               int ldc, bool accumulate, void *scratch) {
    (void)scratch;
    gemm_panels(true, M, N, K, A, (size_t)lda, packed, C, ldc, accumulate);
}
#endif

#endif
