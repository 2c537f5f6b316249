/* kern_int8.h - products of 8-bit integers. For kern_impl.c alone.
 *
 * Each column of the weight and each row of the other operand is scaled so that its greatest absolute value
 * is 127, then rounded. Sums of integer products are exact, so the result is the same on every processor,
 * except for the last multiplication by the two scales.
 *
 * One instruction multiplies words of 32 bits and adds up the INT8_TERMS products in each lane: four products
 * of bytes or, on vector units without such an instruction, two products of 16 bits. In the second case B is
 * still stored as bytes; they are widened when they are loaded, once for several rows. An instruction that
 * adds up products of bytes in 16 bits (vpmaddubsw) would saturate, or leave seven bits to the rows.
 *
 *     packed B [K, N]:  scales [N']  sums [N']  stripe 0  stripe 1  ...    N': N rounded up to whole stripes
 *     stripe:           block 0  block 1  ...                              INT8_STRIPE columns
 *     block:            tile 0 (tile 1)                                    INT8_BLOCK lines of B, from k0 on
 *     tile:             line 0  line 1  ...  line 15                       INT8_COLUMNS columns, from n0 on
 *     line l:           word 0  word 1  ...                                INT8_TERMS bytes per column
 *     word j:           B[k0 + l][n0 + j]  B[k0 + l + 16][n0 + j]  (B[k0 + l + 32][n0 + j]  ...)
 *
 * Rows of A are rounded to words in the same order: word l of a block is A[m][k0 + l], A[m][k0 + l + 16], ...
 * Words of A have 32 bits.
 */
#ifndef KERN_KERN_INT8_H
#define KERN_KERN_INT8_H

#include <assert.h>
#include "kern/kern.h"
#include "kern/kern_vector.h"

#ifdef TILE_UNITS
enum { INT8_TERMS = 4, INT8_BIAS = 0, INT8_TILES = 2, INT8_ROWS = 16 };
#elif defined(__AVX512VNNI__)
/* One operand of the instruction is unsigned: it gets a + 128, and int8_finish subtracts 128 times the sum of
 * the column. */
enum { INT8_TERMS = 4, INT8_BIAS = 128, INT8_TILES = 1, INT8_ROWS = 1 };
#else
enum { INT8_TERMS = 2, INT8_BIAS = 0, INT8_TILES = 1, INT8_ROWS = 1 };
#endif

enum {
    INT8_LINES = 16,                                  /* of a tile */
    INT8_BLOCK = INT8_LINES * INT8_TERMS,             /* lines of B in a block */
    INT8_STRIPE = 2 * LANES,                          /* columns of a stripe */
    INT8_COLUMNS = INT8_STRIPE / INT8_TILES,          /* of a tile */
    INT8_TILE = INT8_BLOCK * INT8_COLUMNS,            /* bytes of a tile of B */
    INT8_GROUP = INT8_ROWS * INT8_LINES,              /* words of a block of INT8_ROWS rows of A */
    INT8_WORDS = 16 * (KERN_INT8_MAX_K / INT8_TERMS), /* of rounded rows: 16 of the longest */
    INT8_SCRATCH = INT8_WORDS * (int)sizeof(int32_t)
};

INLINE size_t int8_blocks(int K) { return ((size_t)K + INT8_BLOCK - 1) / INT8_BLOCK; }
INLINE size_t int8_columns(int N) { return ((size_t)N + INT8_STRIPE - 1) / INT8_STRIPE * INT8_STRIPE; }

static size_t kern_int8_size(int K, int N) {
    return int8_columns(N) * (sizeof(real) + sizeof(int32_t) + int8_blocks(K) * INT8_BLOCK);
}

/* The tile of column n in the first block of its stripe. */
INLINE size_t int8_tile(size_t blocks, int n) {
    return ((size_t)(n / INT8_STRIPE) * blocks * INT8_TILES + (size_t)(n % INT8_STRIPE / INT8_COLUMNS)) *
           INT8_TILE;
}

