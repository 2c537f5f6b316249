/* kern_softmax.h - softmax and cross-entropy of one row. For kern_impl.c alone.
 */
#ifndef KERN_KERN_SOFTMAX_H
#define KERN_KERN_SOFTMAX_H

#include "kern/kern_pointwise.h"

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

/* Returns the sum of exp(x - max), and writes the terms to `out`, which may be x, unless it is NULL. The sum
 * has no unused lanes of the tail. */
INLINE real exp_shifted(size_t n, const real *x, real max, real *out) {
    Vec sum = {0};
    real tail = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        Vec e = vexp(load(x + i) - splat(max));
        if (out) store(out + i, e);
        sum += e;
    }
    if (i < n) {
        Vec e = vexp(load_some(x + i, n - i) - splat(max));
        if (out) store_some(out + i, e, n - i);
        for (size_t l = 0; l < n - i; l++) tail += e[l];
    }
    return sum_lanes(sum) + tail;
}

static real kern_softmax(size_t n, real *x) {
    real max = max_of(n, x);
    real sum = exp_shifted(n, x, max, x);
    Vec factor = splat(1 / sum);
    FOR_VECTORS(n, STORE(x, LOAD(x) * factor););
    return max + (real)log((double)sum);
}

static void kern_softmax_backward(size_t n, const real *y, const real *dy, real *dx) {
    Vec mean = splat(dot_inline(n, y, dy));
    FOR_VECTORS(n, STORE(dx, LOAD(dx) + LOAD(y) * (LOAD(dy) - mean)););
}

static double kern_cross_entropy(size_t n, real *logits, int target, real smoothing, real scale,
                                 double *nll) {
    real target_logit = logits[target];
    double mean = 0;
    if (smoothing > 0) {
        Vec sum = {0};
        FOR_VECTORS(n, sum += LOAD(logits););
        mean = (double)sum_lanes(sum) / (double)n;
    }
    real max = max_of(n, logits);
    real sum = exp_shifted(n, logits, max, logits);
    double lse = (double)max + log((double)sum);
    Vec factor = splat(scale / sum), shift = splat(scale * smoothing / (real)n);
    FOR_VECTORS(n, STORE(logits, LOAD(logits) * factor - shift););
    logits[target] -= scale * (1 - smoothing);
    *nll = lse - (double)target_logit;
    return (1 - (double)smoothing) * (lse - (double)target_logit) + (double)smoothing * (lse - mean);
}

#endif
