/* kern_int8.h - products of 8-bit integers. For kern_impl.c alone.
 *
 * Each column of the weight and each row of the other operand is scaled so that its greatest number is 127,
 * then rounded. Sums of products of integers are exact, so the result is the same on every processor but for
 * the last multiplication by the two scales.
 *
 * Layout  scales and sums of the columns, then stripes of 32 columns; in each, blocks of 64 lines of B as two
 *         tiles: 16 lines of 16 words, a word for each column. Byte i of a word of line j is line j + 16 i of
 *         the block, for both operands.
 */
#ifndef NUM_KERN_INT8_H
#define NUM_KERN_INT8_H

#include <assert.h>
#include "num/kern.h"
#include "num/kern_vector.h"

enum {
    INT8_BLOCK = 64,                        /* lines of B in a block */
    INT8_LINE = 16,                         /* words of a line of a tile */
    INT8_TILE = INT8_LINE * 16,             /* words of a tile */
    INT8_STRIPE = 2 * INT8_LINE,            /* columns */
    INT8_ROWS = 16,                         /* rows of A whose words lie together */
    INT8_SCRATCH = INT8_ROWS * DEEPEST_INT8 /* bytes for rounded rows; K of them fit into sums of 32 bits */
};

/* The instruction of vector units wants one operand without sign: a + 128 is used, and 128 times the column's
 * sum taken off at the end. */
#if defined(__AVX512VNNI__) && !defined(__AMX_INT8__)
#define INT8_BIAS 128
#else
#define INT8_BIAS 0
#endif

INLINE size_t int8_blocks(int K) { return ((size_t)K + INT8_BLOCK - 1) / INT8_BLOCK; }
INLINE size_t int8_columns(int N) { return ((size_t)N + INT8_STRIPE - 1) / INT8_STRIPE * INT8_STRIPE; }

static size_t kern_int8_size(int K, int N) {
    return int8_columns(N) * (sizeof(real) + sizeof(int32_t) + int8_blocks(K) * INT8_BLOCK);
}

/* Adding 1.5 * 2^23 rounds to an integer, whose lowest byte is then the float's lowest byte. */
#define ROUNDER 12582912.0f

static void kern_int8_pack(int K, int N, const real *B, bool transposed, void *packed) {
    size_t columns = int8_columns(N), blocks = int8_blocks(K);
    size_t line = transposed ? 1 : (size_t)N, column = transposed ? (size_t)K : 1;
    real *scales = packed;
    int32_t *sums = (void *)(scales + columns);
    int8_t *tiles = (int8_t *)(sums + columns);
    memset(packed, 0, kern_int8_size(K, N));
    for (int n = 0; n < N; n++) {
        const real *b = B + (size_t)n * column;
        real most = 0;
        for (int k = 0; k < K; k++) most = fmaxf(most, fabsf(b[(size_t)k * line]));
        real up = most > 0 ? 127 / most : 0;
        int8_t *to = tiles +
                     ((size_t)(n / INT8_STRIPE) * blocks * 2 + (size_t)(n / INT8_LINE % 2)) * INT8_TILE * 4 +
                     n % INT8_LINE * 4;
        scales[n] = most / 127;
        for (int k = 0; k < K; k++) {
            real rounded = b[(size_t)k * line] * up + ROUNDER;
            int8_t q;
            memcpy(&q, &rounded, 1);
            to[(size_t)(k / INT8_BLOCK) * 2 * INT8_TILE * 4 +
               (size_t)(k % 16 * INT8_LINE * 4 + k % INT8_BLOCK / 16)] = q;
            sums[n] += q;
        }
    }
}

/* A row of A as words, block after block, each block `step` words after the one before; returns what one unit
 * is worth. */
