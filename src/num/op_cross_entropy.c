/* op_cross_entropy.c - output layer, softmax and loss, a block of rows at a time. */
#include <assert.h>
#include <string.h>
#include "num/kern.h"
#include "num/op_table.h"
#include "num/product.h"

enum { BLOCK = 256 }; /* rows whose logits are in memory at once */

typedef struct {
    const Param *weight, *bias;
    const int *targets;
    double smoothing, scale, rdrop;
    const real *teacher; /* [rows, V], of which `share` is learned */
    double share;
    CrossEntropy *result;
} Loss;

/* Rows of logits begin at multiples of 16 numbers, where the kernels store fastest. */
static int row_stride(int V) { return (V + 15) / 16 * 16; }

static void add_bias(const Tape *tape, const Loss *loss, real *logits) {
    if (loss->bias) kern->add((size_t)loss->weight->rows, param_data(tape->params, loss->bias), logits);
}

/* One row: logits become `scale` times the gradient, as long as they are in the cache. */
static void loss_of_row(const Loss *loss, int target, double scale, real *logits, CrossEntropy *sum) {
    double nll;
    sum->loss += kern->cross_entropy((size_t)loss->weight->rows, logits, target, (real)loss->smoothing,
                                     (real)scale, &nll);
    sum->likelihood += nll;
}

/* Rows first .. first + rows - 1 of x into the output layer, without its bias. */
static void make_logits(Tape *tape, const Loss *loss, const Tensor *x, int first, int rows, real *logits) {
    product_with_weight(tape, loss->weight, true, rows, tensor_row(x, first), x->columns, logits,
                        row_stride(loss->weight->rows), false);
}

/* And their gradient back out of it. */
static void pass_back(Tape *tape, const Loss *loss, const Tensor *x, int first, int rows, real *logits) {
    int V = loss->weight->rows, E = loss->weight->columns, stride = row_stride(V);
    if (!tape->record) return;
    Phase before = tape_phase(tape, PHASE_OUTPUT_BACKWARD);
    product_with_weight(tape, loss->weight, false, rows, logits, stride, tensor_grad_row(x, first), E, true);
    tape_phase(tape, PHASE_WEIGHT_GRADIENTS);
    product_defer_gradient(tape, (WeightGradient){.kind = GRADIENT_PRODUCT,
                                                  .weight = loss->weight,
                                                  .transposed = true,
                                                  .x = tensor_row(x, first),
                                                  .dy = logits,
                                                  .rows = rows,
                                                  .inputs = E,
                                                  .outputs = V,
                                                  .stride = stride});
    if (tape->grads) product_end_gradients(tape); /* the logits' memory serves the next rows */
    real *d_bias = loss->bias ? tape_gradient(tape, loss->bias) : NULL;
    for (int r = 0; d_bias && r < rows; r++)
        kern->add((size_t)V, logits + (size_t)r * (size_t)stride, d_bias);
    tape_phase(tape, before);
}

static real *logits_new(Tape *tape, const Loss *loss, int rows) {
    return tape_alloc(tape, (size_t)rows * (size_t)row_stride(loss->weight->rows) * sizeof(real));
}

/* Are the logits, as gradients, still wanted when the pass is over? */
static bool is_kept(const Tape *tape) { return tape->record && !tape->grads; }

/* The same where a teacher's distribution q has a share of the loss; `p` has room for another row. */
static void loss_of_pupil(const Loss *loss, int target, const real *q, real *logits, real *p) {
    size_t V = (size_t)loss->weight->rows;
    double share = loss->share, scale = loss->scale, known = (double)kern->dot(V, q, logits);
    CrossEntropy label = {0};
    memcpy(p, logits, V * sizeof *p);
    double taught = (double)kern->softmax(V, p) - known; /* log p is a logit less log sum exp */
    loss_of_row(loss, target, (1 - share) * scale, logits, &label);
    kern->axpy(V, (real)(share * scale), p, logits);
    kern->axpy(V, (real)(-share * scale), q, logits);
    loss->result->loss += (1 - share) * label.loss + share * taught;
    loss->result->likelihood += label.likelihood;
}

/* A block of rows at a time, each row by itself. */
static void loss_by_rows(Tape *tape, const Node *node) {
    const Loss *loss = node->data;
    const Tensor *x = node->in[0];
    size_t V = (size_t)loss->weight->rows, stride = (size_t)row_stride(loss->weight->rows);
    real *logits = NULL, *p = loss->teacher ? logits_new(tape, loss, 1) : NULL;
    for (int first = 0; first < x->rows; first += BLOCK) {
        int rows = x->rows - first < BLOCK ? x->rows - first : BLOCK;
        if (!logits || is_kept(tape)) logits = logits_new(tape, loss, rows);
        make_logits(tape, loss, x, first, rows, logits);
        for (int r = first; r < first + rows; r++) {
            real *row = logits + (size_t)(r - first) * stride;
            add_bias(tape, loss, row);
            if (loss->teacher)
                loss_of_pupil(loss, loss->targets[r], loss->teacher + (size_t)r * V, row, p);
            else
                loss_of_row(loss, loss->targets[r], loss->scale, row, loss->result);
        }
        pass_back(tape, loss, x, first, rows, logits);
    }
    node->out->data[0] = (real)(loss->scale * loss->result->loss);
}

