/* kern_impl.c - the inner loops of kern.h, written once with compiler vectors of whatever width the flags allow. */
#include <math.h>
#include <string.h>
#include "num/kern.h"
#include "num/kern_vector.h"

#ifndef KERN_SUFFIX
#define KERN_SUFFIX base
#endif
#define KERN_JOIN2(a, b) a##b
#define KERN_JOIN(a, b)  KERN_JOIN2(a, b)
#define KERN_TEXT2(a)    #a
#define KERN_TEXT(a)     KERN_TEXT2(a)

static void kern_tanh(size_t n, const real *x, real *y) { FOR_VECTORS(n, STORE(y, vtanh(LOAD(x)));); }
static void kern_sigmoid(size_t n, const real *x, real *y) { FOR_VECTORS(n, STORE(y, vsigmoid(LOAD(x)));); }
static void kern_tanh_backward(size_t n, const real *y, const real *dy, real *dx) {
    FOR_VECTORS(n, Vec t = LOAD(y); STORE(dx, LOAD(dx) + LOAD(dy) * (splat(1) - t * t)););
}
static void kern_sigmoid_backward(size_t n, const real *y, const real *dy, real *dx) {
    FOR_VECTORS(n, Vec t = LOAD(y); STORE(dx, LOAD(dx) + LOAD(dy) * t * (splat(1) - t)););
}
static void kern_add(size_t n, const real *x, real *y) { FOR_VECTORS(n, STORE(y, LOAD(y) + LOAD(x));); }
static void kern_axpy(size_t n, real a, const real *x, real *y) {
    FOR_VECTORS(n, STORE(y, LOAD(y) + splat(a) * LOAD(x)););
}
static void kern_scale_mask(size_t n, const real *mask, const real *x, real *y) {
    FOR_VECTORS(n, STORE(y, LOAD(mask) * LOAD(x)););
}
static void kern_scale_mask_add(size_t n, const real *mask, const real *x, real *y) {
    FOR_VECTORS(n, STORE(y, LOAD(y) + LOAD(mask) * LOAD(x)););
}
static void kern_column_sums(int rows, int columns, const real *x, real *sums) {
    for (int r = 0; r < rows; r++) kern_add((size_t)columns, x + (size_t)r * (size_t)columns, sums);
}

INLINE real dot_inline(size_t n, const real *x, const real *y) {
    Vec s = {0};
    FOR_VECTORS(n, s += LOAD(x) * LOAD(y););
    return sum_lanes(s);
}
static real kern_dot(size_t n, const real *x, const real *y) { return dot_inline(n, x, y); }

/* ---- softmax and cross-entropy ------------------------------------------------------------------------------------ */

INLINE real max_of(size_t n, const real *x) {
    Vec best = splat(x[0]);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        Vec v = load(x + i);
        for (int l = 0; l < LANES; l++) best[l] = v[l] > best[l] ? v[l] : best[l];
    }
    real max = best[0];
    for (int l = 1; l < LANES; l++) max = best[l] > max ? best[l] : max;
    for (; i < n; i++) max = x[i] > max ? x[i] : max;
    return max;
}

/* x becomes exp(x - max); returns the sum. Absent lanes of the tail are left out of the sum. */
INLINE real exp_shifted(size_t n, real *x, real max) {
    Vec sum = {0};
    real tail = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        Vec e = vexp(load(x + i) - splat(max));
        store(x + i, e);
        sum += e;
    }
    if (i < n) {
        Vec e = vexp(load_some(x + i, n - i) - splat(max));
        store_some(x + i, e, n - i);
        for (size_t l = 0; l < n - i; l++) tail += e[l];
    }
    return sum_lanes(sum) + tail;
}

static real kern_softmax(size_t n, real *x) {
    real max = max_of(n, x);
    real sum = exp_shifted(n, x, max);
    Vec factor = splat(1 / sum);
    FOR_VECTORS(n, STORE(x, LOAD(x) * factor););
    return max + (real)log((double)sum);
}

