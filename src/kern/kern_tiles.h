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
 *     packed B [K, N]:  chunk  chunk  ...          CHUNK_DEPTH lines of B, or the rest
 *     chunk:            stripe 0  stripe 1  ...    STRIPE columns
 *     stripe:           block 0  block 1  ...      TILE_DEPTH lines of B, from k0 on
 *     block:            part 0 (part 1  part 2)    a bfloat16 of each number; bf16 has one part only
 *     part:             tile 0  tile 1             16 columns each, from n0 on
 *     line l of a tile: B[k0 + l][n0] B[k0 + l + 16][n0]  B[k0 + l][n0 + 1] B[k0 + l + 16][n0 + 1]  ...
 *
 * A word of 32 bits has numbers k and k + 16 of a block. Both operands use this order, so the sum is the
 * same, and no number has to change its lane.
 */
#ifndef KERN_KERN_TILES_H
#define KERN_KERN_TILES_H

#include <immintrin.h>
#include "kern/kern_pairs.h"
#include "kern/kern_vector.h"

enum {
    TILE = 16,                /* rows of a tile, and its columns of 32 bits */
    TILE_DEPTH = 32,          /* numbers of k in a tile */
    PARTS = 3,                /* of a float */
    TILE_WORDS = TILE * TILE, /* 32-bit words of a tile */
    STRIPE = 2 * TILE,        /* rows or columns of one inner loop: 2 x 2 tiles of sums */
    STEP = 2 * TILE_WORDS,    /* words of one part of a block */
    CHUNK_DEPTH = 512,        /* lines of B in a chunk */
    ROWS = 256,               /* rows of the left matrix that are split at a time */
    /* words of the right matrix that these rows are multiplied with before the next rows: 384 KB, for the
     * second-level cache */
    CHUNK_WORDS = 384 * 1024 / 4
};

/* ---- the configuration of the tile registers ---- */

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

/* ---- floats as sums of bfloat16 parts ---- */

/* Returns the bfloat16 nearest to x in the upper half of each word; *x becomes the rest. */
INLINE IntVec cut(Vec *x) {
    IntVec part = rounded_halves(*x) & (int32_t)0xFFFF0000;
    *x -= (Vec)part;
    return part;
}

/* Writes words of (low, high) for each part; the tiles of two parts are STEP words apart. The rest of a float
 * after two parts has at most 8 bits. It is not rounded, so that a NaN stays a NaN. */
INLINE void split(Vec low, Vec high, int parts, Word *out) {
    for (int part = 0; part < parts; part++, out += STEP) {
        IntVec l = part < PARTS - 1 ? cut(&low) : (IntVec)low,
               h = part < PARTS - 1 ? cut(&high) : (IntVec)high;
        IntVec word = join_halves(l, h);
        memcpy(out, &word, sizeof word);
    }
}

/* ---- operands as tiles ---- */

/* Rows of A are tiles in the same order as columns of B: [stripe][block][part][half of the stripe]. A tile of
 * A has a line for each row, a tile of B a line for each two numbers k. */
INLINE int smaller(int a, int b) { return a < b ? a : b; }
INLINE size_t blocks_of(int depth) { return ((size_t)depth + TILE_DEPTH - 1) / TILE_DEPTH; }
INLINE size_t stripe_words(int depth, int parts) { return blocks_of(depth) * (size_t)parts * STEP; }

/* Lines of a matrix, from number `column` on. They are `stride` numbers apart, unless `at` or `rows` has the
 * address of each. */
typedef struct {
    const real *first;
    size_t stride;
    const real *const *at;
    const GemmRow *rows;
    size_t column;
} Lines;
INLINE const real *line_of(Lines m, int i) {
    return (m.rows ? m.rows[i].a : m.at ? m.at[i] : m.first + (size_t)i * m.stride) + m.column;
}

