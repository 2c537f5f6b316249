/* tensor.h - a matrix somewhere in memory, and where its gradient goes.
 *
 * Shapes  data [rows, columns], row-major, no gap between rows. Sequences and batches are rows: padding is
 *         never stored.
 * Owner   nobody frees a Tensor: activations live in the arena of the tape that made them, weights in a
 *         ParamSet
 */
#ifndef NUM_TENSOR_H
#define NUM_TENSOR_H

#include <stdbool.h>
#include <stddef.h>

/* The arithmetic of everything in num, layers and models. Gradient checks compile it in double precision. */
#ifdef REAL_DOUBLE
typedef double real;
#else
typedef float real;
#endif

typedef struct Tensor {
    real *data;
    real *grad; /* same shape, accumulated into; NULL where no gradient is wanted */
    int rows, columns;
} Tensor;

static inline size_t tensor_size(const Tensor *x) { return (size_t)x->rows * (size_t)x->columns; }
static inline real *tensor_row(const Tensor *x, int row) {
    return x->data + (size_t)row * (size_t)x->columns;
}
static inline real *tensor_grad_row(const Tensor *x, int row) {
    return x->grad + (size_t)row * (size_t)x->columns;
}

#endif