static double kern_cross_entropy(size_t n, real *logits, int target, real smoothing, real scale,
                                 double *nll) {
    real wanted = logits[target];
    double mean = 0;
    if (smoothing > 0) {
        Vec sum = {0};
        FOR_VECTORS(n, sum += LOAD(logits););
        mean = (double)sum_lanes(sum) / (double)n;
    }
    real max = max_of(n, logits);
    real sum = exp_shifted(n, logits, max);
    double lse = (double)max + log((double)sum);
    Vec factor = splat(scale / sum), shift = splat(scale * smoothing / (real)n);
    FOR_VECTORS(n, STORE(logits, LOAD(logits) * factor - shift););
    logits[target] -= scale * (1 - smoothing);
    *nll = lse - (double)wanted;
    return (1 - (double)smoothing) * (lse - (double)wanted) + (double)smoothing * (lse - mean);
}

/* ---- GRU ---------------------------------------------------------------------------------------------------------- */

static void kern_gru_forward(int rows, int H, const real *gx, const real *gh, const real *h, real *out,
                             real *saved) {
    size_t n = (size_t)H;
    for (int row = 0; row < rows; row++, gx += 3 * n, gh += 3 * n, h += n, out += n) {
        FOR_VECTORS(
            n, Vec r = vsigmoid(LOAD(gx) + LOAD(gh)); Vec z = vsigmoid(LOAD(gx + n) + LOAD(gh + n));
            Vec c = vtanh(LOAD(gx + 2 * n) + r * LOAD(gh + 2 * n)); STORE(out, c + z * (LOAD(h) - c));
            if (saved) {
                STORE(saved, r);
                STORE(saved + n, z);
                STORE(saved + 2 * n, c);
            });
        if (saved) saved += 3 * n;
    }
}

static void kern_gru_backward(int rows, int H, const real *gh, const real *h, const real *saved,
                              const real *dout, real *dgx, real *dgh, real *dh) {
    size_t n = (size_t)H;
    for (int row = 0; row < rows;
         row++, gh += 3 * n, h += n, saved += 3 * n, dout += n, dgx += 3 * n, dgh += 3 * n, dh += n) {
        FOR_VECTORS(n, Vec r = LOAD(saved); Vec z = LOAD(saved + n); Vec c = LOAD(saved + 2 * n);
                    Vec d = LOAD(dout); STORE(dh, LOAD(dh) + d * z);
                    Vec dz = d * (LOAD(h) - c) * z * (splat(1) - z);
                    Vec dc = d * (splat(1) - z) * (splat(1) - c * c);
                    Vec dr = dc * LOAD(gh + 2 * n) * r * (splat(1) - r); STORE(dgx, LOAD(dgx) + dr);
                    STORE(dgx + n, LOAD(dgx + n) + dz); STORE(dgx + 2 * n, LOAD(dgx + 2 * n) + dc);
                    STORE(dgh, LOAD(dgh) + dr); STORE(dgh + n, LOAD(dgh + n) + dz);
                    STORE(dgh + 2 * n, LOAD(dgh + 2 * n) + dc * r););
    }
}

/* ---- additive attention ------------------------------------------------------------------------------------------- */

static void kern_additive_forward(int S, int A, const real *q, const real *keys, const real *v,
                                  real *scores) {
    size_t n = (size_t)A;
    for (int s = 0; s < S; s++, keys += n) {
        Vec sum = {0};
        FOR_VECTORS(n, sum += LOAD(v) * vtanh(LOAD(q) + LOAD(keys)););
        scores[s] = sum_lanes(sum);
    }
}

