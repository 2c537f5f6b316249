/* op_gru.c - the gates of one GRU step, all in one pass over memory. */
#include <assert.h>
#include "num/kern.h"
#include "num/op_rows.h"

void gru_forward(Tape *tape, const Node *node) {
    const Tensor *gx = node->in[0], *gh = node->in[1], *h = node->in[2];
    (void)tape;
    kern->gru_forward(h->rows, h->columns, gx->data, gh->data, h->data, node->out->data, (real *)node->data);
}

void gru_backward(Tape *tape, const Node *node) {
    const Tensor *gx = node->in[0], *gh = node->in[1], *h = node->in[2];
    (void)tape;
    assert(gx->grad && gh->grad && h->grad);
    kern->gru_backward(h->rows, h->columns, gh->data, h->data, node->data, node->out->grad, gx->grad,
                       gh->grad, h->grad);
}

Tensor *op_gru(Tape *tape, Tensor *gx, Tensor *gh, Tensor *h) {
    assert(gx->rows == h->rows && gh->rows == h->rows);
    assert(gx->columns == 3 * h->columns && gh->columns == 3 * h->columns);
    real *saved = tape->record ? tape_alloc(tape, 3 * tensor_size(h) * sizeof *saved) : NULL;
    return tape_run(tape, (Node){.op = OP_GRU,
                                 .in = {gx, gh, h},
                                 .out = tape_tensor(tape, h->rows, h->columns),
                                 .data = saved});
}
