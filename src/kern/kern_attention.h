/* kern_attention.h - scores of keys and sums of values. For kern_impl.c alone.
 */
#ifndef KERN_KERN_ATTENTION_H
#define KERN_KERN_ATTENTION_H

#include "kern/kern_vector.h"

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

/* ---- queries that share their keys (AttendedKeys): what is read of a key serves two of them ---- */

INLINE Vec products(size_t n, const real *q, const real *key) {
    Vec sum = {0};
    FOR_VECTORS(n, sum = multiply_add(LOAD(q), LOAD(key), sum););
    return sum;
}

/* sum[r][s]: of the first S keys, LANES at most, and `rows` queries, lane by lane. */
INLINE void products_of_rows(int rows, int S, size_t n, size_t stride, const real *q, const real *keys,
                             Vec sum[2][LANES]) {
    enum { TOGETHER = LANES < 4 ? LANES : 4 };
    int s = 0;
    for (; s + TOGETHER <= S; s += TOGETHER, keys += TOGETHER * stride) {
        Vec of[2][TOGETHER];
        for (int r = 0; r < rows; r++)
            for (int k = 0; k < TOGETHER; k++) of[r][k] = (Vec){0};
        FOR_VECTORS(
            n, Vec query[2] = {LOAD(q)}; if (rows > 1) query[1] = LOAD(q + stride);
            for (size_t k = 0; k < TOGETHER; k++) {
                Vec key = LOAD(keys + k * stride);
                for (int r = 0; r < rows; r++) of[r][k] = multiply_add(query[r], key, of[r][k]);
            });
        for (int r = 0; r < rows; r++)
            for (int k = 0; k < TOGETHER; k++) sum[r][s + k] = of[r][k];
    }
    for (; s < S; s++, keys += stride)
        for (int r = 0; r < rows; r++) sum[r][s] = products(n, q + (size_t)r * stride, keys);
    for (; s < LANES; s++)
        for (int r = 0; r < rows; r++) sum[r][s] = (Vec){0};
}

/* Scores of the keys from `first` to S - 1. The sums of LANES keys are made lane by lane, then reduced all
 * together. What a key gets does not depend on its place. */
INLINE void dots_of_rows(int rows, int first, int S, size_t n, size_t stride, const real *q, const real *keys,
                         real scale, real *const out[2]) {
    for (int s = first; s < S; s += LANES) {
        Vec sum[2][LANES];
        products_of_rows(rows, S - s < LANES ? S - s : LANES, n, stride, q, keys + (size_t)s * stride, sum);
        for (int r = 0; r < rows; r++) {
            real *to = out[r] + s;
            store_upto(to, multiply_add(splat(scale), sum_each(sum[r]), load_upto(to, S - s)), S - s);
        }
    }
}

static void kern_dots(const AttendedKeys *at, const real *q, const real *keys, real scale, real *out) {
    size_t n = (size_t)at->size, stride = at->stride;
    for (int row = 0, rows; row < at->rows; row += rows, q += (size_t)rows * stride) {
        const int *S = at->length + row;
        rows = row + 1 < at->rows ? 2 : 1;
        real *const to[2] = {out, out + S[0]};
        int both = rows == 1 ? 0 : S[0] < S[1] ? S[0] : S[1];
        if (both) dots_of_rows(2, 0, both, n, stride, q, keys, scale, to);
        for (int r = 0; r < rows; r++, out += S[0], S++)
            dots_of_rows(1, both, *S, n, stride, q + (size_t)r * stride, keys, scale, to + r);
    }
}

/* V vectors (the last of `left` numbers) of the weighted sums of `rows` queries, in C chains of additions
 * that do not wait for each other. */