static void kern_additive_backward(int S, int A, const real *q, const real *keys, const real *v,
                                   const real *dscores, real *dq, real *dkeys, real *dv) {
    size_t n = (size_t)A;
    for (int s = 0; s < S; s++, keys += n, dkeys += n) {
        Vec d = splat(dscores[s]);
        FOR_VECTORS(n, Vec t = vtanh(LOAD(q) + LOAD(keys)); Vec g = d * LOAD(v) * (splat(1) - t * t);
                    STORE(dv, LOAD(dv) + d * t); STORE(dq, LOAD(dq) + g); STORE(dkeys, LOAD(dkeys) + g););
    }
}

/* ---- layer normalisation ------------------------------------------------------------------------------------------ */

static void kern_layer_norm_forward(int rows, int columns, const real *x, const real *gain, const real *bias,
                                    real *y, real *stats) {
    size_t n = (size_t)columns;
    for (int row = 0; row < rows; row++, x += n, y += n, stats += 2) {
        Vec sum = {0};
        FOR_VECTORS(n, sum += LOAD(x););
        real mean = sum_lanes(sum) / (real)columns, variance = 0;
        for (size_t j = 0; j < n; j++) variance += (x[j] - mean) * (x[j] - mean);
        real scale = 1 / (real)sqrt((double)(variance / (real)columns) + 1e-5);
        FOR_VECTORS(n, STORE(y, (LOAD(x) - splat(mean)) * splat(scale) * LOAD(gain) + LOAD(bias)););
        stats[0] = mean;
        stats[1] = scale;
    }
}

static void kern_layer_norm_backward(int rows, int columns, const real *x, const real *gain,
                                     const real *stats, const real *dy, real *dx, real *dgain, real *dbias) {
    size_t n = (size_t)columns;
    for (int row = 0; row < rows; row++, x += n, dy += n, dx += n, stats += 2) {
        Vec mean = splat(stats[0]), scale = splat(stats[1]), sum = {0}, sum_x = {0};
        FOR_VECTORS(n, Vec hat = (LOAD(x) - mean) * scale; Vec d = LOAD(dy);
                    STORE(dgain, LOAD(dgain) + d * hat); STORE(dbias, LOAD(dbias) + d);
                    Vec g = d * LOAD(gain); sum += g; sum_x += g * hat;);
        Vec a = splat(sum_lanes(sum) / (real)columns), b = splat(sum_lanes(sum_x) / (real)columns);
        FOR_VECTORS(n, Vec hat = (LOAD(x) - mean) * scale;
                    STORE(dx, LOAD(dx) + scale * (LOAD(dy) * LOAD(gain) - a - hat * b)););
    }
}

/* ---- optimiser and dropout ---------------------------------------------------------------------------------------- */

static double kern_sum_squares(size_t n, const real *x) {
    double total = 0;
    for (size_t i = 0; i < n; i += 1024) {
        size_t m = n - i < 1024 ? n - i : 1024;
        total += (double)dot_inline(m, x + i, x + i); /* short sums in `real`, the long one in double */
    }
    return total;
}

INLINE Vec vsqrt(Vec x) {
    for (int l = 0; l < LANES; l++)
        x[l] = sizeof(real) == 4 ? (real)sqrtf((float)x[l]) : (real)sqrt((double)x[l]);
    return x;
}

static void kern_adam(size_t n, real *p, const real *g, real *m, real *v, real *average, real g_scale,
                      real beta1, real beta2, real epsilon, real step, real correction2, real decay,
                      real average_rate) {
    FOR_VECTORS(
        n, Vec grad = LOAD(g) * splat(g_scale); Vec m1 = splat(beta1) * LOAD(m) + splat(1 - beta1) * grad;
        Vec v1 = splat(beta2) * LOAD(v) + splat(1 - beta2) * grad * grad; STORE(m, m1); STORE(v, v1);
        Vec old = LOAD(p);
        Vec now =
            old - splat(step) * m1 / (vsqrt(v1) * splat(correction2) + splat(epsilon)) - splat(decay) * old;
        STORE(p, now); if (average) {
            Vec a = LOAD(average);
            STORE(average, a + splat(average_rate) * (now - a));
        });
}

