/* op_cross_entropy.c - output layer, softmax and loss of many rows at a time.
 *
 * The logits are the largest thing in a training. Where they are wanted to the end, because the gradient of
 * the output layer waits, those of all rows of several tapes are made together; where they are not, a block
 * of rows is made, used, and its memory serves the next block. */
#include <assert.h>
#include <string.h>
#include "num/kern.h"
#include "num/op_table.h"
#include "num/product.h"
#include "num/tapes.h"

enum { BLOCK = 256 }; /* rows of a product, and those whose logits are in memory at once if they can be few */

typedef struct {
    const Param *weight, *bias;
    const int *targets;
    bool twins; /* row i and row i + rows / 2 are two views of a token */
    double smoothing, scale, rdrop;
    const real *teacher; /* [rows, V], of which `share` is learned */
    double share;
    CrossEntropy *result;
} Loss;

/* Rows of x whose logits are in memory, those of all parts one after the other. Of twins there are two parts,
 * one view each. */
typedef struct {
    Tape *tape;
    const Loss *loss;
    const Tensor *x;
    int first, rows;
    real *logits;
} Part;

enum { PARTS_MOST = 2 * TAPES_TOGETHER };

/* Rows of logits begin at multiples of 16 numbers, where the kernels store fastest. */
static int row_stride(int V) { return (V + 15) / 16 * 16; }

static size_t logits_size(const Loss *loss, int rows) {
    return (size_t)rows * (size_t)row_stride(loss->weight->rows);
}

static real *logits_new(Tape *tape, const Loss *loss, int rows) {
    return tape_alloc(tape, logits_size(loss, rows) * sizeof(real));
}

static real *row_of(const Part *part, int r) { return part->logits + logits_size(part->loss, r); }

/* Are the logits, as gradients, still wanted when the pass is over? */
static bool is_kept(const Tape *tape) { return tape->record && !tape->grads; }

static void add_bias(const Part *part, real *logits) {
    const Loss *loss = part->loss;
    if (loss->bias) kern->add((size_t)loss->weight->rows, param_data(part->tape->params, loss->bias), logits);
}

/* ---- the loss of a row --------------------------------------------------------------------------------- */

/* Logits become `scale` times the gradient, as long as they are in the cache. */
static void loss_of_row(const Loss *loss, int target, double scale, real *logits, CrossEntropy *sum) {
    double nll;
    sum->loss += kern->cross_entropy((size_t)loss->weight->rows, logits, target, (real)loss->smoothing,
                                     (real)scale, &nll);
    sum->likelihood += nll;
}

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

/* A token's two rows of logits become gradients; its share of the divergence's is made in da and db. */
static void loss_of_twins(const Loss *loss, int target, real *a, real *b, real *da, real *db) {
    size_t V = (size_t)loss->weight->rows;
    CrossEntropy both = {0};
    double divergence = kern->divergence(V, a, b, da, db);
    loss_of_row(loss, target, loss->scale / 2, a, &both);
    loss_of_row(loss, target, loss->scale / 2, b, &both);
    kern->axpy(V, (real)(loss->scale * loss->rdrop / 4), da, a);
    kern->axpy(V, (real)(loss->scale * loss->rdrop / 4), db, b);
    loss->result->loss += both.loss / 2 + loss->rdrop / 4 * divergence;
    loss->result->likelihood += both.likelihood / 2;
}

/* Of the rows of a part or, of twins, of two; `room` is for two rows more. Rows are added to the bias's
 * gradient while they are in the cache, but those of the second view after all of the first. */
static void loss_of_part(const Part *part, real *room) {
    const Loss *loss = part->loss;
    const int *targets = loss->targets + part->first;
    size_t V = (size_t)loss->weight->rows;
    real *d_bias = loss->bias && part->tape->record ? tape_gradient(part->tape, loss->bias) : NULL;
    for (int r = 0; r < part->rows; r++) {
        real *logits = row_of(part, r);
        add_bias(part, logits);
        if (loss->twins) {
            real *other = row_of(part + 1, r);
            add_bias(part + 1, other);
            loss_of_twins(loss, targets[r], logits, other, room, room + V);
        } else if (loss->teacher) {
            loss_of_pupil(loss, targets[r], loss->teacher + (size_t)(part->first + r) * V, logits, room);
        } else {
            loss_of_row(loss, targets[r], loss->scale, logits, loss->result);
        }
        if (d_bias) kern->add(V, logits, d_bias);
    }
    for (int r = 0; d_bias && loss->twins && r < part->rows; r++) kern->add(V, row_of(part + 1, r), d_bias);
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
    const Param *weight = parts->loss->weight;
    int E = weight->columns, stride = row_stride(weight->rows);
    for (int first = 0, n; first < rows; first += n) {
        n = rows - first < BLOCK ? rows - first : BLOCK;
        real *at = x + (size_t)first * (size_t)E, *logits = row_of(parts, first);
        if (back)
            product_with_weight(parts->tape, weight, false, n, logits, stride, at, E, true);
        else
            product_with_weight(parts->tape, weight, true, n, at, E, logits, stride, false);
    }
}

/* What the gradients of these logits are for the weight of the output layer. */
static void defer_gradient(const Part *part) {
    const Param *weight = part->loss->weight;
    product_defer_gradient(part->tape, (WeightGradient){.kind = GRADIENT_PRODUCT,
                                                        .weight = weight,
                                                        .transposed = true,
                                                        .x = numbers_of(part, false),
                                                        .dy = part->logits,
                                                        .rows = part->rows,
                                                        .inputs = weight->columns,
                                                        .outputs = weight->rows,
                                                        .stride = row_stride(weight->rows)});
    if (part->tape->grads) product_end_gradients(part->tape); /* the logits' memory serves the next rows */
}

