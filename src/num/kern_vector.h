/* kern_vector.h - compiler vectors of the width that the flags allow, and exp, tanh and sigmoid on them. For kern_impl.c alone.
 *
 * Accuracy  3e-7 absolute (relative for exp) in single precision; libm in double precision. NaN stays NaN.
 */
#ifndef NUM_KERN_VECTOR_H
#define NUM_KERN_VECTOR_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include "num/tensor.h"

#if defined(__AVX512F__)
#define VECTOR_BYTES  64
#define PANEL_VECTORS 4 /* 6 x 4 accumulators of 32 registers */
#elif defined(__AVX2__)
#define VECTOR_BYTES  32
#define PANEL_VECTORS 2 /* 6 x 2 accumulators of 16 registers */
#else
#define VECTOR_BYTES  16
#define PANEL_VECTORS 2
#endif
#define LANES      (VECTOR_BYTES / (int)sizeof(real))
#define PANEL      (LANES * PANEL_VECTORS)
#define BLOCK_ROWS 6

#define INLINE static inline __attribute__((always_inline))

typedef real Vec __attribute__((vector_size(VECTOR_BYTES)));

INLINE Vec load(const real *p) {
    Vec v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void store(real *p, Vec v) { memcpy(p, &v, sizeof v); }
INLINE Vec load_some(const real *p, size_t n) {
    Vec v = {0};
    memcpy(&v, p, n * sizeof *p);
    return v;
}
INLINE void store_some(real *p, Vec v, size_t n) { memcpy(p, &v, n * sizeof *p); }
INLINE Vec splat(real x) { return x - (Vec){0}; }
INLINE real sum_lanes(Vec v) {
    real s = 0;
    for (int i = 0; i < LANES; i++) s += v[i];
    return s;
}

/* ---- exp, tanh, sigmoid ------------------------------------------------------------------------------------------- */

#ifdef REAL_DOUBLE
/* The reference arithmetic: exactness matters, speed does not. */
INLINE Vec vexp(Vec x) {
    for (int i = 0; i < LANES; i++) x[i] = exp(x[i]);
    return x;
}
INLINE Vec vtanh(Vec x) {
    for (int i = 0; i < LANES; i++) x[i] = tanh(x[i]);
    return x;
}
#else
typedef int32_t IntVec __attribute__((vector_size(VECTOR_BYTES)));

INLINE Vec choose(IntVec mask, Vec yes, Vec no) { return (Vec)((mask & (IntVec)yes) | (~mask & (IntVec)no)); }

/* 2^n * p(r) with x = n ln 2 + r and |r| <= ln 2 / 2; p is the Taylor series to degree 7. Rounding to n is done by adding
 * 1.5 * 2^23, after which the low bits of the sum are n. */
INLINE Vec vexp(Vec x) {
    x = choose(x > splat(88.0f), splat(88.0f), x);
    x = choose(x < splat(-87.0f), splat(-87.0f), x);
    Vec shifted = x * splat(1.44269504f) + splat(12582912.0f);
    Vec n = shifted - splat(12582912.0f);
    Vec r = x - n * splat(0.693359375f);
    r = r - n * splat(-2.12194440e-4f);
    Vec p = splat(1.0f / 5040);
    p = p * r + splat(1.0f / 720);
    p = p * r + splat(1.0f / 120);
    p = p * r + splat(1.0f / 24);
    p = p * r + splat(1.0f / 6);
    p = p * r + splat(0.5f);
    p = p * r + splat(1.0f);
    p = p * r + splat(1.0f);
    return (Vec)((IntVec)p + (((IntVec)shifted) << 23));
}

/* 1 - 2 / (exp(2x) + 1), which loses digits near 0; there the Taylor series is used. */
INLINE Vec vtanh(Vec x) {
    Vec far = splat(1.0f) - splat(2.0f) / (vexp(x + x) + splat(1.0f));
    Vec s = x * x;
    Vec p = s * splat(62.0f / 2835) + splat(-17.0f / 315);
    p = p * s + splat(2.0f / 15);
    p = p * s + splat(-1.0f / 3);
    Vec near = x + x * s * p;
    return choose(s < splat(0.0625f), near, far);
}
#endif

INLINE Vec vsigmoid(Vec x) { return splat(1) / (splat(1) + vexp(-x)); }

/* Run `body` over n numbers, a vector at a time; the tail goes through LOAD and STORE of `left` numbers. */
#define FOR_VECTORS(n, body)                                                                                 \
    do {                                                                                                     \
        size_t i = 0;                                                                                        \
        for (; i + LANES <= (n); i += LANES) {                                                               \
            enum { whole = 1 };                                                                              \
            const size_t left = LANES;                                                                       \
            (void)left;                                                                                      \
            body                                                                                             \
        }                                                                                                    \
        if (i < (n)) {                                                                                       \
            enum { whole = 0 };                                                                              \
            const size_t left = (n)-i;                                                                       \
            body                                                                                             \
        }                                                                                                    \
    } while (0)
#define LOAD(p)     (whole ? load((p) + i) : load_some((p) + i, left))
#define STORE(p, v) (whole ? store((p) + i, (v)) : store_some((p) + i, (v), left))

#endif
