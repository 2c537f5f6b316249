/* op_pointwise.c - sums, multiples and nonlinearities: ops on single numbers. */
#include <assert.h>
#include <string.h>
#include "kern/kern.h"
#include "autograd/op_table.h"

void op_add_forward(Tape *tape, const Node *node) {
    (void)tape;
    memcpy(node->out->data, node->in[0]->data, tensor_size(node->out) * sizeof(real));
    kern->add(tensor_size(node->out), node->in[1]->data, node->out->data);
}
void op_add_backward(Tape *tape, const Node *node) {
    (void)tape;
    for (int i = 0; i < 2; i++)
        if (node->in[i]->grad)
            kern->add(tensor_size(node->out), tensor_gradient(node->out), tensor_gradient(node->in[i]));
}
Tensor *op_add(Tape *tape, Tensor *a, Tensor *b) {
    assert(a->rows == b->rows && a->columns == b->columns);
    return tape_run(tape,
                    (Node){.op = OP_ADD, .in = {a, b}, .out = tape_step_tensor(tape, a->rows, a->columns)});
}

void op_tanh_forward(Tape *tape, const Node *node) {
    (void)tape;
    kern->tanh(tensor_size(node->out), node->in[0]->data, node->out->data);
}
void op_tanh_backward(Tape *tape, const Node *node) {
    const Tensor *x = node->in[0], *y = node->out;
    (void)tape;
    if (x->grad) kern->tanh_backward(tensor_size(y), y->data, tensor_gradient(y), tensor_gradient(x));
}
Tensor *op_tanh(Tape *tape, Tensor *x) { return tape_run_same_shape(tape, OP_TANH, x, NULL); }

/* ---- multiples and gates ---- */

void op_scale_forward(Tape *tape, const Node *node) {
    (void)tape;
    const real *factor = node->data;
    kern->scale(tensor_size(node->out), *factor, node->in[0]->data, node->out->data);
}
void op_scale_backward(Tape *tape, const Node *node) {
    (void)tape;
    const real *factor = node->data;
    if (node->in[0]->grad)
        kern->axpy(tensor_size(node->out), *factor, tensor_gradient(node->out), tensor_gradient(node->in[0]));
}
Tensor *op_scale(Tape *tape, Tensor *x, real factor) {
    real *on_tape = tape_alloc(tape, sizeof *on_tape);
    *on_tape = factor;
    return tape_run_same_shape(tape, OP_SCALE, x, on_tape);
}

void op_activation_forward(Tape *tape, const Node *node) {
    (void)tape;
    const ActivationFunction *f = node->data;
    kern->activation(*f, tensor_size(node->out), node->in[0]->data, node->out->data);
}
void op_activation_backward(Tape *tape, const Node *node) {
    (void)tape;
    const Tensor *x = node->in[0], *y = node->out;
    const ActivationFunction *f = node->data;
    if (x->grad)
        kern->activation_backward(*f, tensor_size(y), x->data, tensor_gradient(y), tensor_gradient(x));
}
Tensor *op_activation(Tape *tape, Tensor *x, ActivationFunction function, double p, uint32_t stream,
                      const uint32_t *row_keys) {
    if (function == ACTIVATION_RELU) return op_relu(tape, x, p, stream, row_keys);
    ActivationFunction *on_tape = tape_alloc(tape, sizeof *on_tape);
    *on_tape = function;
    Tensor *y = tape->record ? tape_step_tensor(tape, x->rows, x->columns) : x;
    y = tape_run(tape, (Node){.op = OP_ACTIVATION, .in = {x}, .out = y, .data = on_tape});
    return op_dropout(tape, y, p, stream, row_keys);
}

void op_glu_forward(Tape *tape, const Node *node) {
    (void)tape;
    kern->glu_forward(node->out->rows, node->out->columns, node->in[0]->data, node->out->data);
}
void op_glu_backward(Tape *tape, const Node *node) {
    (void)tape;
    const Tensor *x = node->in[0], *y = node->out;
    if (x->grad) kern->glu_backward(y->rows, y->columns, x->data, tensor_gradient(y), tensor_gradient(x));
}
Tensor *op_glu(Tape *tape, Tensor *x) {
    assert(x->columns % 2 == 0);
    return tape_run(tape,
                    (Node){.op = OP_GLU, .in = {x}, .out = tape_step_tensor(tape, x->rows, x->columns / 2)});
}
