/* op_lstm.c - the gates of one LSTM step, all in one pass over memory. */
#include <assert.h>
#include "num/kern.h"
#include "num/op_rows.h"

typedef struct {
    Tensor *next; /* the second result: what the cell holds now */
    real *saved;  /* gates [n, 4H], when recording */
} Lstm;

void lstm_forward(Tape *tape, const Node *node) {
    const Lstm *l = node->data;
    const Tensor *gx = node->in[0], *gh = node->in[1], *c = node->in[2];
    (void)tape;
    kern->lstm_forward(c->rows, c->columns, gx->data, gh->data, c->data, node->out->data, l->next->data,
                       l->saved);
}

void lstm_backward(Tape *tape, const Node *node) {
    const Lstm *l = node->data;
    const Tensor *gx = node->in[0], *gh = node->in[1], *c = node->in[2];
    (void)tape;
    kern->lstm_backward(c->rows, c->columns, c->data, l->next->data, l->saved, node->out->grad, l->next->grad,
                        gx->grad, gh->grad, c->grad);
}

Tensor *op_lstm(Tape *tape, Tensor *gx, Tensor *gh, Tensor *c, Tensor **next) {
    assert(gx->rows == c->rows && gh->rows == c->rows);
    assert(gx->columns == 4 * c->columns && gh->columns == 4 * c->columns);
    Lstm *l = tape_alloc(tape, sizeof *l);
    *l = (Lstm){.next = tape_tensor(tape, c->rows, c->columns)};
    if (tape->record) l->saved = tape_alloc(tape, 4 * tensor_size(c) * sizeof *l->saved);
    *next = l->next;
    return tape_run(
        tape,
        (Node){.op = OP_LSTM, .in = {gx, gh, c}, .out = tape_tensor(tape, c->rows, c->columns), .data = l});
}