/* Numbers k .. k + 31 of lines i .. i + 15, a line of the tile for each. */
INLINE void split_along(Lines lines, int i, int count, int k, int depth, int parts, Word *out) {
    for (int r = 0; r < TILE; r++) {
        Vec low = {0}, high = {0};
        if (i + r < count) {
            const real *a = line_of(lines, i + r) + k;
            low = load_upto(a, depth - k), high = load_upto(a + TILE, depth - k - TILE);
        }
        split(low, high, parts, out + r * TILE);
    }
}

/* Numbers i .. i + 15 of lines k .. k + 31, a line of the tile for each two. */
INLINE void split_across(Lines lines, int i, int count, int k, int depth, int parts, Word *out) {
    for (int r = 0; r < TILE; r++) {
        Vec low = {0}, high = {0};
        if (k + r < depth) low = load_upto(line_of(lines, k + r) + i, count - i);
        if (k + r + TILE < depth) high = load_upto(line_of(lines, k + r + TILE) + i, count - i);
        split(low, high, parts, out + r * TILE);
    }
}

/* Splits `count` rows of A or columns of B. Each is a line of the matrix, if `along`, or a column. If the
 * last stripe has no second half, that half is zero for columns; for rows it is not read. */
INLINE void split_operand(bool rows, bool along, Lines lines, int count, int depth, int parts, Word *out) {
    size_t stripe = stripe_words(depth, parts), block = (size_t)parts * STEP;
    int halves = (count + TILE - 1) / TILE + (rows ? 0 : (count + TILE - 1) / TILE % 2);
    int blocks = (int)blocks_of(depth), inner = along ? blocks : halves, all = halves * blocks;
    for (int step = 0; step < all; step++) { /* as the matrix lies in memory */
        int half = along ? step / inner : step % inner, b = along ? step % inner : step / inner;
        int i = half * TILE, k = b * TILE_DEPTH;
        Word *tile = out + (size_t)(half / 2) * stripe + (size_t)b * block + half % 2 * TILE_WORDS;
        if (along)
            split_along(lines, i, count, k, depth, parts, tile);
        else
            split_across(lines, i, count, k, depth, parts, tile);
        for (int part = 0; along != rows && part < parts; part++) transpose_words(tile + part * STEP);
    }
}

/* ---- 2 x 2 tiles of sums ---- */

/* At most 16 rows of C: their addresses, and the bytes from one to the next, or 0 if the distances differ. */
typedef struct {
    int rows;
    size_t stride;
    real *at[TILE];
} TileRows;

INLINE TileRows tile_lines(int rows, real *C, size_t ldc) {
    TileRows c = {.rows = rows < TILE ? rows : TILE, .stride = rows < TILE ? 0 : ldc * sizeof(real)};
    for (int r = 0; r < c.rows; r++) c.at[r] = C + (size_t)r * ldc;
    return c;
}
INLINE TileRows tile_rows(int rows, const GemmRow *row) {
    TileRows c = {.rows = rows, .stride = rows == TILE ? (size_t)(row[1].c - row[0].c) * sizeof(real) : 0};
    for (int r = 0; r < rows; r++) {
        c.at[r] = row[r].c;
        if (r && (size_t)(row[r].c - row[r - 1].c) * sizeof(real) != c.stride) c.stride = 0;
    }
    return c;
}

/* A tile of C: in C itself or, at an edge or for rows at any addresses, in a copy. */
typedef struct {
    real *at;
    size_t stride; /* bytes */
} Sums;

INLINE Sums sums_open(const TileRows *c, int n, int columns, bool accumulate, real *copy) {
    if (c->stride && columns >= TILE) return (Sums){c->at[0] + n, c->stride};
    for (int r = 0; accumulate && r < c->rows; r++) store(copy + r * TILE, load_upto(c->at[r] + n, columns));
    return (Sums){copy, TILE * sizeof(real)};
}
INLINE void sums_close(Sums sums, const TileRows *c, int n, int columns, const real *copy) {
    if (sums.at != copy || columns <= 0) return;
    for (int r = 0; r < c->rows; r++)
        if (columns >= TILE)
            store(c->at[r] + n, load(copy + r * TILE));
        else
            store_some(c->at[r] + n, load(copy + r * TILE), (size_t)columns);
}

