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

/* Memory of gradients. Each is zeroed when it is first asked for, or set by who would add to it: it comes
 * into the caches then, and not once before for nothing. */
typedef struct {
    real *at;
    size_t first, end; /* the numbers between them were asked for; none at first */
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
/* Zeros up to these numbers of the room, where nobody has asked for any. */
static inline void gradient_room_zero(GradientRoom *room, size_t first, size_t end) {
    if (room->first == room->end) room->first = room->end = first;
    if (first < room->first) {
        memset(room->at + first, 0, (room->first - first) * sizeof *room->at);
        room->first = first;
    }
    if (end > room->end) {
        memset(room->at + room->end, 0, (end - room->end) * sizeof *room->at);
        room->end = end;
    }
}
/* The gradient, to be added to or read; where there is none, NULL. */
static inline real *tensor_gradient(const Tensor *x) {
    if (x->grad && x->room) {
        size_t first = (size_t)(x->grad - x->room->at);
        gradient_room_zero(x->room, first, first + tensor_size(x));
    }
    return x->grad;
}
/* Has nobody asked for any of it? */
static inline bool tensor_gradient_is_fresh(const Tensor *x) {
    if (!x->grad || !x->room) return false;
    size_t first = (size_t)(x->grad - x->room->at);
    return first + tensor_size(x) <= x->room->first || first >= x->room->end;
}
/* The gradient, to be added to or, if `*fresh`, set: all of it. */
static inline real *tensor_gradient_begin(const Tensor *x, bool *fresh) {
    *fresh = tensor_gradient_is_fresh(x);
    if (!*fresh) return tensor_gradient(x);
    GradientRoom *room = x->room;
    size_t first = (size_t)(x->grad - room->at), end = first + tensor_size(x);
    if (room->first == room->end) {
        room->first = first, room->end = end;
    } else if (end <= room->first) {
        gradient_room_zero(room, end, end);
        room->first = first;
    } else {
        gradient_room_zero(room, first, first);
        room->end = end;
    }
    return x->grad;
}
static inline real *tensor_grad_row(const Tensor *x, int row) {
    return tensor_gradient(x) + (size_t)row * (size_t)x->columns;
}

#endif