/* Packs column n, which lies in one piece; returns the sum of its numbers. */
INLINE int32_t int8_pack_column(int K, const int8_t *b, int8_t *to) {
    int32_t sum = 0;
    for (int k = 0; k < K; k++) sum += b[k];
    for (; K > 0; K -= INT8_BLOCK, b += INT8_BLOCK, to += INT8_TILES * INT8_TILE) {
        int8_t rest[INT8_BLOCK] = {0};
        const int8_t *from = K < INT8_BLOCK ? memcpy(rest, b, (size_t)K) : b;
        for (int l = 0; l < INT8_LINES; l++)
            for (int i = 0; i < INT8_TERMS; i++)
                to[l * INT8_COLUMNS * INT8_TERMS + i] = from[INT8_LINES * i + l];
    }
    return sum;
}

/* Packs tile after tile; in a tile, line after line of B. */
static void kern_int8_pack(int K, int N, const int8_t *B, const real *scales, bool transposed, int first,
                           int end, void *packed) {
    size_t columns = int8_columns(N), blocks = int8_blocks(K);
    size_t padded = end == N ? columns - (size_t)first : (size_t)(end - first);
    real *packed_scales = (real *)packed + first;
    int32_t *sums = (void *)((real *)packed + columns);
    int8_t *tiles = (int8_t *)(sums + columns);
    memset(packed_scales, 0, padded * sizeof *packed_scales);
    memset(sums + first, 0, padded * sizeof *sums);
    memset(tiles + int8_tile(blocks, first), 0, padded * blocks * INT8_BLOCK);
    memcpy(packed_scales, scales, (size_t)(end - first) * sizeof *packed_scales);
    for (int n = first; transposed && n < end; n++)
        sums[n] = int8_pack_column(K, B + (size_t)(n - first) * (size_t)K,
                                   tiles + int8_tile(blocks, n) + n % INT8_COLUMNS * INT8_TERMS);
    for (int n = first; !transposed && n < end; n += INT8_COLUMNS) {
        int width = end - n < INT8_COLUMNS ? end - n : INT8_COLUMNS;
        int8_t *tile = tiles + int8_tile(blocks, n);
        for (int k0 = 0; k0 < K; k0 += INT8_BLOCK, tile += INT8_TILES * INT8_TILE)
            for (int k = k0; k < K && k < k0 + INT8_BLOCK; k++) {
                const int8_t *b = B + (size_t)k * (size_t)N + n;
                int8_t *to = tile + k % INT8_LINES * INT8_COLUMNS * INT8_TERMS + k % INT8_BLOCK / INT8_LINES;
                for (int j = 0; j < width; j++) {
                    to[j * INT8_TERMS] = b[j];
                    sums[n + j] += b[j];
                }
            }
    }
}

/* To `bytes`, or, times the scale, to `numbers`. Returns the scale. */
INLINE real int8_column(int K, int N, const void *packed, int n, int8_t *bytes, real *numbers) {
    size_t columns = int8_columns(N), blocks = int8_blocks(K);
    const int32_t *sums = (const void *)((const real *)packed + columns);
    const int8_t *line =
        (const int8_t *)(sums + columns) + int8_tile(blocks, n) + (size_t)(n % INT8_COLUMNS) * INT8_TERMS;
    real scale = ((const real *)packed)[n];
    for (int k0 = 0; k0 < K; k0 += INT8_BLOCK, line += (INT8_TILES - 1) * INT8_TILE)
        for (int l = 0; l < INT8_LINES; l++, line += INT8_COLUMNS * INT8_TERMS)
            for (int i = 0, k = k0 + l; i < INT8_TERMS && k < K; i++, k += INT8_LINES)
                if (bytes)
                    bytes[key_byte(k)] = line[i];
                else
                    numbers[k] = (real)line[i] * scale;
    return scale;
}

static void kern_int8_column(int K, int N, const void *packed, int n, real *out) {
    int8_column(K, N, packed, n, NULL, out);
}

static real kern_int8_column_bytes(int K, int N, const void *packed, int n, int8_t *out) {
    return int8_column(K, N, packed, n, out, NULL);
}

/* Adding 1.5 * 2^23 rounds a float to an integer, in the lowest bits of the sum. */
#define ROUNDER 12582912.0f

