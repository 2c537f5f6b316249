/* kern_bf16.h - products with weights of 16 bits on vector units. For kern_impl.c alone.
 *
 * bfloat16 is the upper half of a float: half the memory traffic. Where an instruction multiplies pairs of
 * them (AVX512_BF16), rows of the other operand are rounded to 16 bits as well, as on tile units; sums are
 * floats, and numbers below 2^-126 count as zero. Elsewhere weights are widened, which costs one instruction
 * for several rows, and the other operand stays as it is.
 *
 * Layout  as kern_gemm.h has it; but a word for an instruction that multiplies pairs is lines k (lower half)
 *         and k + 1 of one column
 */
#ifndef NUM_KERN_BF16_H
#define NUM_KERN_BF16_H

#include "num/kern_gemm.h"
#include "num/kern_vector.h"

#ifdef __AVX512BF16__
enum { BF16_LINES = 2 };
#else
enum { BF16_LINES = 1 };
#endif
enum {
    BF16_WORDS = PANEL * BF16_LINES / 2, /* of BF16_LINES lines of a panel */
    BF16_ROWS = 256,                     /* rows of the other operand that are rounded at a time */
    BF16_SCRATCH = BF16_ROWS * DEPTH / 2 * (int)sizeof(uint32_t)
};

INLINE size_t bf16_words(int depth) { return ((size_t)depth + BF16_LINES - 1) / BF16_LINES * BF16_WORDS; }

static size_t kern_bf16_size(int K, int N) {
    return panel_columns(N) / PANEL * bf16_words(K) * sizeof(uint32_t);
}

/* Number (k, n) of a matrix whose lines and columns lie so far apart; 0 beyond its edges. */
INLINE uint32_t bf16_at(const real *B, int k, int n, int K, int N, size_t line, size_t column) {
    uint32_t bits = 0;
    if (k < K && n < N) memcpy(&bits, B + (size_t)k * line + (size_t)n * column, sizeof bits);
    return (bits + 0x8000) >> 16;
}

static void kern_bf16_pack(int K, int N, const real *B, bool transposed, int first, int end, void *packed) {
    size_t line = transposed ? 1 : (size_t)N, column = transposed ? (size_t)K : 1;
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        size_t before = (size_t)k0 / BF16_LINES * BF16_WORDS * (panel_columns(N) / PANEL);
        int depth = K - k0 < DEPTH ? K - k0 : DEPTH;
        uint32_t *out = (uint32_t *)packed + before + (size_t)(first / PANEL) * bf16_words(depth);
        for (int n0 = first; n0 < end; n0 += PANEL)
            for (int k = k0; k < k0 + depth; k += BF16_LINES)
                for (int w = 0; w < BF16_WORDS; w++) {
                    int n = n0 + (BF16_LINES == 2 ? w : w / LANES * 2 * LANES + w % LANES);
                    uint32_t low = bf16_at(B, k, n, K, N, line, column);
                    uint32_t high = BF16_LINES == 2 ? bf16_at(B, k + 1, n, K, N, line, column)
                                                    : bf16_at(B, k, n + LANES, K, N, line, column);
                    *out++ = low | high << 16;
                }
    }
}

#ifdef __AVX512BF16__

/* Rows as pairs, DEPTH / 2 words for each. */
INLINE void bf16_rows(int rows, int depth, const real *A, size_t lda, uint32_t *out) {
    for (int r = 0; r < rows; r++, A += lda, out += DEPTH / 2)
        for (int k = 0; k < depth; k += 2 * LANES) {
            int left = depth - k;
            Vec low = left >= LANES ? load(A + k) : load_some(A + k, (size_t)left), high = {0};
            if (left > LANES)
                high = left >= 2 * LANES ? load(A + k + LANES)
                                         : load_some(A + k + LANES, (size_t)(left - LANES));
            __m512bh pairs = _mm512_cvtne2ps_pbh((__m512)high, (__m512)low);
            memcpy(out + k / 2, &pairs, sizeof pairs);
        }
}

INLINE void bf16_block(int rows, int first, int depth, const uint32_t *A, const uint32_t *B, real *C, int ldc,
                       int width, bool accumulate) {
    A += (size_t)first * (DEPTH / 2), C += (size_t)first * (size_t)ldc;
    Vec sum[BLOCK_ROWS][PANEL_VECTORS];
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < PANEL_VECTORS; j++) sum[r][j] = (Vec){0};
    for (int k = 0; k < (depth + 1) / 2; k++, B += BF16_WORDS) {
        __m512i b[PANEL_VECTORS];
        for (int j = 0; j < PANEL_VECTORS; j++) b[j] = _mm512_loadu_si512(B + j * LANES);
        for (int r = 0; r < rows; r++) {
            __m512i a = _mm512_set1_epi32((int)A[r * (DEPTH / 2) + k]);
            for (int j = 0; j < PANEL_VECTORS; j++)
                sum[r][j] = (Vec)_mm512_dpbf16_ps((__m512)sum[r][j], (__m512bh)a, (__m512bh)b[j]);
        }
    }
    store_block(rows, sum, C, ldc, width, accumulate);
}

static void kern_bf16_multiply(int M, int N, int K, const real *A, int lda, const void *packed, real *C,
                               int ldc, bool accumulate, void *scratch) {
    const uint32_t *chunk = packed;
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        int depth = K - k0 < DEPTH ? K - k0 : DEPTH;
        size_t panel = bf16_words(depth);
        for (int m0 = 0; m0 < M; m0 += BF16_ROWS) {
            int rows = M - m0 < BF16_ROWS ? M - m0 : BF16_ROWS;
            const uint32_t *b = chunk;
            bf16_rows(rows, depth, A + (size_t)m0 * (size_t)lda + k0, (size_t)lda, scratch);
            for (int n = 0; n < N; n += PANEL, b += panel)
                FOR_ROWS(rows, bf16_block, depth, scratch, b, C + (size_t)m0 * (size_t)ldc + n, ldc,
                         N - n < PANEL ? N - n : PANEL, accumulate || k0)
        }
        chunk += ((size_t)N + PANEL - 1) / PANEL * panel;
    }
}

#else

static void kern_bf16_multiply(int M, int N, int K, const real *A, int lda, const void *packed, real *C,
                               int ldc, bool accumulate, void *scratch) {
    (void)scratch;
    gemm_panels(true, M, N, K, A, (size_t)lda, packed, C, ldc, accumulate);
}
#endif

#endif
