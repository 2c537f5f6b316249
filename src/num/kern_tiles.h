/* kern_tiles.h - products on the tile units of a processor (Intel AMX). For kern_impl.c alone, where the
 * flags allow it.
 *
 * A tile is 16 lines of 64 bytes. One instruction multiplies a tile of 16 rows and 32 numbers by one of 32
 * numbers and 16 columns, 16 times what a vector unit does in that time, but only in bfloat16, which has 8 of
 * float's 24 significant bits. So a float is cut into three bfloat16 parts, x = x0 + x1 + x2 exactly, and of
 * the nine products of parts those six are summed that single precision can see:
 *
 *     x y = x0 y0 + (x0 y1 + x1 y0) + (x0 y2 + x1 y1 + x2 y0) + what is below 2^-24 of |x y|
 *
 * That leaves the accuracy of float arithmetic at more than twice its speed (Henry, Tang and Heinecke 2019,
 * "Leveraging the bfloat16 artificial intelligence datatype for higher-precision computations"). Sums run
 * over k in the same order for every row.
 *
 * Layout  32 bits of a tile hold numbers k and k + 16 of a block of 32: both operands use that order, so
 *         their sum is the same and no number has to change its lane
 */
#ifndef NUM_KERN_TILES_H
#define NUM_KERN_TILES_H

#include <immintrin.h>
#include "num/kern_pairs.h"
#include "num/kern_vector.h"

enum {
    TILE = 16,                /* rows of a tile, and its columns of 32 bits */
    TILE_DEPTH = 32,          /* numbers of k in a tile */
    PARTS = 3,                /* of a float */
    TILE_WORDS = TILE * TILE, /* 32-bit words of a tile */
    STRIPE = 2 * TILE,        /* rows or columns that one inner loop handles: 2 x 2 tiles of sums */
    CHUNK_DEPTH = 512,        /* k is cut into such lengths */
    /* words of the left matrix that are split at a time: 384 KB, for the second-level cache */
    CHUNK_WORDS = 384 * 1024 / 4
};

/* ---- which registers are what ---- */

typedef struct {
    uint8_t palette, start, reserved[14];
    uint16_t line_bytes[16];
    uint8_t lines[16];
} TileConfig;

INLINE void tiles_begin(void) {
    TileConfig config = {.palette = 1};
    for (int i = 0; i < 8; i++) config.line_bytes[i] = 64, config.lines[i] = TILE;
    _tile_loadconfig(&config);
}
INLINE void tiles_end(void) { _tile_release(); }

/* ---- cutting floats into parts ---- */

/* The upper half of each word is the bfloat16 nearest to x; *x keeps the rest. */
INLINE IntVec cut(Vec *x) {
    IntVec part = rounded_halves(*x) & (int32_t)0xFFFF0000;
    *x -= (Vec)part;
    return part;
}

/* Words of (low, high) for each part; `step` words lie between parts. What two parts leave of a float has no
 * more than 8 bits; it is not rounded, so that a NaN stays one. */
INLINE void split(Vec low, Vec high, int parts, Word *out, size_t step) {
    for (int part = 0; part < parts; part++, out += step) {
        IntVec l = part < PARTS - 1 ? cut(&low) : (IntVec)low,
               h = part < PARTS - 1 ? cut(&high) : (IntVec)high;
        IntVec word = join_halves(l, h);
        memcpy(out, &word, sizeof word);
    }
}

/* Rows [rows <= 16, depth] as tiles, a line for each row: the next block of 32 numbers is `block` words
 * further, the next part `part` words. Lines beyond `rows` are zero. */
INLINE void split_rows(int rows, int depth, const real *A, size_t lda, int parts, Word *out, size_t block,
                       size_t part) {
    for (int k = 0; k < depth; k += TILE_DEPTH, out += block)
        for (int r = 0; r < TILE; r++) {
            const real *a = A + (size_t)r * lda + k;
            Vec low = {0}, high = {0};
            if (r < rows) low = load_upto(a, depth - k), high = load_upto(a + TILE, depth - k - TILE);
            split(low, high, parts, out + r * TILE, part);
        }
}

