/* kern_update.h - optimizer and dropout. For kern_impl.c alone.
 */
#ifndef KERN_KERN_UPDATE_H
#define KERN_KERN_UPDATE_H

#include "kern/kern_pointwise.h"

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

static void kern_adam(size_t n, real *p, const real *g, real *m, real *v, real *average, AdamStep s) {
    FOR_VECTORS(
        n, Vec grad = LOAD(g) * splat(s.gradient_scale);
        Vec m1 = splat(s.beta1) * LOAD(m) + splat(1 - s.beta1) * grad;
        Vec v1 = splat(s.beta2) * LOAD(v) + splat(1 - s.beta2) * grad * grad; STORE(m, m1); STORE(v, v1);
        Vec old = LOAD(p);
        Vec now = old - splat(s.rate) * m1 / (vsqrt(v1) * splat(s.correction) + splat(s.epsilon)) -
                  splat(s.decay) * old;
        STORE(p, now); if (average) {
            Vec a = LOAD(average);
            STORE(average, a + splat(s.average_rate) * (now - a));
        });
}

/* A 32-bit mixing function (two multiply-xorshift rounds, constants of Wellons' "lowbias32") of the position,
 * keyed from both halves of the 64-bit key: cheap enough to vectorise, and good enough for a Bernoulli
 * mask. */
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

#endif
