/* product.h - the products of a model: rows times a weight, and the gradient of a weight.
 *
 * Gradients of affine maps are put off until tape_backward is at its end: those of all steps are then one
 * product.
 *
 * Shapes  row-major; rows of x, y and a lie ldx, ldy, lda numbers apart, everything else has no gaps
 */
#ifndef NUM_PRODUCT_H
#define NUM_PRODUCT_H

#include "num/tape.h"

/* y [M, N] (+)= x [M, K] W, where the weight is [K, N], or [N, K] if transposed; through its packed copy if
 * there is one. */
void product_with_weight(const Tape *tape, const Param *weight, bool transposed, int M, const real *x,
                         int ldx, real *y, int ldy, bool accumulate);
/* dw [M, N] += a [rows, M]^T b [rows, N] */
void product_for_gradient(const Tape *tape, int M, int N, int rows, const real *a, int lda, const real *b,
                          real *dw);

/* x^T dy, still to be added to a weight's gradient, and the column sums of dy, to its bias's. */
struct WeightGradient {
    const Param *weight, *bias; /* bias may be NULL */
    bool transposed;            /* weight is stored [outputs, inputs] */
    const real *x, *dy;         /* [rows, inputs], [rows, outputs] */
    int rows, inputs, outputs;
};

void product_defer_gradient(Tape *tape, WeightGradient gradient);
void product_flush_gradients(Tape *tape); /* add all that were put off, and forget them */

#endif
