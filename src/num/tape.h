/* tape.h - running a model and, when recording, remembering how to run it backwards.
 *
 * Calling an op function computes its result at once. On a recording tape it also appends a node that points to the row
 * {name, forward, backward} of the op table (ops.h); tape_backward walks the nodes in reverse. On a tape that does not
 * record nothing is kept beyond the results.
 *
 * Sequences. A recurrent network calls the same ops once per time step. Between tape_step_begin and tape_step_end the
 * k-th tape_step_tensor of each step is a slice of the k-th buffer of the whole sequence: tape_whole gives all steps of a
 * step's tensor as one matrix, so that what follows (output layer, weight gradients) is one large product.
 *
 * Weight gradients of affine maps are put off to the end of tape_backward, where those of all steps are one product.
 *
 * Owner   tensors live in the tape's arena until tape_reset; the gradient block belongs to the caller
 * Threads a tape belongs to one thread
 */
#ifndef NUM_TAPE_H
#define NUM_TAPE_H

#include <stdint.h>
#include "base/arena.h"
#include "num/params.h"
#include "num/profile.h"
#include "num/tensor.h"

typedef struct Node Node;
typedef struct TapeSequence TapeSequence;

/* One product X^T dY that is still to be added to a weight's gradient, and the column sums of dY to its bias's. */
typedef struct {
    const Param *weight, *bias; /* bias may be NULL */
    bool transposed;            /* weight is stored [outputs, inputs] */
    const real *x, *dy;
    int rows, inputs, outputs;
} WeightGradient;

typedef struct Tape {
    Arena *arena;
    bool record;            /* keep nodes and give tensors gradients */
    bool training;          /* dropout is active */
    const ParamSet *params; /* where parameters are read */
    real *grads;            /* gradient block of the ParamSet's layout, added to; NULL if not recording */
    void *scratch;          /* working memory of products */
    uint64_t dropout_key;   /* seed and update, mixed */
    Node *last;             /* the newest node; each points to the one before it */
    WeightGradient *pending;
    size_t pending_count, pending_capacity;
    TapeSequence *sequence; /* the one that is open, or NULL */
    Profile *profile;       /* of the thread that uses the tape, or NULL: nobody wants to know */
} Tape;

Tape *tape_new(const ParamSet *params, bool record);
void tape_free(Tape *tape);
void tape_reset(Tape *tape); /* forget all nodes and tensors */

/* A new tensor, with zeroed gradient on a recording tape; data is not zeroed. */
Tensor *tape_tensor(Tape *tape, int rows, int columns);
Tensor *tape_tensor_zeroed(Tape *tape, int rows, int columns);
/* The same for a result that has a row for each row that the op is about. Inside a step these are the step's rows, and the
 * result is a slice of the sequence's buffer; any other number of rows is a bug there. */
Tensor *tape_step_tensor(Tape *tape, int rows, int columns);
/* Rows first..first+rows-1 of x, sharing its memory. */
Tensor *tape_rows(Tape *tape, const Tensor *x, int first, int rows);
/* The same numbers and gradients seen as another shape; rows * columns must agree. */
Tensor *tape_reshape(Tape *tape, const Tensor *x, int rows, int columns);
Tensor *tape_param(Tape *tape, const Param *param);
void *tape_alloc(Tape *tape, size_t bytes); /* arena memory for saved values and indices */

void tape_sequence_begin(Tape *tape, int total_rows);
void tape_step_begin(Tape *tape, int first_row, int rows);
void tape_step_end(Tape *tape);
/* All rows of the sequence for a tape_step_tensor made inside a step. */
Tensor *tape_whole(Tape *tape, const Tensor *step);
void tape_sequence_end(Tape *tape);

/* From here on the work belongs to this phase of the profile, if there is one; returns the phase before, to go back
 * to. */
static inline Phase tape_phase(const Tape *tape, Phase phase) {
    return tape->profile ? profile_enter(tape->profile, phase) : phase;
}
/* Count the arithmetic of a product [M, K] x [K, N]. */
static inline void tape_count_product(const Tape *tape, int M, int N, int K) {
    if (tape->profile) profile_count_flops(tape->profile, 2.0 * M * N * K);
}

/* Gradients of everything that was recorded, given that the gradient of the outputs is already in their grad. */
void tape_backward(Tape *tape);

#endif