/* Lines of a matrix from number `column` on: they lie `stride` numbers apart or, where `at` is not NULL,
 * anywhere. */
typedef struct {
    const real *first;
    size_t stride;
    const real *const *at;
    size_t column;
} Lines;
INLINE const real *line_of(Lines m, int i) {
    return (m.at ? m.at[i] : m.first + (size_t)i * m.stride) + m.column;
}

/* Columns [depth, columns <= 16] as tiles, a column for each column. */
INLINE void split_columns(int depth, int columns, Lines lines, int parts, Word *out, size_t block,
                          size_t part) {
    for (int k = 0; k < depth; k += TILE_DEPTH, out += block)
        for (int r = 0; r < TILE; r++) {
            Vec low = {0}, high = {0};
            if (k + r < depth) low = load_upto(line_of(lines, k + r), columns);
            if (k + r + TILE < depth) high = load_upto(line_of(lines, k + r + TILE), columns);
            split(low, high, parts, out + r * TILE, part);
        }
}

/* ---- 2 x 2 tiles of sums ---- */

/* Where a tile of C is: in C itself or, at an edge, in a copy. */
typedef struct {
    real *at;
    size_t stride; /* bytes */
} Sums;

INLINE Sums sums_open(real *C, size_t ldc, int rows, int columns, bool accumulate, real *edge) {
    if (rows >= TILE && columns >= TILE) return (Sums){C, ldc * sizeof(real)};
    for (int r = 0; accumulate && r < rows && r < TILE; r++)
        store(edge + r * TILE, load_upto(C + (size_t)r * ldc, columns));
    return (Sums){edge, TILE * sizeof(real)};
}
INLINE void sums_close(Sums sums, real *C, size_t ldc, int rows, int columns) {
    if (sums.at == C || columns <= 0) return;
    for (int r = 0; r < rows && r < TILE; r++)
        if (columns >= TILE)
            store(C + (size_t)r * ldc, load(sums.at + r * TILE));
        else
            store_some(C + (size_t)r * ldc, load(sums.at + r * TILE), (size_t)columns);
}

/* Registers: sums 0-3, A 4 and 5, B 6 and 7. With no more than 16 rows the second half of each is not
 * used. */
#define LOAD_A(at)                                                                                           \
    do {                                                                                                     \
        _tile_loadd(4, a0 + (at), 64);                                                                       \
        if (both) _tile_loadd(5, a1 + (at), 64);                                                             \
    } while (0)
/* A sixth of what the next blocks are: fetching them from farther caches takes as long as several
 * products. */
#define FETCH(sixth)                                                                                         \
    for (int line = (sixth)*TILE / 2; line < ((sixth) + 1) * TILE / 2; line++) {                             \
        _mm_prefetch((const char *)(a0 + parts * A + line * TILE), _MM_HINT_T0);                             \
        if (both) _mm_prefetch((const char *)(a1 + parts * A + line * TILE), _MM_HINT_T0);                   \
        _mm_prefetch((const char *)(b + parts * B + line * 2 * TILE), _MM_HINT_T0);                          \
        _mm_prefetch((const char *)(b + parts * B + line * 2 * TILE + TILE), _MM_HINT_T0);                   \
    }
#define LOAD_B(at)                                                                                           \
    do {                                                                                                     \
        _tile_loadd(6, b + (at), 64);                                                                        \
        _tile_loadd(7, b + (at) + TILE_WORDS, 64);                                                           \
    } while (0)
#define MULTIPLY(instruction)                                                                                \
    do {                                                                                                     \
        instruction(0, 4, 6);                                                                                \
        instruction(1, 4, 7);                                                                                \
        if (both) {                                                                                          \
            instruction(2, 5, 6);                                                                            \
            instruction(3, 5, 7);                                                                            \
        }                                                                                                    \
    } while (0)

