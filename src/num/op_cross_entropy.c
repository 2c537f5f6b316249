/* op_cross_entropy.c - output layer, softmax and loss, a block of rows at a time. */
#include <assert.h>
#include "num/kern.h"
#include "num/op_table.h"
#include "num/product.h"

enum { BLOCK = 256 }; /* rows whose logits are in memory at once */

typedef struct {
    const Param *weight, *bias;
    const int *targets;
    double smoothing, scale;
    CrossEntropy *result;
} Loss;

/* Rows of logits begin at multiples of 16 numbers, where the kernels store fastest. */
static int row_stride(int V) { return (V + 15) / 16 * 16; }

/* One row: logits become the gradient, as long as they are in the cache. */
static void loss_of_row(const Tape *tape, const Loss *loss, int row, real *logits) {
    size_t V = (size_t)loss->weight->rows;
    double nll;
    if (loss->bias) kern->add(V, param_data(tape->params, loss->bias), logits);
    loss->result->loss +=
        kern->cross_entropy(V, logits, loss->targets[row], (real)loss->smoothing, (real)loss->scale, &nll);
    loss->result->likelihood += nll;
}

void op_cross_entropy_forward(Tape *tape, const Node *node) {
    const Loss *loss = node->data;
    const Tensor *x = node->in[0];
    int V = loss->weight->rows, E = loss->weight->columns, block = x->rows < BLOCK ? x->rows : BLOCK,
        stride = row_stride(V);
    real *logits = tape_alloc(tape, (size_t)block * (size_t)stride * sizeof *logits);
    for (int first = 0; first < x->rows; first += BLOCK) {
        int rows = x->rows - first < BLOCK ? x->rows - first : BLOCK;
        product_with_weight(tape, loss->weight, true, rows, tensor_row(x, first), E, logits, stride, false);
        for (int r = 0; r < rows; r++)
            loss_of_row(tape, loss, first + r, logits + (size_t)r * (size_t)stride);
        if (!tape->record) continue;
        Phase before = tape_phase(tape, PHASE_OUTPUT_BACKWARD);
        product_with_weight(tape, loss->weight, false, rows, logits, stride, tensor_grad_row(x, first), E,
                            true);
        tape_phase(tape, PHASE_WEIGHT_GRADIENTS);
        product_for_gradient(tape, V, E, rows, logits, stride, tensor_row(x, first),
                             tape->grads + loss->weight->offset);
        for (int r = 0; loss->bias && r < rows; r++)
            kern->add((size_t)V, logits + (size_t)r * (size_t)stride, tape->grads + loss->bias->offset);
        tape_phase(tape, before);
    }
    node->out->data[0] = (real)(loss->scale * loss->result->loss);
}

/* Everything was done while the logits were at hand. */
void op_cross_entropy_backward(Tape *tape, const Node *node) {
    (void)tape;
    (void)node;
}

Tensor *op_cross_entropy(Tape *tape, Tensor *x, const Param *weight, const Param *bias, const int *targets,
                         double smoothing, double scale, CrossEntropy *result) {
    assert(x->columns == weight->columns && (!bias || bias->columns == weight->rows));
    *result = (CrossEntropy){0};
    Loss *loss = tape_alloc(tape, sizeof *loss);
    *loss = (Loss){weight, bias, targets, smoothing, scale, result};
    return tape_run(tape,
                    (Node){.op = OP_CROSS_ENTROPY, .in = {x}, .out = tape_tensor(tape, 1, 1), .data = loss});
}