INLINE real int8_row(int K, const real *a, int32_t *out, size_t step) {
    Vec most = {0};
    FOR_VECTORS((size_t)K, {
        Vec size = (Vec)((IntVec)LOAD(a) & 0x7FFFFFFF);
        most = choose(size > most, size, most);
    });
    real greatest = 0;
    for (int i = 0; i < LANES; i++) greatest = fmaxf(greatest, most[i]);
    Vec up = splat(greatest > 0 ? 127 / greatest : 0);
    for (int k = 0; k < K; k += INT8_BLOCK, out += step)
        for (int j = 0; j < INT8_LINE; j += LANES) {
            IntVec word = {0};
            for (int i = 0; i < 4; i++) {
                int at = k + j + 16 * i, left = K - at;
                Vec x = left >= LANES ? load(a + at) : left > 0 ? load_some(a + at, (size_t)left) : (Vec){0};
                word |= ((IntVec)(x * up + splat(ROUNDER)) & 255) << (8 * i);
            }
            word ^= (int32_t)(INT8_BIAS * 0x01010101u);
            memcpy(out + j, &word, sizeof word);
        }
    return greatest / 127;
}

/* ---- sums of products: 16 rows and a stripe of columns at most ---- */

/* `a` holds words [block][16 rows][16], `b` [block][2][16 lines][16 columns]; sums [rows, 32]. */
#ifdef __AMX_INT8__

static void int8_sums(int rows, size_t blocks, const int32_t *a, const int32_t *b, int32_t *sums) {
    (void)rows;
    _tile_zero(0);
    _tile_zero(1);
    for (size_t k = 0; k < blocks; k++, a += INT8_TILE, b += 2 * INT8_TILE) {
        _tile_loadd(4, a, 64);
        _tile_loadd(6, b, 64);
        _tile_loadd(7, b + INT8_TILE, 64);
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
    }
    _tile_stored(0, sums, INT8_STRIPE * sizeof *sums);
    _tile_stored(1, sums + INT8_LINE, INT8_STRIPE * sizeof *sums);
}
#define INT8_BEGIN() tiles_begin()
#define INT8_END()   tiles_end()

#else

/* sum + the products of the four bytes of each word. */
#if defined(__AVX512VNNI__)
INLINE IntVec int8_dot(IntVec sum, int32_t a, IntVec b) {
    return (IntVec)_mm512_dpbusd_epi32((__m512i)sum, _mm512_set1_epi32(a), (__m512i)b);
}
#else
typedef int16_t ShortVec __attribute__((vector_size(VECTOR_BYTES)));
INLINE IntVec int8_pairs(ShortVec a, ShortVec b) { /* a[0] b[0] + a[1] b[1], ... */
#if defined(__AVX512BW__)
    return (IntVec)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (IntVec)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#else
    IntVec low = ((IntVec)a << 16 >> 16) * ((IntVec)b << 16 >> 16);
    return low + ((IntVec)a >> 16) * ((IntVec)b >> 16);
#endif
}
INLINE IntVec int8_dot(IntVec sum, int32_t a, IntVec b) {
    ShortVec bytes = (ShortVec)b, word = (ShortVec)(a - (IntVec){0});
    return sum + int8_pairs(word << 8 >> 8, bytes << 8 >> 8) + int8_pairs(word >> 8, bytes >> 8);
}
#endif

enum { INT8_PASS = LANES == 16 ? INT8_STRIPE : INT8_LINE, INT8_VECTORS = INT8_PASS / LANES, INT8_GROUP = 4 };

/* `rows` is a constant at each call; INT8_PASS columns from `column` on. */
INLINE void int8_block(int rows, size_t blocks, const int32_t *a, const int32_t *b, int column,
                       int32_t *sums) {
    IntVec sum[BLOCK_ROWS][INT8_VECTORS];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < INT8_VECTORS; v++) sum[r][v] = (IntVec){0};
    for (size_t k = 0; k < blocks; k++, a += INT8_TILE, b += 2 * INT8_TILE)
        for (int j = 0; j < INT8_LINE; j++)
            for (int v = 0; v < INT8_VECTORS; v++) {
                int n = column + v * LANES;
                IntVec word;
                memcpy(&word, b + n / INT8_LINE * INT8_TILE + j * INT8_LINE + n % INT8_LINE, sizeof word);
                for (int r = 0; r < rows; r++) sum[r][v] = int8_dot(sum[r][v], a[r * INT8_LINE + j], word);
            }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < INT8_VECTORS; v++)
            memcpy(sums + r * INT8_STRIPE + column + v * LANES, &sum[r][v], sizeof sum[r][v]);
}

