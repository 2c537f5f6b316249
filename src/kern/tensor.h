/* tensor.h - a matrix and its gradient.
 *
 * Shapes  data [rows, columns], row-major, without gaps between rows. Sequences and batches are rows; there
 *         is no padding
 * Owner   the arena of a tape owns activations, a ParamSet owns weights
 */
#ifndef KERN_TENSOR_H
#define KERN_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The number type of kernels, ops, layers and models. Gradient checks compile them in double precision. */
#ifdef REAL_DOUBLE
typedef double real;
#else
typedef float real;
#endif

/* Memory of gradients, cleared lazily: the first op that adds to a gradient clears or sets it, so that it is
 * loaded into the caches once.
 *
 *     at   ? ? ? ? | 0.3 0.1 0 -0.2 | ? ? ?        ?: not set yet, counts as 0
 *                  first            end
 */
typedef struct {
    real *at;
    size_t first, end; /* the valid range; empty at first */
} GradBuffer;

typedef struct Tensor {
    real *data;
    real *grad; /* same shape: read it through tensor_gradient; NULL: no gradient */
    int rows, columns;
    GradBuffer *grad_buffer; /* contains grad, and perhaps others; NULL: the tape does not own grad */
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
/* The gradient, to read or to add to; NULL if there is none. */
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
/* The gradient, to add to or, if *is_zero, to set: the caller must then set all of it. */
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
