/* product.h - the products of a model: rows times a weight, and the gradient of a weight.
 *
 * Shapes  row-major; rows of x, y and a lie ldx, ldy, lda numbers apart, everything else has no gaps
 */
#ifndef NUM_PRODUCT_H
#define NUM_PRODUCT_H

#include "num/tape.h"

/* y [M, N] (+)= x [M, K] W, where the weight is [K, N], or [N, K] if transposed; through its packed copy if there is one. */
void product_with_weight(const Tape *tape, const Param *weight, bool transposed, int M, const real *x,
                         int ldx, real *y, int ldy, bool accumulate);
/* dw [M, N] += a [rows, M]^T b [rows, N] */
void product_for_gradient(const Tape *tape, int M, int N, int rows, const real *a, int lda, const real *b,
                          real *dw);

#endif