static void int8_sums(int rows, size_t blocks, const int32_t *a, const int32_t *b, int32_t *sums) {
    for (int column = 0; column < INT8_STRIPE; column += INT8_PASS) {
        int r = 0;
        for (; r + INT8_GROUP <= rows; r += INT8_GROUP)
            int8_block(INT8_GROUP, blocks, a + r * INT8_LINE, b, column, sums + r * INT8_STRIPE);
        FOR_REST(rows - r, int8_block, blocks, a + r * INT8_LINE, b, column, sums + r * INT8_STRIPE)
    }
}
#define INT8_BEGIN() ((void)0)
#define INT8_END()   ((void)0)
#endif

/* One row of a stripe from its sums. */
INLINE void int8_finish(const int32_t *sums, const real *scales, const int32_t *column_sums, real unit,
                        real *C, int width, bool accumulate) {
    for (int j = 0; j < INT8_STRIPE && j < width; j += LANES) {
        IntVec sum, column;
        memcpy(&sum, sums + j, sizeof sum);
        memcpy(&column, column_sums + j, sizeof column);
        Vec y = __builtin_convertvector(sum - column * INT8_BIAS, Vec) * (load(scales + j) * splat(unit));
        size_t left = (size_t)(width - j);
        if (left >= LANES)
            store(C + j, accumulate ? load(C + j) + y : y);
        else
            store_some(C + j, accumulate ? load_some(C + j, left) + y : y, left);
    }
}

static void kern_int8_multiply(int M, int N, int K, const real *A, int lda, const void *packed, real *C,
                               int ldc, bool accumulate, void *scratch) {
    size_t columns = int8_columns(N), blocks = int8_blocks(K), group = blocks * INT8_TILE;
    const real *scales = packed;
    const int32_t *column_sums = (const void *)(scales + columns), *tiles = column_sums + columns;
    int most = (int)((size_t)INT8_SCRATCH / sizeof(int32_t) / group) * INT8_ROWS;
    int32_t *words = scratch;
    real units[INT8_SCRATCH / INT8_BLOCK];
    assert(K <= DEEPEST_INT8);
    INT8_BEGIN();
    for (int m0 = 0; m0 < M; m0 += most) {
        int rows = M - m0 < most ? M - m0 : most;
        for (int m = 0; m < rows; m++)
            units[m] =
                int8_row(K, A + (size_t)(m0 + m) * (size_t)lda,
                         words + (size_t)(m / INT8_ROWS) * group + m % INT8_ROWS * INT8_LINE, INT8_TILE);
        for (int n = 0; n < N; n += INT8_STRIPE)
            for (int m = 0; m < rows; m += INT8_ROWS) {
                int some = rows - m < INT8_ROWS ? rows - m : INT8_ROWS;
                int32_t sums[INT8_ROWS * INT8_STRIPE] __attribute__((aligned(64)));
                int8_sums(some, blocks, words + (size_t)(m / INT8_ROWS) * group,
                          tiles + (size_t)(n / INT8_STRIPE) * blocks * 2 * INT8_TILE, sums);
                for (int r = 0; r < some; r++)
                    int8_finish(sums + r * INT8_STRIPE, scales + n, column_sums + n, units[m + r],
                                C + (size_t)(m0 + m + r) * (size_t)ldc + n, N - n, accumulate);
            }
    }
    INT8_END();
}

#endif
