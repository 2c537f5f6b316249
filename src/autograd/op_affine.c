/* op_affine.c - x W + b: the op that does most of the arithmetic. */
#include <assert.h>
#include "kern/kern.h"
#include "autograd/op_table.h"
#include "autograd/matmul.h"
#include "autograd/tapes.h"

typedef struct {
    const Param *weight, *bias;
    bool transposed, add; /* add: y holds a base to add to */
} Affine;

static void add_bias(const Tape *tape, const Node *node) {
    const Affine *a = node->data;
    Tensor *y = node->out;
    if (!a->bias) return;
    const real *bias = param_data(tape->params, a->bias);
    for (int r = 0; r < y->rows; r++) kern->add((size_t)y->columns, bias, tensor_row(y, r));
}

static void defer_gradient(Tape *tape, const Node *node) {
    const Affine *a = node->data;
    const Tensor *x = node->in[0], *y = node->out;
    weight_gradient_defer(tape, (WeightGradient){.kind = GRADIENT_PRODUCT,
                                                 .weight = a->weight,
                                                 .bias = a->bias,
                                                 .transposed = a->transposed,
                                                 .x = x->data,
                                                 .dy = tensor_gradient(y),
                                                 .rows = x->rows,
                                                 .inputs = x->columns,
                                                 .outputs = y->columns,
                                                 .stride = y->columns});
}

/* y = x W, or d x += d y W^T. */
static MatmulRows operands(const Node *node, bool back) {
    const Tensor *x = node->in[0], *y = node->out;
    if (back) return (MatmulRows){y->rows, tensor_gradient(y), y->columns, tensor_gradient(x), x->columns};
    return (MatmulRows){x->rows, x->data, x->columns, y->data, y->columns};
}

/* Returns whether the gradients of all inputs are still zero: then the product sets them. */
static bool begin_gradients(const Node *const *nodes, int count) {
    for (int i = 0; i < count; i++)
        if (!tensor_gradient_is_zero(nodes[i]->in[0])) return false;
    bool is_zero = true;
    for (int i = 0; i < count; i++) tensor_gradient_begin(nodes[i]->in[0], &is_zero);
    return is_zero;
}

const Param *op_affine_weight(const Node *node) { return ((const Affine *)node->data)->weight; }

void op_affine_batched(Tape *const *tapes, const Node *const *nodes, int count, bool back) {
    const Affine *first = nodes[0]->data;
    MatmulRows rows[TAPES_MAX] = {{0}};
    bool accumulate = back ? !begin_gradients(nodes, count) : first->add;
    for (int i = 0; i < count; i++) {
        const Affine *a = nodes[i]->data;
        assert(a->weight == first->weight && a->transposed == first->transposed && a->add == first->add);
        (void)a;
        rows[i] = operands(nodes[i], back);
    }
    if (!back || nodes[0]->in[0]->grad)
        matmul_batched(tapes[0], first->weight, first->transposed != back, rows, count, accumulate);
    for (int i = 0; i < count; i++)
        if (back)
            defer_gradient(tapes[i], nodes[i]);
        else
            add_bias(tapes[i], nodes[i]);
}

void op_affine_forward(Tape *tape, const Node *node) {
    const Affine *a = node->data;
    MatmulRows rows = operands(node, false);
    matmul_weight(tape, a->weight, a->transposed, &rows, a->add);
    add_bias(tape, node);
}
void op_affine_backward(Tape *tape, const Node *node) { op_affine_batched(&tape, &node, 1, true); }

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
