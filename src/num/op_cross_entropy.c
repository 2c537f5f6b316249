/* op_cross_entropy.c - output layer, softmax and loss, a block of rows at a time. */
#include <assert.h>
#include "num/gemm.h"
#include "num/kern.h"
#include "num/op_rows.h"

enum { BLOCK = 256 }; /* rows whose logits are in memory at once */

typedef struct {
    const Param *weight, *bias;
    const int *targets;
    double smoothing, scale;
    CrossEntropy *result;
} Loss;

static void make_logits(const Tape *tape, const Loss *loss, const real *x, int rows, real *logits) {
    int V = loss->weight->rows, E = loss->weight->columns;
    if (loss->weight->packed_transpose)
        kern->weights[tape->params->format].multiply(rows, V, E, x, E, loss->weight->packed_transpose, logits,
                                                     V, false, tape->scratch);
    else
        gemm(false, true, rows, V, E, x, param_data(tape->params, loss->weight), 0, logits);
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
        if (loss->weight->packed)
            kern->weights[tape->params->format].multiply(rows, E, V, logits, V, loss->weight->packed,
                                                         tensor_grad_row(x, first), E, true, tape->scratch);
        else
            gemm(false, false, rows, E, V, logits, param_data(tape->params, loss->weight), 1,
                 tensor_grad_row(x, first));
        gemm_add_outer(V, E, rows, logits, tensor_row(x, first), tape->grads + loss->weight->offset,
                       tape->scratch);
        if (loss->bias) kern->column_sums(rows, V, logits, tape->grads + loss->bias->offset);
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
