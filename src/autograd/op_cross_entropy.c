/* op_cross_entropy.c - output layer, softmax and loss of many rows at a time.
 *
 * The logits are the largest thing in a training. Where they are wanted to the end, because the gradient of
 * the output layer waits, those of all rows of several tapes are made together; where they are not, a block
 * of rows is made, used, and its memory serves the next block. */
#include <assert.h>
#include <string.h>
#include "kern/kern.h"
#include "autograd/op_table.h"
#include "autograd/matmul.h"
#include "autograd/tapes.h"

enum { BLOCK = 256 }; /* rows of a product, and those whose logits are in memory at once if they can be few */

typedef struct {
    LossOptions options;
    const int *targets;
    CrossEntropy *result;
} Loss;

/* Rows of x whose logits are in memory, those of all parts one after the other. */
typedef struct {
    Tape *tape;
    const Loss *loss;
    const Tensor *x;
    int first, rows;
    real *logits;
} Part;

/* Rows of logits begin at multiples of 16 numbers, where the kernels store fastest. */
static int row_stride(int V) { return (V + 15) / 16 * 16; }

static size_t logits_size(const Loss *loss, int rows) {
    return (size_t)rows * (size_t)row_stride(loss->options.weight->rows);
}

static real *logits_new(Tape *tape, const Loss *loss, int rows) {
    return tape_alloc(tape, logits_size(loss, rows) * sizeof(real));
}

static real *row_of(const Part *part, int r) { return part->logits + logits_size(part->loss, r); }

/* Are the logits, as gradients, still wanted when the pass is over? */
static bool is_kept(const Tape *tape) { return tape->record && !tape->grads; }

/* The logits become `scale` times the gradient. A row is added to the bias's gradient while it is in the
 * cache. */
static void loss_of_part(const Part *part) {
    const Loss *loss = part->loss;
    const LossOptions *o = &loss->options;
    Tape *tape = part->tape;
    size_t V = (size_t)o->weight->rows;
    real *d_bias = o->bias && tape->record ? tape_gradient(tape, o->bias) : NULL;
    for (int r = 0; r < part->rows; r++) {
        real *logits = row_of(part, r);
        double nll;
        if (o->bias) kern->add(V, param_data(tape->params, o->bias), logits);
        loss->result->loss += kern->cross_entropy(V, logits, loss->targets[part->first + r],
                                                  (real)o->label_smoothing, (real)o->scale, &nll);
        loss->result->likelihood += nll;
        if (d_bias) kern->add(V, logits, d_bias);
    }
}

/* ---- several parts at a time --------------------------------------------------------------------------- */

static real *numbers_of(const Part *part, bool gradient) {
    size_t offset = (size_t)part->first * (size_t)part->x->columns;
    return (gradient ? tensor_gradient(part->x) : part->x->data) + offset;
}

/* The rows of x, or their gradients, one after the other: where they are, if there is one part, or copied. */
static real *gather_rows(const Part *parts, int count, int rows, bool gradient) {
    if (count == 1) return numbers_of(parts, gradient);
    size_t columns = (size_t)parts->x->columns;
    real *all = tape_alloc(parts->tape, (size_t)rows * columns * sizeof *all), *to = all;
    for (int i = 0; i < count; to += (size_t)parts[i++].rows * columns)
        memcpy(to, numbers_of(&parts[i], gradient), (size_t)parts[i].rows * columns * sizeof *to);
    return all;
}

static void scatter_gradients(const Part *parts, int count, const real *all) {
    size_t columns = (size_t)parts->x->columns;
    if (count == 1) return;
    for (int i = 0; i < count; all += (size_t)parts[i++].rows * columns)
        memcpy(numbers_of(&parts[i], true), all, (size_t)parts[i].rows * columns * sizeof *all);
}

