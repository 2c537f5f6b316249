/* tape.h - running a model and, when recording, remembering how to run it backwards.
 *
 * Calling an op function computes its result at once. On a recording tape it also appends a node that points
 * to the row {name, forward, backward} of the op table (op_table.h); tape_backward walks the nodes in
 * reverse. On a tape that does not record nothing is kept beyond the results.
 *
 * Sequences. A recurrent network calls the same ops once per time step. Between tape_step_begin and
 * tape_step_end the k-th tape_step_tensor of each step is a slice of the k-th buffer of the whole sequence:
 * tape_whole gives all steps of a step's tensor as one matrix, so that what follows (output layer, weight
 * gradients) is one large product.
 *
 * Weight gradients of affine maps wait for the end of tape_backward, where those of all steps are one
 * product. A tape without a gradient block keeps all that parameters are to get, for whoever adds it later
 * (gradients.h).
 *
 * A tape that waits puts ops off: several such tapes, branches of one, run side by side (tapes.h). What is
 * computed may be read only then.
 *
 * Owner   tensors live in the tape's arena until tape_reset; the gradient block belongs to the caller
 * Threads a tape belongs to one thread
 */
#ifndef AUTOGRAD_TAPE_H
#define AUTOGRAD_TAPE_H

#include <stdint.h>
#include "base/arena.h"
#include "autograd/params.h"
#include "kern/tensor.h"

typedef struct Node Node;
typedef struct TapeSequence TapeSequence;
typedef struct Activations Activations;
typedef struct WeightGradient WeightGradient; /* autograd/matmul.h */

typedef struct Tape {
    Arena *arena;
    bool record;             /* keep nodes and give tensors gradients */
    bool training;           /* dropout is active */
    bool deferred;           /* ops are kept and not run, before tapes.h runs them */
    const ParamSet *params;  /* where parameters are read */
    real *grads;             /* gradient block of the ParamSet's layout, added to; NULL: kept for later */
    void *scratch;           /* working memory of products */
    uint64_t dropout_key;    /* seed and update, mixed */
    Node *first, *last;      /* the oldest and the newest node */
    WeightGradient *pending; /* put off to the end of tape_backward, or kept */
    size_t pending_count, pending_capacity;
    TapeSequence *sequence;   /* the one that is open, or NULL */
    void *gather_buffer;      /* on the arena: rows gathered for batched products (matmul.c) */
    size_t gather_size;       /* its bytes */
    Activations *activations; /* autograd/activations.h, or NULL */
} Tape;

Tape *tape_new(const ParamSet *params, bool record);
void tape_free(Tape *tape);
void tape_reset(Tape *tape); /* forget all nodes and tensors */
/* A tape without nodes that waits, on the memory of another one, which must outlive what is on it; for the
 * same thread. All zeros before the first time; tape_deferred_free releases what it has of its own. */
void tape_deferred_init(Tape *branch, const Tape *from);
void tape_deferred_free(Tape *branch);

/* A new tensor, on a recording tape with a gradient (tensor_gradient); data is not zeroed. */
Tensor *tape_tensor(Tape *tape, int rows, int columns);
Tensor *tape_tensor_zeroed(Tape *tape, int rows, int columns);
Tensor *tape_tensor_filled(Tape *tape, int rows, int columns, real value);
/* One of the shape of x whose gradient is that of x, if x has one: who made x finds there what both get. */
Tensor *tape_tensor_sharing(Tape *tape, const Tensor *x);
/* A tape_tensor for the result of an op that works row by row. Inside a step that is a slice of the
 * sequence's buffer, and must have the step's rows; what is not one row for each of them, such as scores, is
 * a tape_tensor. */
Tensor *tape_step_tensor(Tape *tape, int rows, int columns);
/* Rows first..first+rows-1 of x, sharing its memory. */
Tensor *tape_rows(Tape *tape, const Tensor *x, int first, int rows);
/* The same numbers and gradients seen as another shape; rows * columns must agree. */
Tensor *tape_reshape(Tape *tape, const Tensor *x, int rows, int columns);
/* Where an op adds to the gradient of a small parameter. What is multiplied or looked up: matmul.h. */
real *tape_gradient(Tape *tape, const Param *param);
void *tape_alloc(Tape *tape, size_t bytes); /* arena memory for saved values and indices */

void tape_sequence_begin(Tape *tape, int total_rows);
void tape_step_begin(Tape *tape, int first_row, int rows);
void tape_step_end(Tape *tape);
/* All rows of the sequence for a tape_step_tensor made inside a step. */
Tensor *tape_whole(Tape *tape, const Tensor *step);
void tape_sequence_end(Tape *tape);

/* Gradients of everything that was recorded; that of the outputs is in their tensor_gradient already. */
void tape_backward(Tape *tape);
void tape_end_backward(Tape *tape); /* its end, when all nodes were passed: weight gradients */

#endif
