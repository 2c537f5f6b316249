/* op_dropout.c - dropout of rows, alone or as a part of another op, and of attention weights. The mask is
 * made twice rather than kept.
 *
 * Srivastava et al. 2014
 */
#include <assert.h>
#include "base/rng.h"
#include "kern/kern.h"
#include "autograd/op_table.h"

typedef struct {
    uint64_t key;
    double p;
    const uint32_t *row_keys;
} Dropout;

/* to = mask from, or to = base + mask from if there is a base, which may be `to` itself. */
static void mask_row(size_t n, uint64_t key, uint32_t row_key, double p, real *mask, const real *from,
                     const real *base, real *to) {
    kern->dropout_mask(n, key, row_key, p, mask);
    if (base)
        kern->scale_mask_add(n, mask, from, base, to);
    else
        kern->scale_mask(n, mask, from, to);
}

/* For all rows of x. */
static void mask_rows(Tape *tape, const Dropout *d, const Tensor *x, const real *from, const real *base,
                      real *to) {
    size_t n = (size_t)x->columns;
    real *mask = tape_alloc(tape, n * sizeof *mask);
    for (int r = 0; r < x->rows; r++, from += n, to += n, base = base ? base + n : NULL)
        mask_row(n, d->key, d->row_keys[r], d->p, mask, from, base, to);
}

/* NULL: nothing is dropped. */
static const Dropout *dropout_new(Tape *tape, double p, uint32_t stream, const uint32_t *row_keys) {
    if (!tape->training || p <= 0) return NULL;
    Dropout *d = tape_alloc(tape, sizeof *d);
    *d = (Dropout){rng_key(tape->dropout_key, stream, 0, 0), p, row_keys};
    return d;
}

void op_dropout_forward(Tape *tape, const Node *node) {
    const Tensor *x = node->in[0], *y = node->out;
    mask_rows(tape, node->data, x, x->data, NULL, y->data);
}
void op_dropout_backward(Tape *tape, const Node *node) {
    const Tensor *x = node->in[0], *y = node->out;
    if (x->grad) mask_rows(tape, node->data, x, tensor_gradient(y), tensor_gradient(x), tensor_gradient(x));
}
Tensor *op_dropout(Tape *tape, Tensor *x, double p, uint32_t stream, const uint32_t *row_keys) {
    const Dropout *d = dropout_new(tape, p, stream, row_keys);
    return d ? tape_run_same_shape(tape, OP_DROPOUT, x, d) : x;
}

/* ---- ops fused with a dropout: one pass over memory ---- */

void op_relu_forward(Tape *tape, const Node *node) {
    const Tensor *y = node->out;
    kern->relu(tensor_size(y), y->data, y->data);
    if (node->data) mask_rows(tape, node->data, y, y->data, NULL, y->data);
}
/* A dropped number is 0, like the result of a negative one. */
void op_relu_backward(Tape *tape, const Node *node) {
    const Dropout *d = node->data;
    const Tensor *y = node->out;
    (void)tape;
    if (y->grad)
        kern->relu_backward(tensor_size(y), y->data, d ? (real)(1 / (1 - d->p)) : 1, tensor_gradient(y));
}
Tensor *op_relu(Tape *tape, Tensor *x, double p, uint32_t stream, const uint32_t *row_keys) {
    const Dropout *d = dropout_new(tape, p, stream, row_keys);
    return tape_run(tape, (Node){.op = OP_RELU, .in = {x}, .out = x, .data = d});
}

void op_residual_forward(Tape *tape, const Node *node) {
    const Tensor *x = node->in[0], *sublayer = node->in[1], *y = node->out;
    if (node->data)
        mask_rows(tape, node->data, y, sublayer->data, x->data, y->data);
    else
        op_add_forward(tape, node);
}
void op_residual_backward(Tape *tape, const Node *node) {
    const Tensor *sublayer = node->in[1], *y = node->out;
    if (sublayer->grad && node->data)
        mask_rows(tape, node->data, y, tensor_gradient(y), tensor_gradient(sublayer),
                  tensor_gradient(sublayer));
    else if (sublayer->grad)
        kern->add(tensor_size(y), tensor_gradient(y), tensor_gradient(sublayer));
}
Tensor *op_residual(Tape *tape, Tensor *x, Tensor *sublayer, double p, uint32_t stream,
                    const uint32_t *row_keys) {
    assert(x->rows == sublayer->rows && x->columns == sublayer->columns);
    const Dropout *d = dropout_new(tape, p, stream, row_keys);
    return tape_run(
        tape, (Node){.op = OP_RESIDUAL, .in = {x, sublayer}, .out = tape_tensor_sharing(tape, x), .data = d});
}

/* ---- attention weights ---- */

typedef struct {
    const uint64_t *head_keys;
    double p;
    const uint32_t *row_keys;
    const Spans *spans;
} DropoutWeights;

static void mask_weights(Tape *tape, const DropoutWeights *d, int heads, const real *from, const real *base,
                         real *to) {
    const Spans *s = d->spans;
    int longest = 0;
    for (int r = 0; r < s->rows; r++) longest = s->length[r] > longest ? s->length[r] : longest;
    real *mask = tape_alloc(tape, (size_t)longest * sizeof *mask);
    for (int h = 0; h < heads; h++, from += s->total, to += s->total, base = base ? base + s->total : NULL)
        for (int r = 0; r < s->rows; r++)
            mask_row((size_t)s->length[r], d->head_keys[h], d->row_keys[r], d->p, mask, from + s->start[r],
                     base ? base + s->start[r] : NULL, to + s->start[r]);
}
void op_dropout_weights_forward(Tape *tape, const Node *node) {
    const Tensor *x = node->in[0], *y = node->out;
    mask_weights(tape, node->data, x->rows, x->data, NULL, y->data);
}
void op_dropout_weights_backward(Tape *tape, const Node *node) {
    const Tensor *x = node->in[0], *y = node->out;
    if (x->grad)
        mask_weights(tape, node->data, x->rows, tensor_gradient(y), tensor_gradient(x), tensor_gradient(x));
}
Tensor *op_dropout_weights(Tape *tape, Tensor *weights, double p, uint32_t stream, const uint32_t *row_keys,
                           const Spans *spans) {
    assert(weights->columns == spans->total);
    if (!tape->training || p <= 0) return weights;
    uint64_t *head_keys = tape_alloc(tape, (size_t)weights->rows * sizeof *head_keys);
    for (int h = 0; h < weights->rows; h++) head_keys[h] = rng_key(tape->dropout_key, stream, (uint64_t)h, 1);
    DropoutWeights *d = tape_alloc(tape, sizeof *d);
    *d = (DropoutWeights){head_keys, p, row_keys, spans};
    return tape_run(tape, (Node){.op = OP_DROPOUT_WEIGHTS,
                                 .in = {weights},
                                 .out = tape_tensor(tape, weights->rows, weights->columns),
                                 .data = d});
}