/* Rounds a row of A to words, block after block; blocks are INT8_GROUP words apart. Returns the row's
 * scale. */
INLINE real int8_row(int K, const real *a, int32_t *out) {
    enum { BITS = 32 / INT8_TERMS };
    IntVec most = {0}; /* without sign, floats have the order of their bits; NaN is greatest */
    FOR_VECTORS((size_t)K, { most = greater_words(most, (IntVec)LOAD(a) & 0x7FFFFFFF); });
    int32_t bits = 0;
    for (int i = 0; i < LANES; i++) bits = most[i] > bits ? most[i] : bits;
    real greatest;
    memcpy(&greatest, &bits, sizeof greatest);
    Vec up = splat(greatest > 0 ? 127 / greatest : 0);
    for (int k = 0; k < K; k += INT8_BLOCK, out += INT8_GROUP)
        for (int j = 0; j < INT8_LINES; j += LANES) {
            IntVec word = {0};
            for (int i = 0; i < INT8_TERMS; i++) {
                int at = k + j + INT8_LINES * i, remaining = K - at;
                Vec x = remaining >= LANES ? load(a + at)
                        : remaining > 0    ? load_some(a + at, (size_t)remaining)
                                           : (Vec){0};
                word |= ((IntVec)(x * up + splat(ROUNDER)) & ((1 << BITS) - 1)) << (BITS * i);
            }
            word ^= (int32_t)(INT8_BIAS * 0x01010101u);
            memcpy(out + j, &word, sizeof word);
        }
    return greatest / 127;
}

/* A stripe of packed B; `width` is its number of columns in B. */
typedef struct {
    const real *scales;
    const int32_t *column_sums;
    const int8_t *tiles;
    int width;
} Int8Stripe;

/* Writes LANES numbers of a row of C, from `column` on: the sums of products times both scales. */
INLINE void int8_finish(IntVec sum, const Int8Stripe *b, int column, real row_scale, real *C,
                        bool accumulate) {
    if (column >= b->width) return;
    size_t remaining = (size_t)(b->width - column);
    bool whole = remaining >= LANES;
    real *c = C + column;
    IntVec sums;
    memcpy(&sums, b->column_sums + column, sizeof sums);
    Vec both_scales = load(b->scales + column) * splat(row_scale), before = {0};
    if (accumulate) before = whole ? load(c) : load_some(c, remaining);
    Vec y = multiply_add(__builtin_convertvector(sum - sums * INT8_BIAS, Vec), both_scales, before);
    if (whole)
        store(c, y);
    else
        store_some(c, y, remaining);
}

/* ---- a stripe of C from rows of words and their scales, `row_scales` ---- */

#ifdef TILE_UNITS

static void int8_stripe(int rows, size_t blocks, const int32_t *a, const Int8Stripe *b,
                        const real *row_scales, real *C, size_t ldc, bool accumulate) {
    for (int m = 0; m < rows; m += INT8_ROWS) {
        int32_t sums[INT8_ROWS * INT8_STRIPE] __attribute__((aligned(64)));
        const int8_t *tiles = b->tiles;
        _tile_zero(0);
        _tile_zero(1);
        for (size_t k = 0; k < blocks; k++, a += INT8_GROUP, tiles += 2 * INT8_TILE) {
            _tile_loadd(4, a, 64);
            _tile_loadd(6, tiles, 64);
            _tile_loadd(7, tiles + INT8_TILE, 64);
            _tile_dpbssd(0, 4, 6);
            _tile_dpbssd(1, 4, 7);
        }
        _tile_stored(0, sums, INT8_STRIPE * sizeof *sums);
        _tile_stored(1, sums + INT8_COLUMNS, INT8_STRIPE * sizeof *sums);
        for (int r = 0; r < INT8_ROWS && m + r < rows; r++)
            for (int j = 0; j < INT8_STRIPE; j += LANES) {
                IntVec sum;
                memcpy(&sum, sums + r * INT8_STRIPE + j, sizeof sum);
                int8_finish(sum, b, j, row_scales[m + r], C + (size_t)(m + r) * ldc, accumulate);
            }
    }
}
#define INT8_BEGIN() tiles_begin()
#define INT8_END()   tiles_end()

