/* kern_search.h - block maxima and log-sum-exp of a row of scores. For kern_impl.c alone.
 */
#ifndef KERN_KERN_SEARCH_H
#define KERN_KERN_SEARCH_H

#include "kern/kern_softmax.h"

/* The greater of each lane; b if one of them is NaN. */
INLINE Vec greater(Vec a, Vec b) { return choose(a > b, a, b); }

/* Lane s of the result is the greatest lane of x[s], as in sum_each. */
INLINE Vec greatest_each(Vec x[LANES]) {
    for (int left = LANES; left > 1; left /= 2)
        for (int i = 0; i < left / 2; i++) {
            Vec even, odd;
            part_lanes(left, x[2 * i], x[2 * i + 1], &even, &odd);
            x[i] = greater(even, odd);
        }
    return x[0];
}

static real kern_block_maxima(size_t n, const real *x, real *maxima) {
    enum { BLOCK = KERN_MAXIMA_BLOCK };
    const Vec nothing = splat((real)-INFINITY);
    real greatest = (real)-INFINITY;
    /* LANES blocks at a time: their maxima are reduced within vectors. */
    for (; n >= BLOCK * LANES; n -= BLOCK * LANES, maxima += LANES) {
        Vec best[LANES];
        for (int b = 0; b < LANES; b++) {
            best[b] = nothing;
            for (int i = 0; i < BLOCK; i += LANES, x += LANES) best[b] = greater(load(x), best[b]);
        }
        Vec all = greatest_each(best);
        store(maxima, all);
        for (int l = 0; l < LANES; l++) greatest = all[l] > greatest ? all[l] : greatest;
    }
    for (; n > 0; maxima++) {
        size_t size = n < BLOCK ? n : BLOCK, i = 0;
        Vec best = nothing;
        for (; i + LANES <= size; i += LANES) best = greater(load(x + i), best);
        *maxima = (real)-INFINITY;
        for (int l = 0; l < LANES; l++) *maxima = best[l] > *maxima ? best[l] : *maxima;
        for (; i < size; i++) *maxima = x[i] > *maxima ? x[i] : *maxima;
        greatest = *maxima > greatest ? *maxima : greatest;
        x += size;
        n -= size;
    }
    return greatest;
}

/* The same sum as kern_softmax, so both give the same bits. */
static real kern_log_sum_exp(size_t n, const real *x, real max) {
    return max + (real)log((double)exp_shifted(n, x, max, NULL));
}

#endif
