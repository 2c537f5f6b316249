/* tensor.h - a matrix somewhere in memory, and where its gradient goes.
 *
 * Shapes  data [rows, columns], row-major, no gap between rows. Sequences and batches are rows: padding is
 *         never stored.
 * Owner   nobody frees a Tensor: activations live in the arena of the tape that made them, weights in a
 *         ParamSet
 */
#ifndef KERN_TENSOR_H
#define KERN_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The arithmetic of everything in num, layers and models. Gradient checks compile it in double precision. */
#ifdef REAL_DOUBLE
typedef double real;
#else
typedef float real;
#endif

/* Memory of gradients, cleared lazily: the first op that adds to a gradient clears or sets it, so that it
 * comes into the caches once. */
typedef struct {
    real *at;
    size_t first, end; /* the numbers in this range are set, all others count as zeros; empty at first */
} GradBuffer;

typedef struct Tensor {
    real *data;
    real *grad; /* same shape: tensor_gradient; NULL where no gradient is wanted */
    int rows, columns;
    GradBuffer *grad_buffer; /* where grad lies, perhaps with others; NULL: the tape does not own it */
} Tensor;

static inline size_t tensor_size(const Tensor *x) { return (size_t)x->rows * (size_t)x->columns; }
static inline real *tensor_row(const Tensor *x, int row) {
    return x->data + (size_t)row * (size_t)x->columns;
}
/* Extend the valid range to first .. end - 1, with zeros. */
static inline void grad_buffer_zero(GradBuffer *buffer, size_t first, size_t end) {
    if (buffer->first == buffer->end) buffer->first = buffer->end = first;
    if (first < buffer->first) {
        memset(buffer->at + first, 0, (buffer->first - first) * sizeof *buffer->at);
        buffer->first = first;
    }
    if (end > buffer->end) {
        memset(buffer->at + buffer->end, 0, (end - buffer->end) * sizeof *buffer->at);
        buffer->end = end;
    }
}
/* The gradient, to be added to or read; where there is none, NULL. */
static inline real *tensor_gradient(const Tensor *x) {
    if (x->grad && x->grad_buffer) {
        size_t first = (size_t)(x->grad - x->grad_buffer->at);
        grad_buffer_zero(x->grad_buffer, first, first + tensor_size(x));
    }
    return x->grad;
}
/* Is all of it still zero, because no op has added to it? */
static inline bool tensor_gradient_is_zero(const Tensor *x) {
    if (!x->grad || !x->grad_buffer) return false;
    size_t first = (size_t)(x->grad - x->grad_buffer->at);
    return first + tensor_size(x) <= x->grad_buffer->first || first >= x->grad_buffer->end;
}
/* The gradient, to be added to or, if `*is_zero`, set: all of it. */
static inline real *tensor_gradient_begin(const Tensor *x, bool *is_zero) {
    *is_zero = tensor_gradient_is_zero(x);
    if (!*is_zero) return tensor_gradient(x);
    GradBuffer *buffer = x->grad_buffer;
    size_t first = (size_t)(x->grad - buffer->at), end = first + tensor_size(x);
    if (buffer->first == buffer->end) {
        buffer->first = first, buffer->end = end;
    } else if (end <= buffer->first) {
        grad_buffer_zero(buffer, end, end);
        buffer->first = first;
    } else {
        grad_buffer_zero(buffer, first, first);
        buffer->end = end;
    }
    return x->grad;
}
static inline real *tensor_grad_row(const Tensor *x, int row) {
    return tensor_gradient(x) + (size_t)row * (size_t)x->columns;
}

#endif
