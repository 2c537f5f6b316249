/* kern_pointwise.h - elementwise sums, products and nonlinearities. For kern_impl.c alone.
 */
#ifndef KERN_KERN_POINTWISE_H
#define KERN_KERN_POINTWISE_H

#include "kern/kern_vector.h"

static void kern_tanh(size_t n, const real *x, real *y) { FOR_VECTORS(n, STORE(y, vtanh(LOAD(x)));); }
static void kern_tanh_backward(size_t n, const real *y, const real *dy, real *dx) {
    FOR_VECTORS(n, Vec t = LOAD(y); STORE(dx, LOAD(dx) + LOAD(dy) * (splat(1) - t * t)););
}
/* Clears negative numbers, so NaN stays NaN. */
static void kern_relu(size_t n, const real *x, real *y) {
    FOR_VECTORS(n, Vec v = LOAD(x); STORE(y, (Vec)((IntVec)v & ~(IntVec)(v < splat(0)))););
}
static void kern_relu_backward(size_t n, const real *y, real factor, real *dy) {
    FOR_VECTORS(n, Vec d = splat(factor) * LOAD(dy);
                STORE(dy, (Vec)((IntVec)d & (IntVec)(LOAD(y) > splat(0)))););
}
/* ---- x times a gate g(x) between 0 and 1: swish and the forms of gelu ---- */

#ifdef REAL_DOUBLE
/* (1 + erf(x / sqrt(2))) / 2 */
INLINE Vec normal_cdf(Vec x) {
    for (int i = 0; i < LANES; i++) x[i] = (1 + erf(x[i] * 0.70710678118654752440)) / 2;
    return x;
}
#else
/* Abramowitz and Stegun 1964, 7.1.26: the error of erf is at most 1.5e-7. */
INLINE Vec normal_cdf(Vec x) {
    Vec z = choose(x < splat(0), -x, x) * splat(0.70710678f),
        t = splat(1) / (splat(1) + splat(0.3275911f) * z);
    Vec p = splat(1.061405429f);
    p = p * t + splat(-1.453152027f);
    p = p * t + splat(1.421413741f);
    p = p * t + splat(-0.284496736f);
    p = p * t + splat(0.254829592f);
    Vec tail = splat(0.5f) * p * t * vexp(-z * z);
    return choose(x < splat(0), tail, splat(1) - tail);
}
#endif

/* Of the sigmoid in each gate: the argument u(x), and its derivative. */
INLINE Vec gate_argument(ActivationFunction f, Vec x) {
    if (f == ACTIVATION_SWISH) return x;
    if (f == ACTIVATION_GELU_SIGMOID) return splat((real)1.702) * x;
    return splat((real)1.5957691216057308) * x * (splat(1) + splat((real)0.044715) * x * x);
}
INLINE Vec gate_argument_slope(ActivationFunction f, Vec x) {
    if (f == ACTIVATION_SWISH) return splat(1);
    if (f == ACTIVATION_GELU_SIGMOID) return splat((real)1.702);
    return splat((real)1.5957691216057308) * (splat(1) + splat((real)0.134145) * x * x);
}

INLINE void gated_forward(ActivationFunction f, size_t n, const real *x, real *y) {
    FOR_VECTORS(n, Vec v = LOAD(x);
                STORE(y, v * (f == ACTIVATION_GELU ? normal_cdf(v) : vsigmoid(gate_argument(f, v)))););
}
INLINE void gated_backward(ActivationFunction f, size_t n, const real *x, const real *dy, real *dx) {
    FOR_VECTORS(
        n, Vec v = LOAD(x); Vec gate; Vec slope; if (f == ACTIVATION_GELU) {
            gate = normal_cdf(v);
            slope = splat((real)0.3989422804014327) * vexp(splat((real)-0.5) * v * v);
        } else {
            gate = vsigmoid(gate_argument(f, v));
            slope = gate * (splat(1) - gate) * gate_argument_slope(f, v);
        } STORE(dx, LOAD(dx) + LOAD(dy) * (gate + v * slope)););
}

/* One loop for each function. */
static void kern_activation(ActivationFunction f, size_t n, const real *x, real *y) {
    switch (f) {
    case ACTIVATION_RELU:
        kern_relu(n, x, y);
        break;
    case ACTIVATION_SWISH:
        gated_forward(ACTIVATION_SWISH, n, x, y);
        break;
    case ACTIVATION_GELU:
        gated_forward(ACTIVATION_GELU, n, x, y);
        break;
    case ACTIVATION_GELU_TANH:
        gated_forward(ACTIVATION_GELU_TANH, n, x, y);
        break;
    case ACTIVATION_GELU_SIGMOID:
        gated_forward(ACTIVATION_GELU_SIGMOID, n, x, y);
        break;
    }
}
static void kern_activation_backward(ActivationFunction f, size_t n, const real *x, const real *dy,
                                     real *dx) {
    switch (f) {
    case ACTIVATION_RELU:
        break; /* relu_backward needs less memory */
    case ACTIVATION_SWISH:
        gated_backward(ACTIVATION_SWISH, n, x, dy, dx);
        break;
    case ACTIVATION_GELU:
        gated_backward(ACTIVATION_GELU, n, x, dy, dx);
        break;
    case ACTIVATION_GELU_TANH:
        gated_backward(ACTIVATION_GELU_TANH, n, x, dy, dx);
        break;
    case ACTIVATION_GELU_SIGMOID:
        gated_backward(ACTIVATION_GELU_SIGMOID, n, x, dy, dx);
        break;
    }
}
static void kern_glu_forward(int rows, int N, const real *x, real *y) {
    size_t n = (size_t)N;
    for (int row = 0; row < rows; row++, x += 2 * n, y += n)
        FOR_VECTORS(n, STORE(y, LOAD(x) * vsigmoid(LOAD(x + n))););
}
static void kern_glu_backward(int rows, int N, const real *x, const real *dy, real *dx) {
    size_t n = (size_t)N;
    for (int row = 0; row < rows; row++, x += 2 * n, dy += n, dx += 2 * n)
        FOR_VECTORS(n, Vec gate = vsigmoid(LOAD(x + n)); Vec d = LOAD(dy) * gate; STORE(dx, LOAD(dx) + d);
                    STORE(dx + n, LOAD(dx + n) + d * LOAD(x) * (splat(1) - gate)););
}
static void kern_add(size_t n, const real *x, real *y) { FOR_VECTORS(n, STORE(y, LOAD(y) + LOAD(x));); }
static void kern_axpy(size_t n, real a, const real *x, real *y) {
    FOR_VECTORS(n, STORE(y, LOAD(y) + splat(a) * LOAD(x)););
}
static void kern_scale(size_t n, real a, const real *x, real *y) {
    FOR_VECTORS(n, STORE(y, splat(a) * LOAD(x)););
}
static void kern_scale_mask(size_t n, const real *mask, const real *x, real *y) {
    FOR_VECTORS(n, STORE(y, LOAD(mask) * LOAD(x)););
}
static void kern_scale_mask_add(size_t n, const real *mask, const real *x, const real *base, real *y) {
    FOR_VECTORS(n, STORE(y, LOAD(base) + LOAD(mask) * LOAD(x)););
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

#endif
