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

/* y [M, N] (+)= x [M, K] W, where the weight is [K, N], or [N, K] if transposed; through its packed copy if
 * there is one. */
void matmul_weight(const Tape *tape, const Param *weight, bool transposed, int M, const real *x, int ldx,
                   real *y, int ldy, bool accumulate);
/* The same for parts, TAPES_TOGETHER at most, that lie apart from each other: one product, which reads the
 * weight once, as far as the kernels can. */
typedef struct {
    int rows;
    const real *x; /* [rows, K] */
    int ldx;
    real *y; /* [rows, N] */
    int ldy;
} MatmulRows;
void matmul_batched(Tape *tape, const Param *weight, bool transposed, const MatmulRows *parts, int count,
                    bool accumulate);
/* dw [M, N] += a [rows, M]^T b [rows, N], of rows that lie anywhere: row r begins at a[r] + a0, b[r] + b0. */
void matmul_gradient(const Tape *tape, int M, int N, int rows, const real *const *a, int a0,
                     const real *const *b, int b0, real *dw, int lddw);

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
