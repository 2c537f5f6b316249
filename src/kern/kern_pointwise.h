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