void op_cross_entropy_forward(Tape *tape, const Node *node) { loss_by_rows(tape, node); }

/* Every op of this file: `loss` is copied, its sums begin at 0. */
static Tensor *run_loss(Tape *tape, OpId op, Tensor *x, Loss loss) {
    assert(x->columns == loss.weight->columns);
    assert(!loss.bias || loss.bias->columns == loss.weight->rows);
    *loss.result = (CrossEntropy){0};
    Loss *kept = tape_alloc(tape, sizeof *kept);
    *kept = loss;
    return tape_run(tape, (Node){.op = op, .in = {x}, .out = tape_tensor(tape, 1, 1), .data = kept});
}

/* Everything was done while the logits were at hand. */
void op_cross_entropy_backward(Tape *tape, const Node *node) {
    (void)tape;
    (void)node;
}

Tensor *op_cross_entropy(Tape *tape, Tensor *x, const Param *weight, const Param *bias, const int *targets,
                         double smoothing, double scale, CrossEntropy *result) {
    Loss loss = {.weight = weight,
                 .bias = bias,
                 .targets = targets,
                 .smoothing = smoothing,
                 .scale = scale,
                 .result = result};
    return run_loss(tape, OP_CROSS_ENTROPY, x, loss);
}

/* ---- two views of each token --------------------------------------------------------------------------- */

/* A token's two rows of logits become gradients; its share of the divergence's is made in da and db. */
static void loss_of_twins(const Tape *tape, const Loss *loss, int target, real *a, real *b, real *da,
                          real *db) {
    size_t V = (size_t)loss->weight->rows;
    CrossEntropy both = {0};
    add_bias(tape, loss, a);
    add_bias(tape, loss, b);
    double divergence = kern->divergence(V, a, b, da, db);
    loss_of_row(loss, target, loss->scale / 2, a, &both);
    loss_of_row(loss, target, loss->scale / 2, b, &both);
    kern->axpy(V, (real)(loss->scale * loss->rdrop / 4), da, a);
    kern->axpy(V, (real)(loss->scale * loss->rdrop / 4), db, b);
    loss->result->loss += both.loss / 2 + loss->rdrop / 4 * divergence;
    loss->result->likelihood += both.likelihood / 2;
}

void op_twin_cross_entropy_forward(Tape *tape, const Node *node) {
    const Loss *loss = node->data;
    const Tensor *x = node->in[0];
    size_t stride = (size_t)row_stride(loss->weight->rows);
    int n = x->rows / 2, most = n < BLOCK / 2 ? n : BLOCK / 2;
    real *a = NULL, *b = NULL;
    real *da = logits_new(tape, loss, 1), *db = logits_new(tape, loss, 1);
    for (int first = 0; first < n; first += most) {
        int rows = n - first < most ? n - first : most;
        if (!a || is_kept(tape)) a = logits_new(tape, loss, rows), b = logits_new(tape, loss, rows);
        make_logits(tape, loss, x, first, rows, a);
        make_logits(tape, loss, x, n + first, rows, b);
        for (int r = 0; r < rows; r++)
            loss_of_twins(tape, loss, loss->targets[first + r], a + (size_t)r * stride,
                          b + (size_t)r * stride, da, db);
        pass_back(tape, loss, x, first, rows, a);
        pass_back(tape, loss, x, n + first, rows, b);
    }
    node->out->data[0] = (real)(loss->scale * loss->result->loss);
}

void op_twin_cross_entropy_backward(Tape *tape, const Node *node) {
    (void)tape;
    (void)node;
}

Tensor *op_twin_cross_entropy(Tape *tape, Tensor *x, const Param *weight, const Param *bias,
                              const int *targets, double smoothing, double scale, double rdrop,
                              CrossEntropy *result) {
    assert(x->rows % 2 == 0);
    Loss loss = {.weight = weight,
                 .bias = bias,
                 .targets = targets,
                 .smoothing = smoothing,
                 .scale = scale,
                 .rdrop = rdrop,
                 .result = result};
    return run_loss(tape, OP_TWIN_CROSS_ENTROPY, x, loss);
}

/* ---- a teacher ----------------------------------------------------------------------------------------- */

void op_taught_cross_entropy_forward(Tape *tape, const Node *node) { loss_by_rows(tape, node); }

void op_taught_cross_entropy_backward(Tape *tape, const Node *node) {
    (void)tape;
    (void)node;
}

Tensor *op_taught_cross_entropy(Tape *tape, Tensor *x, const Param *weight, const Param *bias,
                                const int *targets, const real *teacher, double share, double smoothing,
                                double scale, CrossEntropy *result) {
    Loss loss = {.weight = weight,
                 .bias = bias,
                 .targets = targets,
                 .smoothing = smoothing,
                 .scale = scale,
                 .teacher = teacher,
                 .share = share,
                 .result = result};
    return run_loss(tape, OP_TAUGHT_CROSS_ENTROPY, x, loss);
}
