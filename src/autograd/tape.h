/* tape.h - runs a model and, if it records, its backward pass.
 *
 * Calling an op function computes its result at once. On a recording tape it also appends a node that
 * points to the row {name, forward, backward} of the op table (op_table.h); tape_backward walks the nodes
 * in reverse. A tape that does not record keeps only the results.
 *
 * Sequences. A recurrent network calls the same ops once per time step. Between tape_step_begin and
 * tape_step_end the k-th tape_step_tensor of each step is a slice of the k-th buffer of the whole sequence:
 * tape_all_steps gives all steps of a step's tensor as one matrix, so that the output layer and the weight
 * gradients are one large product each.
 *
 * Weight gradients of affine maps are deferred to the end of tape_backward, where those of all steps become
 * one product. A tape without a gradient block keeps all pending parameter gradients for gradients.h.
 *
 * A deferred tape does not run its ops at once: tapes.h runs several deferred tapes side by side. Until
 * then their results must not be read.
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
    bool record;            /* keep nodes, and give tensors gradients */
    bool training;          /* dropout is active */
    bool deferred;          /* ops do not run at once: tapes.h runs them */
    const ParamSet *params; /* where parameters are read */
    real *grads;   /* gradient block of the ParamSet's layout, added to; NULL: gradients stay pending */
    void *scratch; /* working memory of products */
    uint64_t dropout_key;    /* hash of seed and update number: TrainingBatch.seed_update */
    Node *first, *last;      /* the oldest and the newest node */
    WeightGradient *pending; /* deferred to the end of tape_backward, or for gradients.h */
    size_t pending_count, pending_capacity;
    TapeSequence *sequence;   /* the one that is open, or NULL */
    void *gather_buffer;      /* on the arena: rows gathered for batched products (matmul.c) */
    size_t gather_size;       /* its bytes */
    Activations *activations; /* autograd/activations.h, or NULL */
} Tape;

Tape *tape_new(const ParamSet *params, bool record);
void tape_free(Tape *tape);
void tape_reset(Tape *tape); /* forget all nodes and tensors */
/* Make *tape an empty deferred tape on the arena and working memory of `owner`, which must outlive its
 * results; both belong to the same thread. *tape is zeroed before the first call and may be reused;
 * tape_deferred_free releases its own memory. */
void tape_deferred_init(Tape *tape, const Tape *owner);
void tape_deferred_free(Tape *tape);

/* A new tensor, on a recording tape with a gradient (tensor_gradient); data is not zeroed. */
Tensor *tape_tensor(Tape *tape, int rows, int columns);
Tensor *tape_tensor_zeroed(Tape *tape, int rows, int columns);
Tensor *tape_tensor_filled(Tape *tape, int rows, int columns, real value);
/* A tensor of the shape of x that shares the gradient of x, if x has one: the op that made x gets the sum of
 * both. */
Tensor *tape_tensor_sharing(Tape *tape, const Tensor *x);
/* A tape_tensor for the result of an op that works row by row. Inside a step it is a slice of the sequence's
 * buffer, and must have the step's rows. A result without one row for each of them, such as scores, is a
 * tape_tensor. */
Tensor *tape_step_tensor(Tape *tape, int rows, int columns);
/* Rows first..first+rows-1 of x, sharing its memory. */
Tensor *tape_rows(Tape *tape, const Tensor *x, int first, int rows);
/* A view of x with another shape; rows * columns must agree. */
Tensor *tape_reshape(Tape *tape, const Tensor *x, int rows, int columns);
/* The gradient of a small parameter, for an op to add to. Weights and tables: weight_gradient_defer
 * (matmul.h). */
real *tape_gradient(Tape *tape, const Param *param);
void *tape_alloc(Tape *tape, size_t bytes); /* arena memory for saved values and indices */

void tape_sequence_begin(Tape *tape, int total_rows);
void tape_step_begin(Tape *tape, int first_row, int rows);
void tape_step_end(Tape *tape);
/* All rows of the sequence for a tape_step_tensor made inside a step. */
Tensor *tape_all_steps(Tape *tape, const Tensor *step);
void tape_sequence_end(Tape *tape);

/* Compute the gradients of all recorded nodes. The caller has set the gradients of the outputs. */
void tape_backward(Tape *tape);
void tape_end_backward(Tape *tape); /* its last part, after all nodes: weight gradients */

#endif
