/* product.c - which kernel computes the products of a model. */
#include "num/product.h"

#include "num/gemm.h"
#include "num/kern.h"

void product_with_weight(const Tape *tape, const Param *weight, bool transposed, int M, const real *x,
                         int ldx, real *y, int ldy, bool accumulate) {
    int K = transposed ? weight->columns : weight->rows, N = transposed ? weight->rows : weight->columns;
    const void *packed = transposed ? weight->packed_transpose : weight->packed;
    tape_count_product(tape, M, N, K);
    if (packed)
        kern->weights[tape->params->format].multiply(M, N, K, x, ldx, packed, y, ldy, accumulate,
                                                     tape->scratch);
    else
        gemm(false, transposed, M, N, K, x, ldx, param_data(tape->params, weight), accumulate ? 1 : 0, y,
             ldy);
}

void product_for_gradient(const Tape *tape, int M, int N, int rows, const real *a, int lda, const real *b,
                          real *dw) {
    tape_count_product(tape, M, N, rows);
    if (kern->outer)
        kern->outer(M, N, rows, a, lda, b, dw, tape->scratch);
    else
        gemm(true, false, M, N, rows, a, lda, b, 1, dw, N);
}
