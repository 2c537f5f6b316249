/* op_pointwise.c - sums, multiples and nonlinearities: ops on single numbers. */
#include <assert.h>
#include <string.h>
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

void relu_forward(Tape *tape, const Node *node) {
    (void)tape;
    kern->relu(tensor_size(node->out), node->in[0]->data, node->out->data);
}
void relu_backward(Tape *tape, const Node *node) {
    (void)tape;
    const Tensor *x = node->in[0], *y = node->out;
    if (x->grad) kern->relu_backward(tensor_size(y), y->data, y->grad, x->grad);
}
Tensor *op_relu(Tape *tape, Tensor *x) {
    return tape_run(tape, (Node){.op = OP_RELU, .in = {x}, .out = tape_tensor(tape, x->rows, x->columns)});
}

void scale_forward(Tape *tape, const Node *node) {
    (void)tape;
    const real *factor = node->data;
    kern->scale(tensor_size(node->out), *factor, node->in[0]->data, node->out->data);
}
void scale_backward(Tape *tape, const Node *node) {
    (void)tape;
    const real *factor = node->data;
    if (node->in[0]->grad) kern->axpy(tensor_size(node->out), *factor, node->out->grad, node->in[0]->grad);
}
Tensor *op_scale(Tape *tape, Tensor *x, real factor) {
    real *kept = tape_alloc(tape, sizeof *kept);
    *kept = factor;
    Tensor *y = tape_tensor(tape, x->rows, x->columns);
    return tape_run(tape, (Node){.op = OP_SCALE, .in = {x}, .out = y, .data = kept});
}

void glu_forward(Tape *tape, const Node *node) {
    (void)tape;
    kern->glu_forward(node->out->rows, node->out->columns, node->in[0]->data, node->out->data);
}
void glu_backward(Tape *tape, const Node *node) {
    (void)tape;
    const Tensor *x = node->in[0], *y = node->out;
    if (x->grad) kern->glu_backward(y->rows, y->columns, x->data, y->grad, x->grad);
}
Tensor *op_glu(Tape *tape, Tensor *x) {
    assert(x->columns % 2 == 0);
    return tape_run(tape, (Node){.op = OP_GLU, .in = {x}, .out = tape_tensor(tape, x->rows, x->columns / 2)});
}
