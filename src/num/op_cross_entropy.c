/* op_cross_entropy.c - output layer, softmax and loss, a block of rows at a time. */
#include <assert.h>
#include "num/kern.h"
#include "num/op_rows.h"
#include "num/product.h"

enum { BLOCK = 256 }; /* rows whose logits are in memory at once */

typedef struct {
    const Param *weight, *bias;
    const int *targets;
    double smoothing, scale;
    CrossEntropy *result;
} Loss;

static void make_logits(const Tape *tape, const Loss *loss, const real *x, int rows, real *logits) {
    int V = loss->weight->rows;
    product_with_weight(tape, loss->weight, true, rows, x, logits, false);
    if (!loss->bias) return;
    const real *bias = param_data(tape->params, loss->bias);
    for (int r = 0; r < rows; r++) kern->add((size_t)V, bias, logits + (size_t)r * (size_t)V);
}

void cross_entropy_forward(Tape *tape, const Node *node) {
    const Loss *loss = node->data;
    const Tensor *x = node->in[0];
    int V = loss->weight->rows, E = loss->weight->columns, block = x->rows < BLOCK ? x->rows : BLOCK;
    real *logits = tape_alloc(tape, (size_t)block * (size_t)V * sizeof *logits);
    for (int first = 0; first < x->rows; first += BLOCK) {
        int rows = x->rows - first < BLOCK ? x->rows - first : BLOCK;
        make_logits(tape, loss, tensor_row(x, first), rows, logits);
        for (int r = 0; r < rows; r++) {
            double nll;
            loss->result->loss +=
                kern->cross_entropy((size_t)V, logits + (size_t)r * (size_t)V, loss->targets[first + r],
                                    (real)loss->smoothing, (real)loss->scale, &nll);
            loss->result->likelihood += nll;
        }
        if (!tape->record) continue;
        Phase before = tape_phase(tape, PHASE_OUTPUT_BACKWARD);
        product_with_weight(tape, loss->weight, false, rows, logits, tensor_grad_row(x, first), true);
        tape_phase(tape, PHASE_WEIGHT_GRADIENTS);
        product_for_gradient(tape, V, E, rows, logits, tensor_row(x, first),
                             tape->grads + loss->weight->offset);
        if (loss->bias) kern->column_sums(rows, V, logits, tape->grads + loss->bias->offset);
        tape_phase(tape, before);
    }
    node->out->data[0] = (real)(loss->scale * loss->result->loss);
}

/* Everything was done while the logits were at hand. */
void cross_entropy_backward(Tape *tape, const Node *node) {
    (void)tape;
    (void)node;
}

Tensor *op_cross_entropy(Tape *tape, Tensor *x, const Param *weight, const Param *bias, const int *targets,
                         double smoothing, double scale, CrossEntropy *result) {
    assert(x->columns == weight->columns && (!bias || bias->columns == weight->rows));
    *result = (CrossEntropy){0};
    Loss *loss = tape_alloc(tape, sizeof *loss);
    *loss = (Loss){weight, bias, targets, smoothing, scale, result};
    return tape_run(
        tape, (Node){.op = OP_CROSS_ENTROPY, .in = {x}, .out = tape_tensor_apart(tape, 1, 1), .data = loss});
}
