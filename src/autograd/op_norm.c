/* op_norm.c - ops that need the length or spread of each row: layer normalization, unit rows, squares. */
#include <assert.h>
#include <math.h>
#include "kern/kern.h"
#include "autograd/op_table.h"

typedef struct {
    const Param *gain, *bias;
    double epsilon;
    real *stats; /* [rows, 2] */
} LayerNorm;

void op_layer_norm_forward(Tape *tape, const Node *node) {
    const LayerNorm *l = node->data;
    const Tensor *x = node->in[0];
    kern->layer_norm_forward(x->rows, x->columns, x->data, param_data(tape->params, l->gain),
                             param_data(tape->params, l->bias), l->epsilon, node->out->data, l->stats);
}
void op_layer_norm_backward(Tape *tape, const Node *node) {
    const LayerNorm *l = node->data;
    const Tensor *x = node->in[0];
    assert(x->grad);
    kern->layer_norm_backward(x->rows, x->columns, x->data, param_data(tape->params, l->gain), l->stats,
                              tensor_gradient(node->out), tensor_gradient(x), tape_gradient(tape, l->gain),
                              tape_gradient(tape, l->bias));
}
Tensor *op_layer_norm(Tape *tape, Tensor *x, const Param *gain, const Param *bias, double epsilon) {
    assert(gain->columns == x->columns && bias->columns == x->columns);
    LayerNorm *l = tape_alloc(tape, sizeof *l);
    *l = (LayerNorm){gain, bias, epsilon, tape_alloc(tape, 2 * (size_t)x->rows * sizeof(real))};
    return tape_run_same_shape(tape, OP_LAYER_NORM, x, l);
}

/* 1 / |x|, or 0 for a row of zeros. */
static real inverse_length(size_t n, const real *x) {
    double square = kern->sum_squares(n, x);
    return square == 0 ? 0 : (real)(1 / sqrt(square));
}

void op_unit_rows_forward(Tape *tape, const Node *node) {
    const Tensor *x = node->in[0], *y = node->out;
    size_t n = (size_t)x->columns;
    (void)tape;
    for (int r = 0; r < x->rows; r++)
        kern->scale(n, inverse_length(n, tensor_row(x, r)), tensor_row(x, r), tensor_row(y, r));
}
/* Only the component of the gradient at right angles to the row counts. */
void op_unit_rows_backward(Tape *tape, const Node *node) {
    const Tensor *x = node->in[0], *y = node->out;
    size_t n = (size_t)x->columns;
    (void)tape;
    if (!x->grad) return;
    for (int r = 0; r < x->rows; r++) {
        real scale = inverse_length(n, tensor_row(x, r));
        real along = kern->dot(n, tensor_row(y, r), tensor_grad_row(y, r));
        kern->axpy(n, scale, tensor_grad_row(y, r), tensor_grad_row(x, r));
        kern->axpy(n, -scale * along, tensor_row(y, r), tensor_grad_row(x, r));
    }
}
Tensor *op_unit_rows(Tape *tape, Tensor *x) { return tape_run_same_shape(tape, OP_UNIT_ROWS, x, NULL); }

void op_half_square_forward(Tape *tape, const Node *node) {
    const Tensor *x = node->in[0];
    (void)tape;
    for (int r = 0; r < x->rows; r++)
        node->out->data[r] = (real)(-0.5 * kern->sum_squares((size_t)x->columns, tensor_row(x, r)));
}
void op_half_square_backward(Tape *tape, const Node *node) {
    const Tensor *x = node->in[0];
    (void)tape;
    if (!x->grad) return;
    for (int r = 0; r < x->rows; r++)
        kern->axpy((size_t)x->columns, -tensor_gradient(node->out)[r], tensor_row(x, r),
                   tensor_grad_row(x, r));
}
Tensor *op_half_square(Tape *tape, Tensor *x) {
    return tape_run(tape, (Node){.op = OP_HALF_SQUARE, .in = {x}, .out = tape_step_tensor(tape, x->rows, 1)});
}
