/* matmul.h - the products of a model: rows times a weight, and the gradient of a weight.
 *
 * Gradients of affine maps are put off until tape_backward is at its end: those of all steps are then one
 * product.
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

/* y (+)= x W, where the weight W is [K, N], or [N, K] if transposed. Uses the weight's packed copy if there is
 * one. `accumulate`: add to y instead of setting it. */
void matmul_weight(const Tape *tape, const Param *weight, bool transposed, const MatmulRows *rows,
                   bool accumulate);
/* The same for several blocks of rows, TAPES_MAX at most, as one product, which reads the weight once if
 * the kernels can. */
void matmul_batched(Tape *tape, const Param *weight, bool transposed, const MatmulRows *blocks, int count,
                    bool accumulate);

/* A block of a weight's gradient: dw [M, N] += A [rows, M]^T B [rows, N]. */
typedef struct {
    int M, N, rows;
    const real *const *a,
        *const *b; /* [rows] row r of A begins at a[r] + a_column, that of B at b[r] + b_column */
    int a_column, b_column;
    real *dw;
    int lddw;
} MatmulGradient;

void matmul_gradient(const Tape *tape, const MatmulGradient *gradient);

/* The kernel of the library that trainings depend on, for messages; "none": they do all of it themselves. */
const char *matmul_library(void);
/* gemm_self_test, where it matters. */
Status matmul_self_test(int threads);

typedef enum {
    GRADIENT_PRODUCT, /* x^T dy, for a weight, and the column sums of dy, for its bias */
    GRADIENT_LOOKUP,  /* row r of dy, for row ids[r] of a table, if that is not negative */
    GRADIENT_SUM      /* what ops have added up themselves */
} GradientKind;

/* Still to be added to the gradient of a parameter. */
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

void gradient_defer(Tape *tape, WeightGradient gradient);
/* A tape with a gradient block adds what was put off, one product for each weight; one without keeps it. */
void gradients_finish(Tape *tape);
/* Where the rows of a GRADIENT_PRODUCT begin, for matmul_gradient of the weight as it is stored; returns
 * how many they are. */
int gradient_rows(const WeightGradient *gradient, const real **a, const real **b);

#endif
