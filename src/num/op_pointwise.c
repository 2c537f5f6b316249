/* op_pointwise.c - sums, nonlinearities, dropout, layer normalisation: ops on numbers or rows in place. */
#include <assert.h>
#include <string.h>
#include "base/rng.h"
#include "num/kern.h"
#include "num/op_rows.h"

void add_forward(Tape *tape, const Node *node) {
    (void)tape;
    memcpy(node->out->data, node->in[0]->data, tensor_size(node->out) * sizeof(real));
    kern->add(tensor_size(node->out), node->in[1]->data, node->out->data);
}
void add_backward(Tape *tape, const Node *node) {
    (void)tape;
    for (int i = 0; i < 2; i++)
        if (node->in[i]->grad) kern->add(tensor_size(node->out), node->out->grad, node->in[i]->grad);
}
Tensor *op_add(Tape *tape, Tensor *a, Tensor *b) {
    assert(a->rows == b->rows && a->columns == b->columns);
    return tape_run(tape, (Node){.op = OP_ADD, .in = {a, b}, .out = tape_tensor(tape, a->rows, a->columns)});
}

void tanh_forward(Tape *tape, const Node *node) {
    (void)tape;
    kern->tanh(tensor_size(node->out), node->in[0]->data, node->out->data);
}
void tanh_backward(Tape *tape, const Node *node) {
    (void)tape;
    const Tensor *x = node->in[0], *y = node->out;
    if (x->grad) kern->tanh_backward(tensor_size(y), y->data, y->grad, x->grad);
}
Tensor *op_tanh(Tape *tape, Tensor *x) {
    return tape_run(tape, (Node){.op = OP_TANH, .in = {x}, .out = tape_tensor(tape, x->rows, x->columns)});
}

void sigmoid_forward(Tape *tape, const Node *node) {
    (void)tape;
    kern->sigmoid(tensor_size(node->out), node->in[0]->data, node->out->data);
}
void sigmoid_backward(Tape *tape, const Node *node) {
    (void)tape;
    const Tensor *x = node->in[0], *y = node->out;
    if (x->grad) kern->sigmoid_backward(tensor_size(y), y->data, y->grad, x->grad);
}
Tensor *op_sigmoid(Tape *tape, Tensor *x) {
    return tape_run(tape, (Node){.op = OP_SIGMOID, .in = {x}, .out = tape_tensor(tape, x->rows, x->columns)});
}

/* ---- dropout: the mask is made twice rather than kept ------------------------------------------------------------------- */

typedef struct {
    uint64_t key;
    double p;
    const uint32_t *row_keys;
} Dropout;

void dropout_forward(Tape *tape, const Node *node) {
    const Dropout *d = node->data;
    const Tensor *x = node->in[0], *y = node->out;
    size_t n = (size_t)x->columns;
    real *mask = tape_alloc(tape, n * sizeof *mask);
    for (int r = 0; r < x->rows; r++) {
        kern->dropout_mask(n, d->key, d->row_keys[r], d->p, mask);
        kern->scale_mask(n, mask, tensor_row(x, r), tensor_row(y, r));
    }
}
void dropout_backward(Tape *tape, const Node *node) {
    const Dropout *d = node->data;
    const Tensor *x = node->in[0], *y = node->out;
    if (!x->grad) return;
    size_t n = (size_t)x->columns;
    real *mask = tape_alloc(tape, n * sizeof *mask);
    for (int r = 0; r < x->rows; r++) {
        kern->dropout_mask(n, d->key, d->row_keys[r], d->p, mask);
        kern->scale_mask_add(n, mask, tensor_grad_row(y, r), tensor_grad_row(x, r));
    }
}
Tensor *op_dropout(Tape *tape, Tensor *x, double p, uint32_t site, const uint32_t *row_keys) {
    if (!tape->training || p <= 0) return x;
    Dropout *d = tape_alloc(tape, sizeof *d);
    *d = (Dropout){rng_key(tape->dropout_key, site, 0, 0), p, row_keys};
    return tape_run(
        tape, (Node){.op = OP_DROPOUT, .in = {x}, .out = tape_tensor(tape, x->rows, x->columns), .data = d});
}

/* ---- layer normalisation -------------------------------------------------------------------------------------------- */

typedef struct {
    const Param *gain, *bias;
    real *stats; /* [rows, 2] */
} LayerNorm;

void layer_norm_forward(Tape *tape, const Node *node) {
    const LayerNorm *l = node->data;
    const Tensor *x = node->in[0];
    kern->layer_norm_forward(x->rows, x->columns, x->data, param_data(tape->params, l->gain),
                             param_data(tape->params, l->bias), node->out->data, l->stats);
}
void layer_norm_backward(Tape *tape, const Node *node) {
    const LayerNorm *l = node->data;
    const Tensor *x = node->in[0];
    assert(x->grad);
    kern->layer_norm_backward(x->rows, x->columns, x->data, param_data(tape->params, l->gain), l->stats,
                              node->out->grad, x->grad, tape->grads + l->gain->offset,
                              tape->grads + l->bias->offset);
}
Tensor *op_layer_norm(Tape *tape, Tensor *x, const Param *gain, const Param *bias) {
    assert(gain->columns == x->columns && bias->columns == x->columns);
    LayerNorm *l = tape_alloc(tape, sizeof *l);
    *l = (LayerNorm){gain, bias, tape_alloc(tape, 2 * (size_t)x->rows * sizeof(real))};
    return tape_run(
        tape,
        (Node){.op = OP_LAYER_NORM, .in = {x}, .out = tape_tensor(tape, x->rows, x->columns), .data = l});
}