static void pass_back(const Part *parts, int count, int rows) {
    if (!parts->tape->record) return;
    real *gradients = gather_rows(parts, count, rows, true);
    multiply(parts, rows, gradients, true);
    scatter_gradients(parts, count, gradients);
    for (int i = 0; i < count; i++) defer_gradient(&parts[i]);
}

static void run_parts(Part *parts, int count, real *logits, real *room) {
    int rows = 0;
    for (int i = 0; i < count; rows += parts[i++].rows)
        parts[i].logits = logits + logits_size(parts->loss, rows);
    multiply(parts, rows, gather_rows(parts, count, rows, false), false);
    for (int i = 0; i < count; i += parts[i].loss->twins ? 2 : 1) loss_of_part(&parts[i], room);
    pass_back(parts, count, rows);
}

/* Rows of targets, from `first` on; returns how many parts they are. */
static int add_parts(Part *parts, Tape *tape, const Node *node, int first, int rows) {
    const Loss *loss = node->data;
    const Tensor *x = node->in[0];
    parts[0] = (Part){tape, loss, x, first, rows, NULL};
    if (!loss->twins) return 1;
    parts[1] = (Part){tape, loss, x, x->rows / 2 + first, rows, NULL};
    return 2;
}

/* ---- the ops ------------------------------------------------------------------------------------------- */

bool op_is_loss(const Node *node) {
    return node->op == OP_CROSS_ENTROPY || node->op == OP_TWIN_CROSS_ENTROPY ||
           node->op == OP_TAUGHT_CROSS_ENTROPY;
}

static int target_count(const Node *node) {
    return ((const Loss *)node->data)->twins ? node->in[0]->rows / 2 : node->in[0]->rows;
}

static void end_loss(const Node *node) {
    const Loss *loss = node->data;
    node->out->data[0] = (real)(loss->scale * loss->result->loss);
}

void op_losses_together(Tape *const *tapes, const Node *const *nodes, int count) {
    Part parts[PARTS_MOST];
    int part_count = 0, rows = 0;
    const Loss *loss = nodes[0]->data;
    for (int i = 0; i < count; rows += nodes[i++]->in[0]->rows) {
        assert(is_kept(tapes[i]) && ((const Loss *)nodes[i]->data)->weight == loss->weight);
        part_count += add_parts(&parts[part_count], tapes[i], nodes[i], 0, target_count(nodes[i]));
    }
    run_parts(parts, part_count, logits_new(tapes[0], loss, rows), logits_new(tapes[0], loss, 2));
    for (int i = 0; i < count; i++) end_loss(nodes[i]);
}

static void run_loss(Tape *tape, const Node *node) {
    if (is_kept(tape)) {
        op_losses_together(&tape, &node, 1);
        return;
    }
    const Loss *loss = node->data;
    int n = target_count(node), most = loss->twins ? BLOCK / 2 : BLOCK;
    if (most > n) most = n;
    real *logits = logits_new(tape, loss, loss->twins ? 2 * most : most), *room = logits_new(tape, loss, 2);
    for (int first = 0; first < n; first += most) {
        Part parts[2];
        int count = add_parts(parts, tape, node, first, n - first < most ? n - first : most);
        run_parts(parts, count, logits, room);
    }
    end_loss(node);
}

void op_cross_entropy_forward(Tape *tape, const Node *node) { run_loss(tape, node); }
void op_twin_cross_entropy_forward(Tape *tape, const Node *node) { run_loss(tape, node); }
void op_taught_cross_entropy_forward(Tape *tape, const Node *node) { run_loss(tape, node); }

/* Everything was done while the logits were at hand. */
static void is_done(Tape *tape, const Node *node) {
    (void)tape;
    (void)node;
}

void op_cross_entropy_backward(Tape *tape, const Node *node) { is_done(tape, node); }
void op_twin_cross_entropy_backward(Tape *tape, const Node *node) { is_done(tape, node); }
void op_taught_cross_entropy_backward(Tape *tape, const Node *node) { is_done(tape, node); }

/* `loss` is copied. */
static Tensor *put_loss(Tape *tape, OpId op, Tensor *x, Loss loss) {
    assert(x->columns == loss.weight->columns);
    assert(!loss.bias || loss.bias->columns == loss.weight->rows);
    Loss *kept = tape_alloc(tape, sizeof *kept);
    *kept = loss;
    return tape_run(tape, (Node){.op = op, .in = {x}, .out = tape_tensor(tape, 1, 1), .data = kept});
}

Tensor *op_cross_entropy(Tape *tape, Tensor *x, const Param *weight, const Param *bias, const int *targets,
                         double smoothing, double scale, CrossEntropy *result) {
    Loss loss = {.weight = weight,
                 .bias = bias,
                 .targets = targets,
                 .smoothing = smoothing,
                 .scale = scale,
                 .result = result};
    return put_loss(tape, OP_CROSS_ENTROPY, x, loss);
}

Tensor *op_twin_cross_entropy(Tape *tape, Tensor *x, const Param *weight, const Param *bias,
                              const int *targets, double smoothing, double scale, double rdrop,
                              CrossEntropy *result) {
    assert(x->rows % 2 == 0);
    Loss loss = {.weight = weight,
                 .bias = bias,
                 .targets = targets,
                 .twins = true,
                 .smoothing = smoothing,
                 .scale = scale,
                 .rdrop = rdrop,
                 .result = result};
    return put_loss(tape, OP_TWIN_CROSS_ENTROPY, x, loss);
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
    return put_loss(tape, OP_TAUGHT_CROSS_ENTROPY, x, loss);
}
