/* kern_search.h - what a search asks of a row of scores, and attention to rows that lie anywhere. For kern_impl.c alone.
 */
#ifndef NUM_KERN_SEARCH_H
#define NUM_KERN_SEARCH_H

#include "num/kern_softmax.h"

/* The greater of each lane; b where one of them is not a number. */
INLINE Vec greater(Vec a, Vec b) { return choose(a > b, a, b); }

/* Lane s of the result is the greatest lane of x[s], as in sum_each. */
INLINE Vec greater_pairs(Vec a, Vec b) {
#ifdef HAVE_SHUFFLE
    return greater(__builtin_shufflevector(a, b, EVEN_LANES), __builtin_shufflevector(a, b, ODD_LANES));
#else
    Vec max = {0};
    for (int l = 0; l < LANES / 2; l++) {
        max[l] = a[2 * l] > a[2 * l + 1] ? a[2 * l] : a[2 * l + 1];
        max[LANES / 2 + l] = b[2 * l] > b[2 * l + 1] ? b[2 * l] : b[2 * l + 1];
    }
    return max;
#endif
}
INLINE Vec greatest_each(Vec x[LANES]) {
    for (int left = LANES; left > 1; left /= 2)
        for (int i = 0; i < left / 2; i++) x[i] = greater_pairs(x[2 * i], x[2 * i + 1]);
    return x[0];
}

static real kern_block_maxima(size_t n, const real *x, real *maxima) {
    enum { BLOCK = KERN_MAXIMA_BLOCK };
    const Vec nothing = splat((real)-INFINITY);
    real greatest = (real)-INFINITY;
    /* As many blocks at a time as a vector has lanes: their maxima are brought together without leaving the vectors. */
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

/* The same sum in the same order as kern_softmax, so that both give the same bits. */
static real kern_log_sum_exp(size_t n, const real *x, real max) {
    Vec sum = {0};
    real tail = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) sum += vexp(load(x + i) - splat(max));
    if (i < n) {
        Vec e = vexp(load_some(x + i, n - i) - splat(max));
        for (size_t l = 0; l < n - i; l++) tail += e[l];
    }
    return max + (real)log((double)(sum_lanes(sum) + tail));
}

/* ---- as kern_attention.h, but each row has an address of its own ---- */

static void kern_dots_gathered(int S, int d, const real *q, const real *const *keys, size_t offset,
                               real *out) {
    size_t n = (size_t)d;
    for (; S > 0; S -= LANES, keys += LANES, out += LANES) {
        Vec sum[LANES];
        for (int s = 0; s < LANES; s++) sum[s] = s < S ? products(n, q, keys[s] + offset) : (Vec){0};
        if (S >= LANES)
            store(out, sum_each(sum));
        else
            store_some(out, sum_each(sum), (size_t)S);
    }
}

INLINE void weighted_columns_gathered(int V, int C, size_t left, int S, const real *w,
                                      const real *const *values, size_t offset, real *y) {
    Vec sum[8] = {{0}};
    for (int s = 0; s < S; s += C)
        for (int c = 0; c < C && s + c < S; c++)
            for (int v = 0; v < V; v++) {
                const real *p = values[s + c] + offset + v * LANES;
                sum[c * V + v] += splat(w[s + c]) * (left == LANES ? load(p) : load_some(p, left));
            }
    for (int half = C / 2; half; half /= 2)
        for (int i = 0; i < half * V; i++) sum[i] += sum[half * V + i];
    for (int v = 0; v < V; v++, y += LANES)
        if (left == LANES)
            store(y, sum[v]);
        else
            store_some(y, sum[v], left);
}
static void kern_weighted_sum_gathered(int S, int d, const real *w, const real *const *values, size_t offset,
                                       real *y) {
    size_t n = (size_t)d, i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES)
        weighted_columns_gathered(4, 2, LANES, S, w, values, offset + i, y + i);
    for (; i + 2 * LANES <= n; i += 2 * LANES)
        weighted_columns_gathered(2, 4, LANES, S, w, values, offset + i, y + i);
    for (; i + LANES <= n; i += LANES)
        weighted_columns_gathered(1, 8, LANES, S, w, values, offset + i, y + i);
    if (i < n) weighted_columns_gathered(1, 8, n - i, S, w, values, offset + i, y + i);
}

#endif