INLINE void weighted_columns(int rows, int V, int C, int left, const int *S, size_t stride, const real *w,
                             const real *values, real *y) {
    Vec sum[2][8];
    int s = 0;
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < C * V; i++) sum[r][i] = (Vec){0};
    for (; rows > 1 && s + C <= S[0] && s + C <= S[1]; s += C)
        for (int c = 0; c < C; c++)
            for (int v = 0; v < V; v++) {
                Vec value = load(values + (size_t)(s + c) * stride + v * LANES);
                for (int r = 0; r < rows; r++) {
                    Vec *of = &sum[r][c * V + v];
                    *of = multiply_add(splat(w[r * S[0] + s + c]), value, *of);
                }
            }
    for (int r = 0; r < rows; r++, w += *S, S++, y += stride) {
        for (int t = s; t < *S; t += C)
            for (int c = 0; c < C && t + c < *S; c++)
                for (int v = 0; v < V; v++) {
                    const real *p = values + (size_t)(t + c) * stride + v * LANES;
                    Vec *of = &sum[r][c * V + v];
                    *of = multiply_add(splat(w[t + c]), load_upto(p, left), *of);
                }
        for (int half = C / 2; half; half /= 2)
            for (int i = 0; i < half * V; i++) sum[r][i] += sum[r][half * V + i];
        for (int v = 0; v < V; v++)
            store_upto(y + v * LANES, load_upto(y + v * LANES, left) + sum[r][v], left);
    }
}

/* As many vectors and chains as there are registers; the order of each sum is the same for one query as for
 * two. */
INLINE void weighted_rows(int rows, const int *S, size_t n, size_t stride, const real *w, const real *values,
                          real *y) {
    size_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES)
        for (int v = 0; v < 4; v += 4 / rows)
            weighted_columns(rows, 4 / rows, 2, LANES, S, stride, w, values + i + v * LANES,
                             y + i + v * LANES);
    for (; i + 2 * LANES <= n; i += 2 * LANES)
        for (int v = 0; v < 2; v += 2 / rows)
            weighted_columns(rows, 2 / rows, 4, LANES, S, stride, w, values + i + v * LANES,
                             y + i + v * LANES);
    for (int r = 0; r < rows; r++, w += *S, S++, y += stride) {
        size_t j = i;
        for (; j + LANES <= n; j += LANES) weighted_columns(1, 1, 8, LANES, S, stride, w, values + j, y + j);
        if (j < n) weighted_columns(1, 1, 8, (int)(n - j), S, stride, w, values + j, y + j);
    }
}

static void kern_weighted_sum(const AttendedKeys *at, const real *w, const real *values, real *y) {
    size_t n = (size_t)at->size, stride = at->stride;
    int row = 0;
    for (const int *S = at->length; row + 2 <= at->rows; row += 2, w += S[0] + S[1], S += 2, y += 2 * stride)
        weighted_rows(2, S, n, stride, w, values, y);
    if (row < at->rows) weighted_rows(1, at->length + row, n, stride, w, values, y);
}

/* V vectors (the last of `left` numbers) of the two rows from key s on take in all queries. */
INLINE void outer_columns(int V, int left, int s, int keys, const AttendedKeys *at, const real *w,
                          const real *y, real *rows) {
    Vec sum[2][4];
    for (int k = 0; k < keys; k++)
        for (int v = 0; v < V; v++) {
            sum[k][v] = load_upto(rows + (size_t)k * at->stride + v * LANES, left);
        }
    for (int r = 0; r < at->rows; w += at->length[r++], y += at->stride) {
        if (at->length[r] <= s) continue;
        Vec of[4];
        for (int v = 0; v < V; v++) of[v] = load_upto(y + v * LANES, left);
        for (int v = 0; v < V; v++) sum[0][v] = multiply_add(splat(w[s]), of[v], sum[0][v]);
        if (keys > 1 && at->length[r] > s + 1)
            for (int v = 0; v < V; v++) sum[1][v] = multiply_add(splat(w[s + 1]), of[v], sum[1][v]);
    }
    for (int k = 0; k < keys; k++)
        for (int v = 0; v < V; v++) {
            store_upto(rows + (size_t)k * at->stride + v * LANES, sum[k][v], left);
        }
}