/* Registers: sums 0-3, A 4 and 5, B 6 and 7. With at most 16 rows, registers 2, 3 and 5 are not used. */
#define LOAD_A(part)                                                                                         \
    do {                                                                                                     \
        _tile_loadd(4, a + (part)*STEP, 64);                                                                 \
        if (both) _tile_loadd(5, a + (part)*STEP + TILE_WORDS, 64);                                          \
    } while (0)
#define LOAD_B(part)                                                                                         \
    do {                                                                                                     \
        _tile_loadd(6, b + (part)*STEP, 64);                                                                 \
        _tile_loadd(7, b + (part)*STEP + TILE_WORDS, 64);                                                    \
    } while (0)
/* Prefetches a sixth of the next blocks: loading them from farther caches takes as long as several
 * products. */
#define FETCH(sixth)                                                                                         \
    for (int line = (sixth)*TILE / 2; line < ((sixth) + 1) * TILE / 2; line++) {                             \
        _mm_prefetch((const char *)(a + parts * STEP + line * 2 * TILE), _MM_HINT_T0);                       \
        _mm_prefetch((const char *)(a + parts * STEP + line * 2 * TILE + TILE), _MM_HINT_T0);                \
        _mm_prefetch((const char *)(b + parts * STEP + line * 2 * TILE), _MM_HINT_T0);                       \
        _mm_prefetch((const char *)(b + parts * STEP + line * 2 * TILE + TILE), _MM_HINT_T0);                \
    }
#define MULTIPLY(instruction)                                                                                \
    do {                                                                                                     \
        instruction(0, 4, 6);                                                                                \
        instruction(1, 4, 7);                                                                                \
        if (both) {                                                                                          \
            instruction(2, 5, 6);                                                                            \
            instruction(3, 5, 7);                                                                            \
        }                                                                                                    \
    } while (0)

/* C (+)= A B of one stripe of each: rows c[0] and, if `both`, c[1], columns n .. n + 31 of the `width` of
 * C. */