/* A 32-bit mixing function (two multiply-xorshift rounds, constants of Wellons' "lowbias32") of the position, keyed from both
 * halves of the 64-bit key: cheap enough to vectorise and plenty for a Bernoulli mask. */
static void kern_dropout_mask(size_t n, uint64_t key, uint32_t row, double p, real *mask) {
    uint32_t threshold = (uint32_t)(p * 4294967296.0), k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint32_t base = row * 0x9E3779B9u ^ k0;
    base = (base ^ base >> 16) * 0x7FEB352Du;
    base = (base ^ base >> 15) * 0x846CA68Bu;
    base ^= base >> 16;
    real keep = (real)(1 / (1 - p));
    for (size_t i = 0; i < n; i++) {
        uint32_t x = (uint32_t)i * 0x85EBCA6Bu + base;
        x = (x ^ x >> 16 ^ k1) * 0x7FEB352Du;
        x = (x ^ x >> 15) * 0x846CA68Bu;
        x ^= x >> 16;
        mask[i] = x < threshold ? 0 : keep;
    }
}

/* ---- products of matrices ------------------------------------------------------------------------------------------
 * A block of 6 rows and PANEL columns of C is held in registers while k runs. */

enum { DEPTH = 512 }; /* k is cut into such lengths, so that a packed panel stays in the second-level cache */

static void kern_gemm_pack(int K, int N, const real *B, bool transposed, real *out) {
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

/* C [rows, width] (+)= A B for one packed panel. `rows` is a constant at each call, so the sums stay in registers. */
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

/* The last rows, fewer than BLOCK_ROWS. */
#define GEMM_REST(rows_left, ...)                                                                            \
    switch (rows_left) {                                                                                     \
    case 1:                                                                                                  \
        gemm_block(1, __VA_ARGS__);                                                                          \
        break;                                                                                               \
    case 2:                                                                                                  \
        gemm_block(2, __VA_ARGS__);                                                                          \
        break;                                                                                               \
    case 3:                                                                                                  \
        gemm_block(3, __VA_ARGS__);                                                                          \
        break;                                                                                               \
    case 4:                                                                                                  \
        gemm_block(4, __VA_ARGS__);                                                                          \
        break;                                                                                               \
    case 5:                                                                                                  \
        gemm_block(5, __VA_ARGS__);                                                                          \
        break;                                                                                               \
    default:                                                                                                 \
        break;                                                                                               \
    }

static void kern_gemm_packed(int M, int N, int K, const real *A, int lda, const real *packed, real *C,
                             int ldc, bool accumulate) {
    size_t step = (size_t)lda;
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
            GEMM_REST(M - m, depth, a, step, packed, c, ldc, width, add)
        }
    }
}

const Kernels KERN_JOIN(KERNELS_, KERN_SUFFIX) = {
    .name = KERN_TEXT(KERN_SUFFIX),
    .panel = PANEL,
    .gemm_pack = kern_gemm_pack,
    .gemm_packed = kern_gemm_packed,
    .tanh = kern_tanh,
    .sigmoid = kern_sigmoid,
    .tanh_backward = kern_tanh_backward,
    .sigmoid_backward = kern_sigmoid_backward,
    .add = kern_add,
    .axpy = kern_axpy,
    .dot = kern_dot,
    .scale_mask = kern_scale_mask,
    .scale_mask_add = kern_scale_mask_add,
    .column_sums = kern_column_sums,
    .softmax = kern_softmax,
    .cross_entropy = kern_cross_entropy,
    .gru_forward = kern_gru_forward,
    .gru_backward = kern_gru_backward,
    .additive_forward = kern_additive_forward,
    .additive_backward = kern_additive_backward,
    .layer_norm_forward = kern_layer_norm_forward,
    .layer_norm_backward = kern_layer_norm_backward,
    .sum_squares = kern_sum_squares,
    .adam = kern_adam,
    .dropout_mask = kern_dropout_mask,
};