INLINE void outer_rows(int keys, int s, const AttendedKeys *at, const real *w, const real *y, real *rows) {
    size_t n = (size_t)at->size, i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) outer_columns(4, LANES, s, keys, at, w, y + i, rows + i);
    for (; i + LANES <= n; i += LANES) outer_columns(1, LANES, s, keys, at, w, y + i, rows + i);
    if (i < n) outer_columns(1, (int)(n - i), s, keys, at, w, y + i, rows + i);
}

static void kern_outer_add(const AttendedKeys *at, const real *w, const real *y, real *rows) {
    int longest = 0, s = 0;
    for (int r = 0; r < at->rows; r++) longest = at->length[r] > longest ? at->length[r] : longest;
    for (; s + 2 <= longest; s += 2, rows += 2 * at->stride) outer_rows(2, s, at, w, y, rows);
    if (s < longest) outer_rows(1, s, at, w, y, rows);
}

/* ---- the same for rows that each have an address of their own ---- */

static void kern_dots_gathered(int S, int d, const real *q, const real *const *keys, size_t offset,
                               real *out) {
    size_t n = (size_t)d;
    for (; S > 0; S -= LANES, keys += LANES, out += LANES) {
        Vec sum[LANES];
        for (int s = 0; s < LANES; s++) sum[s] = s < S ? products(n, q, keys[s] + offset) : (Vec){0};
        store_upto(out, sum_each(sum), S);
    }
}

#ifndef REAL_DOUBLE
enum { KEY_BLOCK = 4 * LANES }; /* bytes of a key, a word for each lane */

/* The place of number k among the bytes of a key: word l of a block has numbers l, l + LANES, ... of the
 * block, so that shifts of whole vectors give them in order. */
INLINE size_t key_byte(int k) {
    return (size_t)(k / KEY_BLOCK * KEY_BLOCK + k % LANES * 4 + k % KEY_BLOCK / LANES);
}

INLINE Vec products_of_bytes(int d, const real *q, const int8_t *key) {
    Vec sum = {0};
    for (int k = 0; k < d; k += KEY_BLOCK, q += KEY_BLOCK, key += KEY_BLOCK) {
        IntVec words;
        memcpy(&words, key, sizeof words);
        for (int i = 0; i < 4; i++) {
            int left = d - k - i * LANES;
            Vec numbers = __builtin_convertvector((words << (24 - 8 * i)) >> 24, Vec);
            if (left >= LANES)
                sum = multiply_add(load(q + i * LANES), numbers, sum);
            else if (left > 0)
                sum = multiply_add(load_upto(q + i * LANES, left), numbers, sum);
        }
    }
    return sum;
}

static void kern_dots_of_bytes(int S, int d, const real *q, const int8_t *const *keys, const real *scales,
                               real *out) {
    for (; S > 0; S -= LANES, keys += LANES, scales += LANES, out += LANES) {
        Vec sum[LANES];
        for (int s = 0; s < LANES; s++) sum[s] = s < S ? products_of_bytes(d, q, keys[s]) : (Vec){0};
        store_upto(out, sum_each(sum) * load_upto(scales, S), S);
    }
}
#endif

INLINE void weighted_columns_gathered(int V, int C, int left, int S, const real *w, const real *const *values,
                                      size_t offset, real *y) {
    Vec sum[8];
    for (int i = 0; i < C * V; i++) sum[i] = (Vec){0};
    for (int s = 0; s < S; s += C)
        for (int c = 0; c < C && s + c < S; c++)
            for (int v = 0; v < V; v++) {
                const real *p = values[s + c] + offset + v * LANES;
                sum[c * V + v] = multiply_add(splat(w[s + c]), load_upto(p, left), sum[c * V + v]);
            }
    for (int half = C / 2; half; half /= 2)
        for (int i = 0; i < half * V; i++) sum[i] += sum[half * V + i];
    for (int v = 0; v < V; v++, y += LANES) store_upto(y, sum[v], left);
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
    if (i < n) weighted_columns_gathered(1, 8, (int)(n - i), S, w, values, offset + i, y + i);
}

#endif
