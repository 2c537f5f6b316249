/* op_dropout.c - dropout of rows and of attention weights. The mask is made twice rather than kept.
 *
 * Srivastava et al. 2014
 */
#include <assert.h>
#include "base/rng.h"
#include "num/kern.h"
#include "num/op_table.h"

typedef struct {
    uint64_t key;
    double p;
    const uint32_t *row_keys;
} Dropout;

void op_dropout_forward(Tape *tape, const Node *node) {
    const Dropout *d = node->data;
    const Tensor *x = node->in[0], *y = node->out;
    size_t n = (size_t)x->columns;
    real *mask = tape_alloc(tape, n * sizeof *mask);
    for (int r = 0; r < x->rows; r++) {
        kern->dropout_mask(n, d->key, d->row_keys[r], d->p, mask);
        kern->scale_mask(n, mask, tensor_row(x, r), tensor_row(y, r));
    }
}
void op_dropout_backward(Tape *tape, const Node *node) {
    const Dropout *d = node->data;
    const Tensor *x = node->in[0], *y = node->out;
    if (!x->grad) return;
    size_t n = (size_t)x->columns;
    real *mask = tape_alloc(tape, n * sizeof *mask);
    for (int r = 0; r < x->rows; r++) {
        kern->dropout_mask(n, d->key, d->row_keys[r], d->p, mask);
        kern->scale_mask_add(n, mask, tensor_grad_row(y, r), tensor_grad_row(x, r));
    }
}
Tensor *op_dropout(Tape *tape, Tensor *x, double p, uint32_t stream, const uint32_t *row_keys) {
    if (!tape->training || p <= 0) return x;
    Dropout *d = tape_alloc(tape, sizeof *d);
    *d = (Dropout){rng_key(tape->dropout_key, stream, 0, 0), p, row_keys};
    return tape_run_same_shape(tape, OP_DROPOUT, x, d);
}

typedef struct {
    const uint64_t *head_keys;
    double p;
    const uint32_t *row_keys;
    const Spans *spans;
} DropoutWeights;

/* to = mask from, or to += mask from. */
static void mask_weights(Tape *tape, const DropoutWeights *d, int heads, const real *from, real *to,
                         bool accumulate) {
    const Spans *s = d->spans;
    int longest = 0;
    for (int r = 0; r < s->rows; r++) longest = s->length[r] > longest ? s->length[r] : longest;
    real *mask = tape_alloc(tape, (size_t)longest * sizeof *mask);
    for (int h = 0; h < heads; h++, from += s->total, to += s->total)
        for (int r = 0; r < s->rows; r++) {
            size_t n = (size_t)s->length[r];
            kern->dropout_mask(n, d->head_keys[h], d->row_keys[r], d->p, mask);
            if (accumulate)
                kern->scale_mask_add(n, mask, from + s->start[r], to + s->start[r]);
            else
                kern->scale_mask(n, mask, from + s->start[r], to + s->start[r]);
        }
}
void op_dropout_weights_forward(Tape *tape, const Node *node) {
    const Tensor *x = node->in[0], *y = node->out;
    mask_weights(tape, node->data, x->rows, x->data, y->data, false);
}
void op_dropout_weights_backward(Tape *tape, const Node *node) {
    const Tensor *x = node->in[0], *y = node->out;
    if (x->grad) mask_weights(tape, node->data, x->rows, y->grad, x->grad, true);
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
