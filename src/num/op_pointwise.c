/* op_pointwise.c - sums, multiples and nonlinearities: ops on single numbers. */
#include <assert.h>
#include <string.h>
#include "num/kern.h"
#include "num/op_table.h"

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

/* ---- y = f(x), where the derivative follows from y ---- */

static void apply(Tape *tape, const Node *node, void (*f)(size_t n, const real *x, real *y)) {
    (void)tape;
    f(tensor_size(node->out), node->in[0]->data, node->out->data);
}
static void apply_backward(Tape *tape, const Node *node,
                           void (*f)(size_t n, const real *y, const real *dy, real *dx)) {
    const Tensor *x = node->in[0], *y = node->out;
    (void)tape;
    if (x->grad) f(tensor_size(y), y->data, tensor_gradient(y), tensor_gradient(x));
}

void op_tanh_forward(Tape *tape, const Node *node) { apply(tape, node, kern->tanh); }
void op_tanh_backward(Tape *tape, const Node *node) { apply_backward(tape, node, kern->tanh_backward); }
Tensor *op_tanh(Tape *tape, Tensor *x) { return tape_run_same_shape(tape, OP_TANH, x, NULL); }

void op_sigmoid_forward(Tape *tape, const Node *node) { apply(tape, node, kern->sigmoid); }
void op_sigmoid_backward(Tape *tape, const Node *node) { apply_backward(tape, node, kern->sigmoid_backward); }
Tensor *op_sigmoid(Tape *tape, Tensor *x) { return tape_run_same_shape(tape, OP_SIGMOID, x, NULL); }

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
    real *kept = tape_alloc(tape, sizeof *kept);
    *kept = factor;
    return tape_run_same_shape(tape, OP_SCALE, x, kept);
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