#else

/* Loads the words of LANES columns; adds their products to `sum`. */
#if defined(__AVX512VNNI__)
typedef IntVec Int8Words;
INLINE Int8Words int8_load(const int8_t *b) {
    IntVec words;
    memcpy(&words, b, sizeof words);
    return words;
}
INLINE IntVec int8_dot(IntVec sum, int32_t a, Int8Words b) {
    return (IntVec)_mm512_dpbusd_epi32((__m512i)sum, _mm512_set1_epi32(a), (__m512i)b);
}
#else
typedef ShortVec Int8Words;
INLINE Int8Words int8_load(const int8_t *b) { return widen(b); }
INLINE IntVec int8_dot(IntVec sum, int32_t a, Int8Words b) {
    return add_products(sum, (ShortVec)(a - (IntVec){0}), b);
}
#endif

/* `rows` rows from `first` on. `ahead`: also prefetch the next stripe. `rows` and `ahead` are constants at
 * each call. */
INLINE void int8_block(int rows, int first, bool ahead, size_t blocks, const int32_t *a, const Int8Stripe *b,
                       const real *row_scales, real *C, size_t ldc, bool accumulate) {
    enum { LINE = INT8_STRIPE * INT8_TERMS };
    size_t depth = blocks * INT8_LINES;
    const int8_t *line = b->tiles;
    IntVec sum[BLOCK_ROWS][2];
    for (int r = 0; r < rows; r++) sum[r][0] = sum[r][1] = (IntVec){0};
    a += (size_t)first * depth;
    UNROLLED
    for (size_t j = 0; j < depth; j++, line += LINE) {
        if (ahead) fetch(line + depth * LINE, LINE);
        Int8Words left = int8_load(line), right = int8_load(line + LANES * INT8_TERMS);
        for (int r = 0; r < rows; r++) {
            sum[r][0] = int8_dot(sum[r][0], a[(size_t)r * depth + j], left);
            sum[r][1] = int8_dot(sum[r][1], a[(size_t)r * depth + j], right);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < 2; v++)
            int8_finish(sum[r][v], b, v * LANES, row_scales[first + r], C + (size_t)(first + r) * ldc,
                        accumulate);
}

static void int8_stripe(int rows, size_t blocks, const int32_t *a, const Int8Stripe *b,
                        const real *row_scales, real *C, size_t ldc, bool accumulate) {
    FOR_ROWS_AHEAD(rows, int8_block, blocks, a, b, row_scales, C, ldc, accumulate)
}
#define INT8_BEGIN() ((void)0)
#define INT8_END()   ((void)0)
#endif

static void kern_int8_multiply(int M, int N, int K, const real *A, int lda, const void *packed, real *C,
                               int ldc, bool accumulate, void *scratch) {
    size_t columns = int8_columns(N), blocks = int8_blocks(K), group = blocks * INT8_GROUP;
    const real *scales = packed;
    const int32_t *column_sums = (const void *)(scales + columns);
    const int8_t *tiles = (const int8_t *)(column_sums + columns);
    int most = (int)((size_t)INT8_WORDS / group) * INT8_ROWS;
    int32_t *words = scratch;
    real row_scales[INT8_WORDS / INT8_LINES];
    assert(K <= KERN_INT8_MAX_K);
    INT8_BEGIN();
    for (int m0 = 0; m0 < M; m0 += most) {
        int rows = M - m0 < most ? M - m0 : most;
        for (int m = 0; m < rows; m++)
            row_scales[m] = int8_row(K, A + (size_t)(m0 + m) * (size_t)lda,
                                     words + (size_t)(m / INT8_ROWS) * group + m % INT8_ROWS * INT8_LINES);
        for (int n = 0; n < N; n += INT8_STRIPE) {
            Int8Stripe b = {scales + n, column_sums + n, tiles + (size_t)n * blocks * INT8_BLOCK, N - n};
            int8_stripe(rows, blocks, words, &b, row_scales, C + (size_t)m0 * (size_t)ldc + n, (size_t)ldc,
                        accumulate);
        }
    }
    INT8_END();
}

#endif
