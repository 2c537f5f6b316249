/* op_recurrent.c - the gates of one step of a GRU or an LSTM, all in one pass over memory; whole sequences of
 * an SSRU, whose steps need no product. */
#include <assert.h>
#include <string.h>
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

/* ---- SSRU ---- */

typedef struct {
    const int *position;
    real *c; /* [n, H] */
} Ssru;

/* c of the step before row r; NULL: zeros. */
static const real *ssru_before(const Ssru *s, int r, size_t H) {
    return s->position[r] ? s->c + (size_t)(r - 1) * H : NULL;
}

void op_ssru_forward(Tape *tape, const Node *node) {
    const Ssru *s = node->data;
    const Tensor *gate = node->in[0], *x = node->in[1];
    size_t H = (size_t)x->columns;
    (void)tape;
    for (int r = 0; r < x->rows; r++)
        kern->ssru_forward(H, tensor_row(gate, r), tensor_row(x, r), ssru_before(s, r, H),
                           s->c + (size_t)r * H, tensor_row(node->out, r));
}

void op_ssru_backward(Tape *tape, const Node *node) {
    const Ssru *s = node->data;
    const Tensor *gate = node->in[0], *x = node->in[1], *out = node->out;
    size_t H = (size_t)x->columns;
    assert(gate->grad && x->grad);
    real *dc = tape_alloc(tape, H * sizeof *dc), *dout = tensor_gradient(out), *dgate = tensor_gradient(gate),
         *dx = tensor_gradient(x);
    memset(dc, 0, H * sizeof *dc);
    for (int r = x->rows - 1; r >= 0; r--) {
        size_t at = (size_t)r * H;
        kern->ssru_backward(H, gate->data + at, x->data + at, ssru_before(s, r, H), s->c + at, dout + at, dc,
                            dgate + at, dx + at);
        if (s->position[r] == 0) memset(dc, 0, H * sizeof *dc);
    }
}

Tensor *op_ssru(Tape *tape, Tensor *gate, Tensor *x, const int *position) {
    assert(gate->rows == x->rows && gate->columns == x->columns);
    Ssru *s = tape_alloc(tape, sizeof *s);
    *s = (Ssru){position, tape_alloc(tape, tensor_size(x) * sizeof(real))};
    return tape_run(
        tape,
        (Node){.op = OP_SSRU, .in = {gate, x}, .out = tape_tensor(tape, x->rows, x->columns), .data = s});
}

Tensor *op_ssru_step(Tape *tape, const Tensor *gate, const Tensor *x, const Tensor *before, Tensor **c) {
    assert(!tape->record && tensor_size(before) == tensor_size(x) && tensor_size(gate) == tensor_size(x));
    Tensor *out = tape_tensor(tape, x->rows, x->columns);
    *c = tape_tensor(tape, x->rows, x->columns);
    /* Row by row: in the last numbers of a call the compiler can fuse other products with sums, so that a
     * row would depend on its place in the batch. */
    for (int r = 0; r < x->rows; r++)
        kern->ssru_forward((size_t)x->columns, tensor_row(gate, r), tensor_row(x, r), tensor_row(before, r),
                           tensor_row(*c, r), tensor_row(out, r));
    return out;
}