INLINE void multiply_stripes(int blocks, const Word *a, const Word *b, int parts, bool both,
                             const TileRows *c, int n, int width, bool accumulate) {
    real copy[4][TILE_WORDS] __attribute__((aligned(64)));
    int tiles = both ? 4 : 2;
    Sums sums[4];
    for (int i = 0; i < tiles; i++)
        sums[i] = sums_open(&c[i / 2], n + i % 2 * TILE, width - n - i % 2 * TILE, accumulate, copy[i]);
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
    for (int k = 0; k < blocks; k++, a += parts * STEP, b += parts * STEP) {
        /* x0 y2 + x0 y1 + x0 y0 + x2 y0 + x1 y0 + x1 y1: few loads, and one order for all */
        LOAD_A(0);
        if (parts == PARTS) {
            LOAD_B(2);
            MULTIPLY(_tile_dpbf16ps);
            FETCH(0);
            LOAD_B(1);
            MULTIPLY(_tile_dpbf16ps);
            FETCH(1);
        }
        LOAD_B(0);
        MULTIPLY(_tile_dpbf16ps);
        if (parts == PARTS) {
            FETCH(2);
            LOAD_A(2);
            MULTIPLY(_tile_dpbf16ps);
            FETCH(3);
            LOAD_A(1);
            MULTIPLY(_tile_dpbf16ps);
            FETCH(4);
            LOAD_B(1);
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
        sums_close(sums[i], &c[i / 2], n + i % 2 * TILE, width - n - i % 2 * TILE, copy[i]);
}

/* At most a stripe of rows, and columns n .. end - 1 of the `width` columns of C; `b` is B's stripe of column
 * n. */
INLINE void multiply_columns(int rows, int blocks, const Word *a, const Word *b, int parts, const TileRows *c,
                             int n, int end, int width, bool accumulate) {
    for (; n < end; n += STRIPE, b += (size_t)(blocks * parts) * STEP)
        if (rows > TILE)
            multiply_stripes(blocks, a, b, parts, true, c, n, width, accumulate);
        else
            multiply_stripes(blocks, a, b, parts, false, c, n, width, accumulate);
}

/* ---- products with packed weights ---- */

INLINE size_t tiles_size(int K, int N, int parts) {
    return ((size_t)N + STRIPE - 1) / STRIPE * stripe_words(K, parts) * sizeof(Word);
}

INLINE void tiles_pack(int K, int N, const real *B, bool transposed, int first, int end, int parts,
                       Word *packed) {
    for (int k0 = 0; k0 < K; k0 += CHUNK_DEPTH) {
        int depth = smaller(K - k0, CHUNK_DEPTH);
        Word *out = packed + tiles_size(k0, N, parts) / sizeof(Word) +
                    (size_t)(first / STRIPE) * stripe_words(depth, parts);
        size_t line = (size_t)(transposed ? K : N), row = (size_t)(transposed ? 0 : k0);
        Lines lines = {.first = B + row * line, .stride = line, .column = (size_t)(transposed ? k0 : first)};
        if (transposed)
            split_operand(false, true, lines, end - first, depth, parts, out);
        else
            split_operand(false, false, lines, end - first, depth, parts, out);
    }
}

/* C (+)= A B for at most ROWS rows of A and C at any addresses. */
INLINE void tiles_multiply_some(int M, int N, int K, const GemmRow *rows, const Word *packed, int parts,
                                bool accumulate, Word *left) {
    TileRows c[ROWS / TILE];
    for (int m = 0; m < M; m += TILE) c[m / TILE] = tile_rows(smaller(M - m, TILE), rows + m);
    for (int k0 = 0; k0 < K; k0 += CHUNK_DEPTH) {
        int depth = smaller(K - k0, CHUNK_DEPTH), blocks = (int)blocks_of(depth);
        size_t stripe = stripe_words(depth, parts);
        Lines lines = {.rows = rows, .column = (size_t)k0};
        split_operand(true, true, lines, M, depth, parts, left);
        int most = (int)(CHUNK_WORDS / stripe) * STRIPE; /* columns whose tiles stay near */
        for (int n = 0; n < N; n += most)
            for (int m = 0; m < M; m += STRIPE)
                multiply_columns(M - m, blocks, left + (size_t)(m / STRIPE) * stripe,
                                 packed + (size_t)(n / STRIPE) * stripe, parts, c + m / TILE, n,
                                 smaller(N, n + most), N, accumulate || k0);
        packed += ((size_t)N + STRIPE - 1) / STRIPE * stripe;
    }
}

INLINE void tiles_multiply_rows(int M, int N, int K, const GemmRow *rows, const Word *packed, int parts,
                                bool accumulate, Word *left) {
    tiles_begin();
    for (int m = 0; m < M; m += ROWS)
        tiles_multiply_some(smaller(M - m, ROWS), N, K, rows + m, packed, parts, accumulate, left);
    tiles_end();
}

INLINE void tiles_multiply(int M, int N, int K, const real *A, size_t lda, const Word *packed, int parts,
                           real *C, size_t ldc, bool accumulate, Word *left) {
    GemmRow at[ROWS];
    tiles_begin();
    for (int m = 0, rows; m < M; m += rows) {
        rows = smaller(M - m, ROWS);
        for (int r = 0; r < rows; r++, A += lda, C += ldc) at[r] = (GemmRow){A, C};
        tiles_multiply_some(rows, N, K, at, packed, parts, accumulate, left);
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
static void kern_bf16x3_multiply_rows(int M, int N, int K, const GemmRow *rows, const void *packed,
                                      bool accumulate, void *scratch) {
    tiles_multiply_rows(M, N, K, rows, packed, PARTS, accumulate, scratch);
}

static size_t kern_bf16_size(int K, int N) { return tiles_size(K, N, 1); }
static void kern_bf16_pack(int K, int N, const real *B, bool transposed, int first, int end, void *out) {
    tiles_pack(K, N, B, transposed, first, end, 1, out);
}
static void kern_bf16_multiply(int M, int N, int K, const real *A, int lda, const void *packed, real *C,
                               int ldc, bool accumulate, void *scratch) {
    tiles_multiply(M, N, K, A, (size_t)lda, packed, 1, C, (size_t)ldc, accumulate, scratch);
}
static void kern_bf16_multiply_rows(int M, int N, int K, const GemmRow *rows, const void *packed,
                                    bool accumulate, void *scratch) {
    tiles_multiply_rows(M, N, K, rows, packed, 1, accumulate, scratch);
}

/* ---- weight gradients ---- */

enum {
    OUTER_WIDTH = 768,  /* columns of B at a time: their tiles, 1.2 MB, stay in the second-level cache */
    OUTER_HEIGHT = 128, /* columns of A */
    OUTER_LEFT = OUTER_DEPTH / 2 * PARTS * OUTER_HEIGHT,
    OUTER_WORDS = OUTER_LEFT + OUTER_DEPTH / 2 * PARTS * OUTER_WIDTH
};

INLINE void tiles_outer(int M, int N, int R, const real *const *A, size_t a0, const real *const *B, size_t b0,
                        int parts, real *C, size_t ldc, Word *left) {
    Word *right = left + OUTER_LEFT;
    int most = OUTER_DEPTH * PARTS / parts;
    tiles_begin();
    for (int r = 0; r < R; r += most) {
        int depth = smaller(R - r, most), blocks = (int)blocks_of(depth);
        size_t stripe = stripe_words(depth, parts);
        for (int n = 0; n < N; n += OUTER_WIDTH) {
            int columns = smaller(N - n, OUTER_WIDTH);
            Lines b = {.at = B + r, .column = b0 + (size_t)n};
            split_operand(false, false, b, columns, depth, parts, right);
            for (int m = 0; m < M; m += OUTER_HEIGHT) {
                int rows = smaller(M - m, OUTER_HEIGHT);
                Lines a = {.at = A + r, .column = a0 + (size_t)m};
                split_operand(true, false, a, rows, depth, parts, left);
                for (int i = 0; i < rows; i += STRIPE) {
                    real *at = C + (size_t)(m + i) * ldc;
                    TileRows c[2] = {tile_lines(rows - i, at, ldc),
                                     tile_lines(rows - i - TILE, at + TILE * ldc, ldc)};
                    multiply_columns(rows - i, blocks, left + (size_t)(i / STRIPE) * stripe, right, parts, c,
                                     n, n + columns, N, true);
                }
            }
        }
    }
    tiles_end();
}

static void kern_bf16x3_outer(int M, int N, int R, const real *const *A, size_t a0, const real *const *B,
                              size_t b0, real *C, int ldc, void *scratch) {
    tiles_outer(M, N, R, A, a0, B, b0, PARTS, C, (size_t)ldc, scratch);
}
static void kern_bf16_outer(int M, int N, int R, const real *const *A, size_t a0, const real *const *B,
                            size_t b0, real *C, int ldc, void *scratch) {
    tiles_outer(M, N, R, A, a0, B, b0, 1, C, (size_t)ldc, scratch);
}

/* Weight gradients need more scratch memory than products with packed weights. */
enum { TILES_SCRATCH = OUTER_WORDS * (int)sizeof(Word) };
_Static_assert((int)ROWS *CHUNK_DEPTH / 2 * PARTS <= (int)OUTER_WORDS, "one working memory serves both");

#endif
