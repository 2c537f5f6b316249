/* op_cross_entropy.c - output layer, softmax and loss of many rows at a time.
 *
 * The logits are the largest tensor of training. If the gradient of the output layer is deferred, the
 * logits of all rows must stay in memory until the end, and those of several tapes are computed as one
 * product. Otherwise a block of rows is computed and used, and the next block reuses its memory. */
#include <assert.h>
#include <string.h>
#include "kern/kern.h"
#include "autograd/op_table.h"
#include "autograd/matmul.h"
#include "autograd/tapes.h"

enum { BLOCK = 256 }; /* rows of a product; rows whose logits are in memory at once, unless all must stay */

typedef struct {
    LossOptions options;
    const int *targets;
    CrossEntropy *result;
} Loss;

/* Rows of x of one tape. The logits of all blocks lie one after the other. */
typedef struct {
    Tape *tape;
    const Loss *loss;
    const Tensor *x;
    int first, rows;
    real *logits;
} RowBlock;

/* Rows of logits begin at multiples of 16 numbers, where the kernels store fastest. */
static int row_stride(int V) { return (V + 15) / 16 * 16; }

static size_t logits_size(const Loss *loss, int rows) {
    return (size_t)rows * (size_t)row_stride(loss->options.weight->rows);
}

static real *logits_new(Tape *tape, const Loss *loss, int rows) {
    return tape_alloc(tape, logits_size(loss, rows) * sizeof(real));
}

static real *row_of(const RowBlock *block, int r) { return block->logits + logits_size(block->loss, r); }

/* Must the logits, as gradients, stay in memory after the pass? */
static bool keeps_logits(const Tape *tape) { return tape->record && !tape->grads; }

/* The logits become `scale` times the gradient. A row is added to the bias's gradient while it is in the
 * cache. */
static void loss_of_block(const RowBlock *block) {
    const Loss *loss = block->loss;
    const LossOptions *o = &loss->options;
    Tape *tape = block->tape;
    size_t V = (size_t)o->weight->rows;
    real *d_bias = o->bias && tape->record ? tape_gradient(tape, o->bias) : NULL;
    for (int r = 0; r < block->rows; r++) {
        real *logits = row_of(block, r);
        double nll;
        if (o->bias) kern->add(V, param_data(tape->params, o->bias), logits);
        loss->result->loss += kern->cross_entropy(V, logits, loss->targets[block->first + r],
                                                  (real)o->label_smoothing, (real)o->scale, &nll);
        loss->result->likelihood += nll;
        if (d_bias) kern->add(V, logits, d_bias);
    }
}

/* ---- several blocks at a time ---- */

static real *numbers_of(const RowBlock *block, bool gradient) {
    size_t offset = (size_t)block->first * (size_t)block->x->columns;
    return (gradient ? tensor_gradient(block->x) : block->x->data) + offset;
}

/* The rows of x, or their gradients, as one matrix: in place if there is one block, otherwise a copy. */
static real *gather_rows(const RowBlock *blocks, int count, int rows, bool gradient) {
    if (count == 1) return numbers_of(blocks, gradient);
    size_t columns = (size_t)blocks->x->columns;
    real *all = tape_alloc(blocks->tape, (size_t)rows * columns * sizeof *all), *to = all;
    for (int i = 0; i < count; to += (size_t)blocks[i++].rows * columns)
        memcpy(to, numbers_of(&blocks[i], gradient), (size_t)blocks[i].rows * columns * sizeof *to);
    return all;
}

static void scatter_gradients(const RowBlock *blocks, int count, const real *all) {
    size_t columns = (size_t)blocks->x->columns;
    if (count == 1) return;
    for (int i = 0; i < count; all += (size_t)blocks[i++].rows * columns)
        memcpy(numbers_of(&blocks[i], true), all, (size_t)blocks[i].rows * columns * sizeof *all);
}

/* The product of the output layer, without its bias: forward, or backward from the gradients. */
static void multiply(const RowBlock *blocks, int rows, real *x, bool back) {
    const Param *weight = blocks->loss->options.weight;
    int E = weight->columns, stride = row_stride(weight->rows);
    for (int first = 0, n; first < rows; first += n) {
        n = rows - first < BLOCK ? rows - first : BLOCK;
        real *at = x + (size_t)first * (size_t)E, *logits = row_of(blocks, first);
        if (back)
            matmul_weight(blocks->tape, weight, false, &(MatmulRows){n, logits, stride, at, E}, true);
        else
            matmul_weight(blocks->tape, weight, true, &(MatmulRows){n, at, E, logits, stride}, false);
    }
}

/* The weight gradient of the output layer. */
static void defer_gradient(const RowBlock *block) {
    const Param *weight = block->loss->options.weight;
    weight_gradient_defer(block->tape, (WeightGradient){.kind = GRADIENT_PRODUCT,
                                                        .weight = weight,
                                                        .transposed = true,
                                                        .x = numbers_of(block, false),
                                                        .dy = block->logits,
                                                        .rows = block->rows,
                                                        .inputs = weight->columns,
                                                        .outputs = weight->rows,
                                                        .stride = row_stride(weight->rows)});
    if (block->tape->grads) weight_gradients_finish(block->tape); /* the next rows reuse the logits' memory */
}

static void pass_back(const RowBlock *blocks, int count, int rows) {
    if (!blocks->tape->record) return;
    real *gradients = gather_rows(blocks, count, rows, true);
    multiply(blocks, rows, gradients, true);
    scatter_gradients(blocks, count, gradients);
    for (int i = 0; i < count; i++) defer_gradient(&blocks[i]);
}

static void run_blocks(RowBlock *blocks, int count, real *logits) {
    int rows = 0;
    for (int i = 0; i < count; rows += blocks[i++].rows)
        blocks[i].logits = logits + logits_size(blocks->loss, rows);
    multiply(blocks, rows, gather_rows(blocks, count, rows, false), false);
    for (int i = 0; i < count; i++) loss_of_block(&blocks[i]);
    pass_back(blocks, count, rows);
}

static RowBlock row_block(Tape *tape, const Node *node, int first, int rows) {
    return (RowBlock){tape, node->data, node->in[0], first, rows, NULL};
}

/* ---- the op ---- */

static void end_loss(const Node *node) {
    const Loss *loss = node->data;
    node->out->data[0] = (real)(loss->options.scale * loss->result->loss);
}

void op_cross_entropy_batched(Tape *const *tapes, const Node *const *nodes, int count) {
    RowBlock blocks[TAPES_MAX];
    int rows = 0;
    const Loss *loss = nodes[0]->data;
    for (int i = 0; i < count; rows += blocks[i++].rows) {
        blocks[i] = row_block(tapes[i], nodes[i], 0, nodes[i]->in[0]->rows);
        assert(keeps_logits(tapes[i]) && blocks[i].loss->options.weight == loss->options.weight);
    }
    run_blocks(blocks, count, logits_new(tapes[0], loss, rows));
    for (int i = 0; i < count; i++) end_loss(nodes[i]);
}

void op_cross_entropy_forward(Tape *tape, const Node *node) {
    if (keeps_logits(tape)) {
        op_cross_entropy_batched(&tape, &node, 1);
        return;
    }
    int n = node->in[0]->rows, most = n < BLOCK ? n : BLOCK;
    real *logits = logits_new(tape, node->data, most);
    for (int first = 0; first < n; first += most) {
        RowBlock block = row_block(tape, node, first, n - first < most ? n - first : most);
        run_blocks(&block, 1, logits);
    }
    end_loss(node);
}

/* The forward pass has computed the gradients already, while the logits were in memory. */
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
