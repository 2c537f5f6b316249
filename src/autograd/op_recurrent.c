/* op_recurrent.c - the gates of one step of a GRU or an LSTM, all in one pass over memory. */
#include <assert.h>
#include "kern/kern.h"
#include "autograd/op_table.h"

static GateGradients gate_gradients(const Tensor *gx, const Tensor *gh) {
    GateGradients d = {0};
    d.gx = tensor_gradient_begin(gx, &d.sets_gx);
    d.gh = tensor_gradient_begin(gh, &d.sets_gh);
    return d;
}

void op_gru_forward(Tape *tape, const Node *node) {
    const Tensor *gx = node->in[0], *gh = node->in[1], *h = node->in[2];
    (void)tape;
    kern->gru_forward(h->rows, h->columns, gx->data, gh->data, h->data, node->out->data, (real *)node->data);
}

void op_gru_backward(Tape *tape, const Node *node) {
    const Tensor *gx = node->in[0], *gh = node->in[1], *h = node->in[2];
    (void)tape;
    assert(gx->grad && gh->grad && h->grad);
    GateGradients d = gate_gradients(gx, gh);
    kern->gru_backward(h->rows, h->columns, gh->data, h->data, node->data, tensor_gradient(node->out), &d,
                       tensor_gradient(h));
}

Tensor *op_gru(Tape *tape, Tensor *gx, Tensor *gh, Tensor *h) {
    assert(gx->rows == h->rows && gh->rows == h->rows);
    assert(gx->columns == 3 * h->columns && gh->columns == 3 * h->columns);
    real *saved = tape->record ? tape_alloc(tape, 3 * tensor_size(h) * sizeof *saved) : NULL;
    return tape_run(tape, (Node){.op = OP_GRU,
                                 .in = {gx, gh, h},
                                 .out = tape_step_tensor(tape, h->rows, h->columns),
                                 .data = saved});
}

void op_lstm_forward(Tape *tape, const Node *node) {
    const Tensor *gx = node->in[0], *gh = node->in[1], *c = node->in[2], *next = node->in[3];
    (void)tape;
    kern->lstm_forward(c->rows, c->columns, gx->data, gh->data, c->data, node->out->data, next->data,
                       (real *)node->data);
}

void op_lstm_backward(Tape *tape, const Node *node) {
    const Tensor *gx = node->in[0], *gh = node->in[1], *c = node->in[2], *next = node->in[3];
    (void)tape;
    GateGradients d = gate_gradients(gx, gh);
    kern->lstm_backward(c->rows, c->columns, c->data, next->data, node->data, tensor_gradient(node->out),
                        tensor_gradient(next), &d, tensor_gradient(c));
}

Tensor *op_lstm(Tape *tape, Tensor *gx, Tensor *gh, Tensor *c, Tensor **next) {
    assert(gx->rows == c->rows && gh->rows == c->rows);
    assert(gx->columns == 4 * c->columns && gh->columns == 4 * c->columns);
    real *saved = tape->record ? tape_alloc(tape, 4 * tensor_size(c) * sizeof *saved) : NULL; /* gates */
    *next = tape_step_tensor(tape, c->rows, c->columns); /* the new cell state */
    return tape_run(tape, (Node){.op = OP_LSTM,
                                 .in = {gx, gh, c, *next},
                                 .out = tape_step_tensor(tape, c->rows, c->columns),
                                 .data = saved});
}