/* C [rows <= 32, columns <= 32] (+)= A B. `a0` and `a1` are the tiles of rows 0-15 and 16-31 [block][part],
 * `b` those of the columns [block][part][2]; both: there are more than 16 rows. */
INLINE void multiply_stripes(int blocks, const Word *a0, const Word *a1, const Word *b, int parts, bool both,
                             real *C, size_t ldc, int rows, int columns, bool accumulate) {
    enum { A = TILE_WORDS, B = 2 * TILE_WORDS }; /* words of one part */
    real edge[4][TILE_WORDS] __attribute__((aligned(64)));
    int tiles = both ? 4 : 2;
    Sums sums[4];
    for (int i = 0; i < tiles; i++)
        sums[i] = sums_open(C + (size_t)(i / 2 * TILE) * ldc + i % 2 * TILE, ldc, rows - i / 2 * TILE,
                            columns - i % 2 * TILE, accumulate, edge[i]);
    if (accumulate) {
        _tile_loadd(0, sums[0].at, sums[0].stride);
        _tile_loadd(1, sums[1].at, sums[1].stride);
        if (both) {
            _tile_loadd(2, sums[2].at, sums[2].stride);
            _tile_loadd(3, sums[3].at, sums[3].stride);
        }
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (int k = 0; k < blocks; k++, a0 += parts * A, a1 += parts * A, b += parts * B) {
        /* x0 y2 + x0 y1 + x0 y0 + x2 y0 + x1 y0 + x1 y1: few loads, and one order for all */
        LOAD_A(0);
        if (parts == PARTS) {
            LOAD_B(2 * B);
            MULTIPLY(_tile_dpbf16ps);
            FETCH(0);
            LOAD_B(B);
            MULTIPLY(_tile_dpbf16ps);
            FETCH(1);
        }
        LOAD_B(0);
        MULTIPLY(_tile_dpbf16ps);
        if (parts == PARTS) {
            FETCH(2);
            LOAD_A(2 * A);
            MULTIPLY(_tile_dpbf16ps);
            FETCH(3);
            LOAD_A(A);
            MULTIPLY(_tile_dpbf16ps);
            FETCH(4);
            LOAD_B(B);
            MULTIPLY(_tile_dpbf16ps);
            FETCH(5);
        }
    }
    _tile_stored(0, sums[0].at, sums[0].stride);
    _tile_stored(1, sums[1].at, sums[1].stride);
    if (both) {
        _tile_stored(2, sums[2].at, sums[2].stride);
        _tile_stored(3, sums[3].at, sums[3].stride);
    }
    for (int i = 0; i < tiles; i++)
        sums_close(sums[i], C + (size_t)(i / 2 * TILE) * ldc + i % 2 * TILE, ldc, rows - i / 2 * TILE,
                   columns - i % 2 * TILE);
}

/* One stripe of columns for all `rows` of A, whose tiles are [tile of rows][block][part]. */
INLINE void multiply_rows(int rows, int blocks, const Word *a, const Word *b, int parts, real *C, size_t ldc,
                          int columns, bool accumulate) {
    size_t tile = (size_t)blocks * (size_t)parts * TILE_WORDS;
    for (; rows > 0; rows -= STRIPE, a += 2 * tile, C += STRIPE * ldc)
        if (rows > TILE)
            multiply_stripes(blocks, a, a + tile, b, parts, true, C, ldc, rows, columns, accumulate);
        else
            multiply_stripes(blocks, a, a, b, parts, false, C, ldc, rows, columns, accumulate);
}

/* ---- packed weights ---- */

INLINE int smaller(int a, int b) { return a < b ? a : b; }
INLINE size_t blocks_of(int depth) { return ((size_t)depth + TILE_DEPTH - 1) / TILE_DEPTH; }
/* Words of one stripe of 32 columns. */
INLINE size_t stripe_words(int depth, int parts) { return blocks_of(depth) * (size_t)parts * 2 * TILE_WORDS; }
INLINE size_t tiles_size(int K, int N, int parts) {
    return ((size_t)N + STRIPE - 1) / STRIPE * stripe_words(K, parts) * sizeof(Word);
}

/* Lines k0 .. k0 + depth and columns n0 .. n0 + 31 of B as tiles [block][part][2]. */
INLINE void pack_stripe(int K, int N, const real *B, bool transposed, int k0, int depth, int n0, int parts,
                        Word *out) {
    size_t part = 2 * TILE_WORDS, block = (size_t)parts * part, tiles = blocks_of(depth) * (size_t)parts;
    for (int n = n0; n < n0 + STRIPE; n += TILE, out += TILE_WORDS) {
        int columns = n < N ? smaller(N - n, TILE) : 0;
        if (!transposed) {
            Lines lines = {.first = B + (size_t)k0 * (size_t)N, .stride = (size_t)N, .column = (size_t)n};
            split_columns(depth, columns, lines, parts, out, block, part);
        } else {
            split_rows(columns, depth, B + (size_t)n * (size_t)K + k0, (size_t)K, parts, out, block, part);
            for (size_t i = 0; i < tiles; i++) transpose_words(out + i * part);
        }
    }
}

INLINE void tiles_pack(int K, int N, const real *B, bool transposed, int first, int end, int parts,
                       Word *packed) {
    for (int k0 = 0; k0 < K; k0 += CHUNK_DEPTH) {
        int depth = smaller(K - k0, CHUNK_DEPTH);
        Word *out = packed + tiles_size(k0, N, parts) / sizeof(Word) +
                    (size_t)(first / STRIPE) * stripe_words(depth, parts);
        for (int n0 = first; n0 < end; n0 += STRIPE, out += stripe_words(depth, parts))
            pack_stripe(K, N, B, transposed, k0, depth, n0, parts, out);
    }
}

/* C (+)= A B */
INLINE void tiles_multiply(int M, int N, int K, const real *A, size_t lda, const Word *packed, int parts,
                           real *C, size_t ldc, bool accumulate, Word *left) {
    tiles_begin();
    for (int k0 = 0; k0 < K; k0 += CHUNK_DEPTH) {
        int depth = smaller(K - k0, CHUNK_DEPTH), blocks = (int)blocks_of(depth);
        size_t tile = (size_t)(blocks * parts) * TILE_WORDS, stripe = stripe_words(depth, parts);
        int most = (int)(CHUNK_WORDS / tile / 2) * STRIPE;
        for (int m0 = 0; m0 < M; m0 += most) {
            int rows = smaller(M - m0, most);
            for (int m = 0; m < rows; m += TILE)
                split_rows(smaller(rows - m, TILE), depth, A + (size_t)(m0 + m) * lda + k0, lda, parts,
                           left + (size_t)(m / TILE) * tile, (size_t)parts * TILE_WORDS, TILE_WORDS);
            const Word *b = packed;
            for (int n = 0; n < N; n += STRIPE, b += stripe)
                multiply_rows(rows, blocks, left, b, parts, C + (size_t)m0 * ldc + n, ldc, N - n,
                              accumulate || k0);
        }
        packed += ((size_t)N + STRIPE - 1) / STRIPE * stripe;
    }
    tiles_end();
}

static size_t kern_bf16x3_size(int K, int N) { return tiles_size(K, N, PARTS); }
static void kern_bf16x3_pack(int K, int N, const real *B, bool transposed, int first, int end, void *out) {
    tiles_pack(K, N, B, transposed, first, end, PARTS, out);
}
static void kern_bf16x3_multiply(int M, int N, int K, const real *A, int lda, const void *packed, real *C,
                                 int ldc, bool accumulate, void *scratch) {
    tiles_multiply(M, N, K, A, (size_t)lda, packed, PARTS, C, (size_t)ldc, accumulate, scratch);
}

static size_t kern_bf16_size(int K, int N) { return tiles_size(K, N, 1); }
static void kern_bf16_pack(int K, int N, const real *B, bool transposed, int first, int end, void *out) {
    tiles_pack(K, N, B, transposed, first, end, 1, out);
}
static void kern_bf16_multiply(int M, int N, int K, const real *A, int lda, const void *packed, real *C,
                               int ldc, bool accumulate, void *scratch) {
    tiles_multiply(M, N, K, A, (size_t)lda, packed, 1, C, (size_t)ldc, accumulate, scratch);
}

/* ---- weight gradients ---- */

enum {
    OUTER_WIDTH = 768, /* columns of B at a time: their tiles, 1.2 MB, stay in the second-level cache */
    OUTER_LEFT = OUTER_DEPTH / TILE_DEPTH * PARTS * 2 * TILE_WORDS,
    OUTER_WORDS = OUTER_LEFT + OUTER_DEPTH / TILE_DEPTH * PARTS * OUTER_WIDTH * TILE
};

/* Columns n .. n + 15 of lines r .. r + depth - 1, of which a line begins at number `first`. */
INLINE void split_gathered(const real *const *at, int r, int depth, size_t first, int n, int N, int parts,
                           Word *out, size_t block, size_t part) {
    Lines lines = {.at = at + r, .column = first + (size_t)n};
    split_columns(depth, n < N ? smaller(N - n, TILE) : 0, lines, parts, out, block, part);
}

INLINE void tiles_outer(int M, int N, int R, const real *const *A, size_t a0, const real *const *B, size_t b0,
                        int parts, real *C, int ldc, Word *left) {
    Word *right = left + OUTER_LEFT;
    tiles_begin();
    for (int r0 = 0; r0 < R; r0 += OUTER_DEPTH) {
        int depth = smaller(R - r0, OUTER_DEPTH), blocks = (int)blocks_of(depth);
        size_t stripe = stripe_words(depth, parts), tile = stripe / 2;
        for (int n0 = 0; n0 < N; n0 += OUTER_WIDTH) {
            int columns = smaller(N - n0, OUTER_WIDTH);
            for (int n = 0; n < columns; n += STRIPE)
                for (int half = 0; half < 2; half++)
                    split_gathered(B, r0, depth, b0, n0 + n + half * TILE, N, parts,
                                   right + (size_t)(n / STRIPE) * stripe + half * TILE_WORDS,
                                   (size_t)parts * 2 * TILE_WORDS, 2 * TILE_WORDS);
            for (int m0 = 0; m0 < M; m0 += STRIPE) {
                for (int half = 0; half < 2; half++) {
                    Word *tiles = left + (size_t)half * tile;
                    split_gathered(A, r0, depth, a0, m0 + half * TILE, M, parts, tiles,
                                   (size_t)parts * TILE_WORDS, TILE_WORDS);
                    for (int i = 0; i < blocks * parts; i++) transpose_words(tiles + i * TILE_WORDS);
                }
                for (int n = 0; n < columns; n += STRIPE)
                    multiply_rows(smaller(M - m0, STRIPE), blocks, left,
                                  right + (size_t)(n / STRIPE) * stripe, parts,
                                  C + (size_t)m0 * (size_t)ldc + n0 + n, (size_t)ldc, columns - n, true);
            }
        }
    }
    tiles_end();
}

static void kern_bf16x3_outer(int M, int N, int R, const real *const *A, size_t a0, const real *const *B,
                              size_t b0, real *C, int ldc, void *scratch) {
    tiles_outer(M, N, R, A, a0, B, b0, PARTS, C, ldc, scratch);
}
static void kern_bf16_outer(int M, int N, int R, const real *const *A, size_t a0, const real *const *B,
                            size_t b0, real *C, int ldc, void *scratch) {
    tiles_outer(M, N, R, A, a0, B, b0, 1, C, ldc, scratch);
}

/* Weight gradients want more than products with packed weights. */
enum { TILES_SCRATCH = OUTER_WORDS * (int)sizeof(Word) };
_Static_assert((int)CHUNK_WORDS <= (int)OUTER_WORDS, "one working memory serves both");

#endif
