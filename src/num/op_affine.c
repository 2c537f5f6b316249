/* op_affine.c - x W + b: the op that does most of the arithmetic. */
#include <assert.h>
#include "num/kern.h"
#include "num/op_table.h"
#include "num/product.h"

typedef struct {
    const Param *weight, *bias;
    bool transposed, add; /* add: to what is in y already */
} Affine;

void op_affine_forward(Tape *tape, const Node *node) {
    const Affine *a = node->data;
    Tensor *x = node->in[0], *y = node->out;
    product_with_weight(tape, a->weight, a->transposed, x->rows, x->data, x->columns, y->data, y->columns,
                        a->add);
    if (!a->bias) return;
    const real *bias = param_data(tape->params, a->bias);
    for (int r = 0; r < y->rows; r++) kern->add((size_t)y->columns, bias, tensor_row(y, r));
}

void op_affine_backward(Tape *tape, const Node *node) {
    const Affine *a = node->data;
    Tensor *x = node->in[0], *y = node->out;
    if (x->grad)
        product_with_weight(tape, a->weight, !a->transposed, y->rows, y->grad, y->columns, x->grad,
                            x->columns, true);
    product_defer_gradient(tape, (WeightGradient){.kind = GRADIENT_PRODUCT,
                                                  .weight = a->weight,
                                                  .bias = a->bias,
                                                  .transposed = a->transposed,
                                                  .x = x->data,
                                                  .dy = y->grad,
                                                  .rows = x->rows,
                                                  .inputs = x->columns,
                                                  .outputs = y->columns,
                                                  .stride = y->columns});
}

Tensor *op_affine(Tape *tape, Tensor *x, const Param *weight, const Param *bias, Tensor *base,
                  bool transposed) {
    int K = transposed ? weight->columns : weight->rows, N = transposed ? weight->rows : weight->columns;
    assert(x->columns == K && (!bias || bias->columns == N));
    assert(!base || (base->rows == x->rows && base->columns == N));
    Affine *a = tape_alloc(tape, sizeof *a);
    *a = (Affine){weight, bias, transposed, base != NULL};
    Tensor *y = base ? base : tape_step_tensor(tape, x->rows, N);
    return tape_run(tape, (Node){.op = OP_AFFINE, .in = {x}, .out = y, .data = a});
}