/* All rows through the output layer, without its bias, or their gradients back out of it. */
static void multiply(const Part *parts, int rows, real *x, bool back) {
    const Param *weight = parts->loss->options.weight;
    int E = weight->columns, stride = row_stride(weight->rows);
    for (int first = 0, n; first < rows; first += n) {
        n = rows - first < BLOCK ? rows - first : BLOCK;
        real *at = x + (size_t)first * (size_t)E, *logits = row_of(parts, first);
        if (back)
            matmul_weight(parts->tape, weight, false, &(MatmulRows){n, logits, stride, at, E}, true);
        else
            matmul_weight(parts->tape, weight, true, &(MatmulRows){n, at, E, logits, stride}, false);
    }
}

/* What the gradients of these logits are for the weight of the output layer. */
static void defer_gradient(const Part *part) {
    const Param *weight = part->loss->options.weight;
    gradient_defer(part->tape, (WeightGradient){.kind = GRADIENT_PRODUCT,
                                                .weight = weight,
                                                .transposed = true,
                                                .x = numbers_of(part, false),
                                                .dy = part->logits,
                                                .rows = part->rows,
                                                .inputs = weight->columns,
                                                .outputs = weight->rows,
                                                .stride = row_stride(weight->rows)});
    if (part->tape->grads) gradients_finish(part->tape); /* the logits' memory serves the next rows */
}

static void pass_back(const Part *parts, int count, int rows) {
    if (!parts->tape->record) return;
    real *gradients = gather_rows(parts, count, rows, true);
    multiply(parts, rows, gradients, true);
    scatter_gradients(parts, count, gradients);
    for (int i = 0; i < count; i++) defer_gradient(&parts[i]);
}

static void run_parts(Part *parts, int count, real *logits) {
    int rows = 0;
    for (int i = 0; i < count; rows += parts[i++].rows)
        parts[i].logits = logits + logits_size(parts->loss, rows);
    multiply(parts, rows, gather_rows(parts, count, rows, false), false);
    for (int i = 0; i < count; i++) loss_of_part(&parts[i]);
    pass_back(parts, count, rows);
}

static Part part_of(Tape *tape, const Node *node, int first, int rows) {
    return (Part){tape, node->data, node->in[0], first, rows, NULL};
}

/* ---- the op -------------------------------------------------------------------------------------------- */

static void end_loss(const Node *node) {
    const Loss *loss = node->data;
    node->out->data[0] = (real)(loss->options.scale * loss->result->loss);
}

void op_cross_entropy_batched(Tape *const *tapes, const Node *const *nodes, int count) {
    Part parts[TAPES_MAX];
    int rows = 0;
    const Loss *loss = nodes[0]->data;
    for (int i = 0; i < count; rows += parts[i++].rows) {
        parts[i] = part_of(tapes[i], nodes[i], 0, nodes[i]->in[0]->rows);
        assert(is_kept(tapes[i]) && parts[i].loss->options.weight == loss->options.weight);
    }
    run_parts(parts, count, logits_new(tapes[0], loss, rows));
    for (int i = 0; i < count; i++) end_loss(nodes[i]);
}

void op_cross_entropy_forward(Tape *tape, const Node *node) {
    if (is_kept(tape)) {
        op_cross_entropy_batched(&tape, &node, 1);
        return;
    }
    int n = node->in[0]->rows, most = n < BLOCK ? n : BLOCK;
    real *logits = logits_new(tape, node->data, most);
    for (int first = 0; first < n; first += most) {
        Part part = part_of(tape, node, first, n - first < most ? n - first : most);
        run_parts(&part, 1, logits);
    }
    end_loss(node);
}

/* The forward pass has made the gradients, while it had the logits. */
void op_cross_entropy_backward(Tape *tape, const Node *node) {
    (void)tape;
    (void)node;
}

Tensor *op_cross_entropy(Tape *tape, Tensor *x, const int *targets, const LossOptions *options,
                         CrossEntropy *result) {
    assert(x->columns == options->weight->columns);
    assert(!options->bias || options->bias->columns == options->weight->rows);
    Loss *loss = tape_alloc(tape, sizeof *loss);
    *loss = (Loss){*options, targets, result};
    return tape_run(tape,
                    (Node){.op = OP_CROSS_ENTROPY, .in = {x}, .out = tape_tensor(tape, 1, 1), .data = loss});
}
