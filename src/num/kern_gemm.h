/* kern_gemm.h - products of matrices whose right-hand side is packed. For kern_impl.c alone.
 *
 * A block of 6 rows and PANEL columns of C is held in registers while k runs.
 */
#ifndef NUM_KERN_GEMM_H
#define NUM_KERN_GEMM_H

#include "num/kern_vector.h"

enum { DEPTH = 512 }; /* k is cut into such lengths, so that a packed panel stays in the second-level cache */

static size_t kern_float_size(int K, int N) {
    return ((size_t)N + PANEL - 1) / PANEL * PANEL * (size_t)K * sizeof(real);
}

static void kern_float_pack(int K, int N, const real *B, bool transposed, void *packed) {
    real *out = packed;
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        int k1 = K - k0 < DEPTH ? K : k0 + DEPTH;
        for (int n0 = 0; n0 < N; n0 += PANEL) {
            int width = N - n0 < PANEL ? N - n0 : PANEL;
            for (int k = k0; k < k1; k++, out += PANEL) {
                if (!transposed)
                    memcpy(out, B + (size_t)k * (size_t)N + n0, (size_t)width * sizeof *out);
                else
                    for (int j = 0; j < width; j++) out[j] = B[(size_t)(n0 + j) * (size_t)K + (size_t)k];
                for (int j = width; j < PANEL; j++) out[j] = 0;
            }
        }
    }
}

INLINE void store_block(int rows, Vec sum[BLOCK_ROWS][PANEL_VECTORS], real *C, int ldc, int width,
                        bool accumulate) {
    for (int r = 0; r < rows; r++, C += ldc) {
        if (width == PANEL) {
            for (int j = 0; j < PANEL_VECTORS; j++)
                store(C + j * LANES, accumulate ? load(C + j * LANES) + sum[r][j] : sum[r][j]);
        } else {
            real line[PANEL];
            for (int j = 0; j < PANEL_VECTORS; j++) store(line + j * LANES, sum[r][j]);
            for (int j = 0; j < width; j++) C[j] = accumulate ? C[j] + line[j] : line[j];
        }
    }
}

/* C [rows, width] (+)= A B for one packed panel. `rows` is a constant at each call, so the sums stay in
 * registers. */
INLINE void gemm_block(int rows, int K, const real *A, size_t lda, const real *B, real *C, int ldc, int width,
                       bool accumulate) {
    Vec sum[BLOCK_ROWS][PANEL_VECTORS];
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < PANEL_VECTORS; j++) sum[r][j] = (Vec){0};
    for (int k = 0; k < K; k++, B += PANEL) {
        Vec b[PANEL_VECTORS];
        for (int j = 0; j < PANEL_VECTORS; j++) b[j] = load(B + j * LANES);
        for (int r = 0; r < rows; r++) {
            Vec a = splat(A[(size_t)r * lda + (size_t)k]);
            for (int j = 0; j < PANEL_VECTORS; j++) sum[r][j] += a * b[j];
        }
    }
    store_block(rows, sum, C, ldc, width, accumulate);
}

static void kern_float_multiply(int M, int N, int K, const real *A, int lda, const void *weights, real *C,
                                int ldc, bool accumulate, void *scratch) {
    const real *packed = weights;
    size_t step = (size_t)lda;
    (void)scratch;
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        int depth = K - k0 < DEPTH ? K - k0 : DEPTH;
        bool add = accumulate || k0;
        for (int n0 = 0; n0 < N; n0 += PANEL, packed += (size_t)depth * PANEL) {
            int width = N - n0 < PANEL ? N - n0 : PANEL, m = 0;
            const real *a = A + k0;
            real *c = C + n0;
            for (; m + BLOCK_ROWS <= M;
                 m += BLOCK_ROWS, a += BLOCK_ROWS * step, c += BLOCK_ROWS * (size_t)ldc)
                gemm_block(BLOCK_ROWS, depth, a, step, packed, c, ldc, width, add);
            FOR_REST(M - m, gemm_block, depth, a, step, packed, c, ldc, width, add)
        }
    }
}

#endif
