/* kern_attention.h - scores of keys and sums of values for one query. For kern_impl.c alone.
 */
#ifndef NUM_KERN_ATTENTION_H
#define NUM_KERN_ATTENTION_H

#include "num/kern_vector.h"

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

/* ---- one query, and rows that lie `stride` numbers apart ---- */

INLINE Vec products(size_t n, const real *q, const real *key) {
    Vec sum = {0};
    FOR_VECTORS(n, sum += LOAD(q) * LOAD(key););
    return sum;
}

/* The sums of LANES keys are made lane by lane, then reduced all together. What a key gets does not depend on
 * its place. */
static void kern_dots(int S, int d, size_t stride, const real *q, const real *keys, real scale, real *out) {
    size_t n = (size_t)d;
    for (; S > 0; S -= LANES, keys += LANES * stride, out += LANES) {
        Vec sum[LANES];
        if (S >= LANES) {
            for (int s = 0; s < LANES; s++) sum[s] = products(n, q, keys + (size_t)s * stride);
            store(out, load(out) + splat(scale) * sum_each(sum));
        } else {
            for (int s = 0; s < LANES; s++)
                sum[s] = s < S ? products(n, q, keys + (size_t)s * stride) : (Vec){0};
            store_some(out, load_some(out, (size_t)S) + splat(scale) * sum_each(sum), (size_t)S);
            break;
        }
    }
}

/* V vectors (the last of `left` numbers) of the weighted sum, in C chains of additions that do not wait for
 * each other. */
INLINE void weighted_columns(int V, int C, size_t left, int S, size_t stride, const real *w,
                             const real *values, real *y) {
    Vec sum[8] = {{0}};
    for (int s = 0; s < S; s += C, values += (size_t)C * stride)
        for (int c = 0; c < C && s + c < S; c++)
            for (int v = 0; v < V; v++) {
                const real *p = values + (size_t)c * stride + v * LANES;
                sum[c * V + v] += splat(w[s + c]) * (left == LANES ? load(p) : load_some(p, left));
            }
    for (int half = C / 2; half; half /= 2)
        for (int i = 0; i < half * V; i++) sum[i] += sum[half * V + i];
    for (int v = 0; v < V; v++, y += LANES)
        if (left == LANES)
            store(y, load(y) + sum[v]);
        else
            store_some(y, load_some(y, left) + sum[v], left);
}
static void kern_weighted_sum(int S, int d, size_t stride, const real *w, const real *values, real *y) {
    size_t n = (size_t)d, i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) weighted_columns(4, 2, LANES, S, stride, w, values + i, y + i);
    for (; i + 2 * LANES <= n; i += 2 * LANES) weighted_columns(2, 4, LANES, S, stride, w, values + i, y + i);
    for (; i + LANES <= n; i += LANES) weighted_columns(1, 8, LANES, S, stride, w, values + i, y + i);
    if (i < n) weighted_columns(1, 8, n - i, S, stride, w, values + i, y + i);
}

static void kern_outer_add(int S, int d, size_t stride, const real *w, const real *y, real *rows) {
    size_t n = (size_t)d;
    for (int s = 0; s < S; s++, rows += stride) {
        Vec a = splat(w[s]);
        FOR_VECTORS(n, STORE(rows, LOAD(rows) + a * LOAD(y)););
    }
}

/* ---- the same for rows that each have an address of their own ---- */

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
