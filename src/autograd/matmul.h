/* matmul.h - the products of a model: rows times a weight, and the gradient of a weight.
 *
 * Weight gradients of affine maps are deferred to the end of tape_backward, where those of all steps become
 * one product.
 *
 * Shapes  row-major; rows of x, y and dw lie ldx, ldy, lddw numbers apart
 */
#ifndef AUTOGRAD_MATMUL_H
#define AUTOGRAD_MATMUL_H

#include "base/status.h"
#include "autograd/tape.h"

/* Where the operands of a product with a weight lie. */
typedef struct {
    int rows;
    const real *x; /* [rows, K] */
    int ldx;
    real *y; /* [rows, N] */
    int ldy;
} MatmulRows;

/* y (+)= x W, where the weight W is [K, N], or [N, K] if transposed. Uses the weight's packed copy if there
 * is one. `accumulate`: add to y instead of setting it. */
void matmul_weight(const Tape *tape, const Param *weight, bool transposed, const MatmulRows *rows,
                   bool accumulate);
/* The same for several blocks of rows, TAPES_MAX at most, as one product, which reads the weight once if
 * the kernels can. */
void matmul_batched(Tape *tape, const Param *weight, bool transposed, const MatmulRows *blocks, int count,
                    bool accumulate);

/* A block of a weight's gradient: dw [M, N] += A [rows, M]^T B [rows, N]. */
typedef struct {
    int M, N, rows;
    const real *const *a, *const
                              *b; /* [rows]: row r of A begins at a[r] + a_column, of B at b[r] + b_column */
    int a_column, b_column;
    real *dw;
    int lddw;
} MatmulGradient;

void matmul_gradient(const Tape *tape, const MatmulGradient *gradient);

/* The BLAS kernel that training uses, for messages; "none" if the program's own kernels do everything. */
const char *matmul_library(void);
/* gemm_self_test, if training uses the library. */
Status matmul_self_test(int threads);

typedef enum {
    GRADIENT_PRODUCT, /* x^T dy, for a weight, and the column sums of dy, for its bias */
    GRADIENT_LOOKUP,  /* row r of dy, for row ids[r] of a table, if that is not negative */
    GRADIENT_SUM      /* numbers that ops have summed themselves */
} GradientKind;

/* A deferred contribution to the gradient of a parameter. */
struct WeightGradient {
    GradientKind kind;
    const Param *weight, *bias; /* bias may be NULL */
    bool transposed;            /* weight is stored [outputs, inputs] */
    const real *x, *dy;         /* [rows, inputs], [rows, outputs] */
    int rows, inputs, outputs;
    int stride;     /* numbers from a row of dy to the next */
    const int *ids; /* GRADIENT_LOOKUP */
    real *sum;      /* GRADIENT_SUM */
};

void weight_gradient_defer(Tape *tape, WeightGradient gradient);
/* Add the deferred gradients to the tape's gradient block, one product for each weight. A tape without a
 * block keeps them pending. */
void weight_gradients_finish(Tape *tape);
/* Where the rows of a GRADIENT_PRODUCT begin, as the operands of matmul_gradient for the weight as it is
 * stored. Returns the number of rows. */
int weight_gradient_rows(const WeightGradient *gradient, const real **a, const real **b);

#endif
