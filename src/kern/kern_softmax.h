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

/* The mean of the logits of classes that have one, and the number of the others. */
INLINE double mean_logit(size_t n, const real *logits, size_t *none) {
    Vec sum = {0};
    IntVec low = {0};
    FOR_VECTORS(n, Vec v = LOAD(logits); sum += v; low += (IntVec)(v < splat(KERN_NO_LOGIT)););
    *none = 0;
    for (int l = 0; l < LANES; l++) *none -= (size_t)low[l]; /* a mask is -1 */
    if (*none == 0) return (double)sum_lanes(sum) / (double)n;
    sum = splat(0);
    FOR_VECTORS(n, Vec v = LOAD(logits); sum += choose(v < splat(KERN_NO_LOGIT), splat(0), v););
    return (double)sum_lanes(sum) / (double)(n - *none);
}

static double kern_cross_entropy(size_t n, real *logits, int target, real smoothing, real scale,
                                 double *nll) {
    real target_logit = logits[target];
    size_t none = 0;
    double mean = smoothing > 0 ? mean_logit(n, logits, &none) : 0;
    real max = max_of(n, logits);
    real sum = exp_shifted(n, logits, max, none ? NULL : logits);
    double lse = (double)max + log((double)sum);
    Vec factor = splat(scale / sum), shift = splat(scale * smoothing / (real)(n - none));
    if (none)
        FOR_VECTORS(n, Vec v = LOAD(logits); Vec d = vexp(v - splat(max)) * factor - shift;
                    STORE(logits, choose(v < splat(KERN_NO_LOGIT), splat(0), d)););
    else
        FOR_VECTORS(n, STORE(logits, LOAD(logits) * factor - shift););
    logits[target] -= scale * (1 - smoothing);
    *nll = lse - (double)target_logit;
    return (1 - (double)smoothing) * (lse - (double)target_logit) + (double)smoothing * (lse - mean);
}

#endif
