/* kern_bf16.h - products with weights of 16 bits on vector units. For kern_impl.c alone.
 *
 * bfloat16 is the upper half of a float: half the memory traffic, and widening costs one instruction. The
 * other operand and the sums stay floats.
 *
 * Layout  panels of two vectors' columns; a 32-bit word holds lines k (lower half) and k + 1
 */
#ifndef NUM_KERN_BF16_H
#define NUM_KERN_BF16_H

#include "num/kern_vector.h"

enum { BF16_PANEL = 2 * LANES };

static size_t kern_bf16_size(int K, int N) {
    return ((size_t)N + BF16_PANEL - 1) / BF16_PANEL * BF16_PANEL * (((size_t)K + 1) / 2) * sizeof(uint32_t);
}

INLINE uint32_t bf16_from(real x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits + 0x8000) >> 16;
}

static void kern_bf16_pack(int K, int N, const real *B, bool transposed, void *packed) {
    uint32_t *out = packed;
    size_t line = transposed ? 1 : (size_t)N, column = transposed ? (size_t)K : 1;
    for (int n0 = 0; n0 < N; n0 += BF16_PANEL)
        for (int k = 0; k < K; k += 2)
            for (int n = n0; n < n0 + BF16_PANEL; n++) {
                const real *b = B + (size_t)k * line + (size_t)n * column;
                uint32_t low = n < N ? bf16_from(b[0]) : 0,
                         high = n < N && k + 1 < K ? bf16_from(b[line]) : 0;
                *out++ = low | high << 16;
            }
}

/* `rows` is a constant at each call. */
INLINE void bf16_block(int rows, int K, const real *A, size_t lda, const uint32_t *B, real *C, int ldc,
                       int width, bool accumulate) {
    Vec sum[BLOCK_ROWS][2];
    for (int r = 0; r < rows; r++) sum[r][0] = sum[r][1] = (Vec){0};
    for (int k = 0; k < K; k += 2)
        for (int j = 0; j < 2; j++, B += LANES) {
            IntVec word;
            memcpy(&word, B, sizeof word);
            Vec low = (Vec)(word << 16), high = (Vec)(word & (int32_t)0xFFFF0000);
            for (int r = 0; r < rows; r++) {
                const real *a = A + (size_t)r * lda + k;
                sum[r][j] += splat(a[0]) * low;
                sum[r][j] += splat(k + 1 < K ? a[1] : 0) * high;
            }
        }
    for (int r = 0; r < rows; r++, C += ldc)
        for (int j = 0; j < 2 && j * LANES < width; j++) {
            size_t some = (size_t)(width - j * LANES);
            real *c = C + j * LANES;
            if (some >= LANES)
                store(c, accumulate ? load(c) + sum[r][j] : sum[r][j]);
            else
                store_some(c, accumulate ? load_some(c, some) + sum[r][j] : sum[r][j], some);
        }
}

static void kern_bf16_multiply(int M, int N, int K, const real *A, int lda, const void *packed, real *C,
                               int ldc, bool accumulate, void *scratch) {
    const uint32_t *b = packed;
    size_t step = (size_t)lda, panel = (((size_t)K + 1) / 2) * BF16_PANEL;
    (void)scratch;
    for (int n = 0; n < N; n += BF16_PANEL, b += panel) {
        int m = 0;
        for (; m + BLOCK_ROWS <= M; m += BLOCK_ROWS)
            bf16_block(BLOCK_ROWS, K, A + (size_t)m * step, step, b, C + (size_t)m * (size_t)ldc + n, ldc,
                       N - n, accumulate);
        FOR_REST(M - m, bf16_block, K, A + (size_t)m * step, step, b, C + (size_t)m * (size_t)ldc + n, ldc,
                 N - n, accumulate)
    }
}

#endif
