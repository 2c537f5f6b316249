/* op_table.h - the table of ops, for the tape and op_*.c; models use ops.h.
 *
 * Adding an op: a row here; its functions op_<name>, op_<name>_forward and op_<name>_backward side by side in
 * an op_*.c; op_<name> in ops.h. The gradient checks fail until it has a case.
 */
#ifndef AUTOGRAD_OP_TABLE_H
#define AUTOGRAD_OP_TABLE_H

#include "kern/kern.h"
#include "autograd/ops.h"

#define OP_TABLE(ROW)                                                                                        \
    ROW(AFFINE, affine)                                                                                      \
    ROW(ADD, add)                                                                                            \
    ROW(TANH, tanh)                                                                                          \
    ROW(SCALE, scale)                                                                                        \
    ROW(ACTIVATION, activation)                                                                              \
    ROW(GLU, glu)                                                                                            \
    ROW(DROPOUT, dropout)                                                                                    \
    ROW(RELU, relu)                                                                                          \
    ROW(RESIDUAL, residual)                                                                                  \
    ROW(DROPOUT_WEIGHTS, dropout_weights)                                                                    \
    ROW(LAYER_NORM, layer_norm)                                                                              \
    ROW(UNIT_ROWS, unit_rows)                                                                                \
    ROW(HALF_SQUARE, half_square)                                                                            \
    ROW(CONCAT, concat)                                                                                      \
    ROW(GATHER, gather)                                                                                      \
    ROW(EMBEDDING, embedding)                                                                                \
    ROW(SEGMENT_MEAN, segment_mean)                                                                          \
    ROW(GRU, gru)                                                                                            \
    ROW(LSTM, lstm)                                                                                          \
    ROW(SSRU, ssru)                                                                                          \
    ROW(SCORE_ADDITIVE, score_additive)                                                                      \
    ROW(SCORE_DOT, score_dot)                                                                                \
    ROW(SCORE_POSITION, score_position)                                                                      \
    ROW(MASKED_SOFTMAX, masked_softmax)                                                                      \
    ROW(CONTEXT, context)                                                                                    \
    ROW(CROSS_ENTROPY, cross_entropy)

#define OP_ID(NAME, name) OP_##NAME,
typedef enum { OP_TABLE(OP_ID) OP_COUNT } OpId;

#define NODE_INPUTS 4

/* One call of an op. */
struct Node {
    Node *previous, *next;
    OpId op;
    Tensor *in[NODE_INPUTS], *out; /* a second result is among the inputs */
    const void *data;              /* the op's own record, in the arena */
};

typedef struct {
    const char *name;
    void (*forward)(Tape *tape, const Node *node);  /* computes the numbers of node->out */
    void (*backward)(Tape *tape, const Node *node); /* adds to the tensor_gradient of inputs that have one */
} Op;

extern const Op OPS[OP_COUNT];

#define OP_FUNCTIONS(NAME, name)                                                                             \
    void op_##name##_forward(Tape *tape, const Node *node);                                                  \
    void op_##name##_backward(Tape *tape, const Node *node);
OP_TABLE(OP_FUNCTIONS)

/* For tapes.h: op_affine of several tapes of a thread, forward or backward, as one product by their common
 * weight. */
const Param *op_affine_weight(const Node *node);
void op_affine_batched(Tape *const *tapes, const Node *const *nodes, int count, bool back);
/* The same for op_cross_entropy, forward, on tapes without a gradient block. */
void op_cross_entropy_batched(Tape *const *tapes, const Node *const *nodes, int count);

/* The queries from `row` on whose keys begin at the same row, and one head of these keys. */
AttendedKeys spans_attended(const Spans *spans, int row, int heads, const Tensor *keys);

/* Run `node` and keep a copy of it if the tape records. Only for op functions. */
Tensor *tape_run(Tape *tape, Node node);
/* The same for an op of one input whose result has the input's shape. */
Tensor *tape_run_same_shape(Tape *tape, OpId op, Tensor *x, const void *data);

#endif
