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
#include <string.h>

/* The arithmetic of everything in num, layers and models. Gradient checks compile it in double precision. */
#ifdef REAL_DOUBLE
typedef double real;
#else
typedef float real;
#endif

/* Memory of gradients, zeroed when the first of them is asked for: it comes into the caches then, and not
 * once before for nothing. */
typedef struct {
    real *at;
    size_t count;
    bool begun; /* is zeroed, or what is in it was written in another way */
} GradientRoom;

typedef struct Tensor {
    real *data;
    real *grad; /* same shape: tensor_gradient; NULL where no gradient is wanted */
    int rows, columns;
    GradientRoom *room; /* where grad lies, perhaps with others; NULL: what is there is not the tape's */
} Tensor;

static inline size_t tensor_size(const Tensor *x) { return (size_t)x->rows * (size_t)x->columns; }
static inline real *tensor_row(const Tensor *x, int row) {
    return x->data + (size_t)row * (size_t)x->columns;
}
/* The gradient, to be added to or read; where there is none, NULL. */
static inline real *tensor_gradient(const Tensor *x) {
    GradientRoom *room = x->room;
    if (room && !room->begun) {
        memset(room->at, 0, room->count * sizeof *room->at);
        room->begun = true;
    }
    return x->grad;
}
/* Has nobody asked for it, nor for others in its room? Who writes all of it then says that it is begun. */
static inline bool tensor_gradient_is_fresh(const Tensor *x) {
    return x->room && !x->room->begun && x->room->count == tensor_size(x);
}
static inline real *tensor_grad_row(const Tensor *x, int row) {
    return tensor_gradient(x) + (size_t)row * (size_t)x->columns;
}

#endif
