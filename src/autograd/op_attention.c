/* op_attention.c - spans of keys; scores to weights by a masked softmax, weights to context by a sum. */
#include <assert.h>
#include <limits.h>
#include <string.h>
#include "base/mem.h"
#include "kern/kern.h"
#include "autograd/op_table.h"

Spans *spans_new(Tape *tape, const int *first, const int *length, int rows) {
    int *copy = tape_alloc(tape, 3 * (size_t)rows * sizeof *copy);
    Spans *s = tape_alloc(tape, sizeof *s);
    *s = (Spans){.rows = rows, .first = copy, .length = copy + rows, .start = copy + 2 * (size_t)rows};
    memcpy(copy, first, (size_t)rows * sizeof *copy);
    memcpy(copy + rows, length, (size_t)rows * sizeof *copy);
    size_t total = 0; /* grows with the square of the length in self-attention */
    for (int r = 0; r < rows; r++) total += (size_t)length[r];
    if (total > INT_MAX) mem_exhausted(total * sizeof(real));
    for (int r = 0; r < rows; r++) {
        copy[2 * rows + r] = s->total;
        s->total += length[r];
    }
    return s;
}

Spans *spans_prefix(Tape *tape, const Spans *spans, int rows) {
    assert(rows >= 0 && rows <= spans->rows);
    Spans *s = tape_alloc(tape, sizeof *s);
    *s = *spans;
    s->rows = rows;
    if (rows < spans->rows) s->total = spans->start[rows];
    return s;
}

AttendedKeys spans_attended(const Spans *spans, int row, int heads, const Tensor *keys) {
    AttendedKeys at = {.rows = 1,
                       .length = spans->length + row,
                       .size = keys->columns / heads,
                       .stride = (size_t)keys->columns};
    while (row + at.rows < spans->rows && spans->first[row + at.rows] == spans->first[row]) at.rows++;
    return at;
}

/* A weight too small to change any rounded sum is set to 0. Otherwise, sharp scores would fill the
 * products that follow with denormal numbers, on which processors are many times slower. */
static void flush_tiny_weights(size_t n, real *weights) {
    const real trace = (real)1e-20;
    for (size_t i = 0; i < n; i++) weights[i] = weights[i] < trace ? 0 : weights[i];
}

void op_masked_softmax_forward(Tape *tape, const Node *node) {
    const Spans *s = node->data;
    (void)tape;
    memcpy(node->out->data, node->in[0]->data, tensor_size(node->out) * sizeof(real));
    for (int h = 0; h < node->out->rows; h++)
        for (int r = 0; r < s->rows; r++)
            if (s->length[r]) kern->softmax((size_t)s->length[r], tensor_row(node->out, h) + s->start[r]);
    flush_tiny_weights(tensor_size(node->out), node->out->data);
}
void op_masked_softmax_backward(Tape *tape, const Node *node) {
    const Spans *s = node->data;
    (void)tape;
    if (!node->in[0]->grad) return;
    for (int h = 0; h < node->out->rows; h++)
        for (int r = 0; r < s->rows; r++)
            kern->softmax_backward((size_t)s->length[r], tensor_row(node->out, h) + s->start[r],
                                   tensor_grad_row(node->out, h) + s->start[r],
                                   tensor_grad_row(node->in[0], h) + s->start[r]);
}
Tensor *op_masked_softmax(Tape *tape, Tensor *scores, const Spans *spans) {
    assert(scores->columns == spans->total);
    return tape_run(tape, (Node){.op = OP_MASKED_SOFTMAX,
                                 .in = {scores},
                                 .out = tape_tensor(tape, scores->rows, spans->total),
                                 .data = spans});
}

void op_context_forward(Tape *tape, const Node *node) {
    const Spans *s = node->data;
    const Tensor *weights = node->in[0], *values = node->in[1], *y = node->out;
    (void)tape;
    memset(y->data, 0, tensor_size(y) * sizeof(real));
    for (int r = 0; r < s->rows;) {
        AttendedKeys at = spans_attended(s, r, weights->rows, values);
        for (int h = 0; h < weights->rows; h++)
            kern->weighted_sum(&at, tensor_row(weights, h) + s->start[r],
                               tensor_row(values, s->first[r]) + h * at.size, tensor_row(y, r) + h * at.size);
        r += at.rows;
    }
}
void op_context_backward(Tape *tape, const Node *node) {
    const Spans *s = node->data;
    const Tensor *weights = node->in[0], *values = node->in[1], *y = node->out;
    (void)tape;
    for (int r = 0; r < s->rows;) {
        AttendedKeys at = spans_attended(s, r, weights->rows, values);
        for (int h = 0; h < weights->rows; h++) {
            size_t first = (size_t)s->first[r] * at.stride + (size_t)(h * at.size);
            const real *dy = tensor_grad_row(y, r) + h * at.size;
            if (weights->grad)
                kern->dots(&at, dy, values->data + first, 1, tensor_grad_row(weights, h) + s->start[r]);
            if (values->grad)
                kern->outer_add(&at, tensor_row(weights, h) + s->start[r], dy,
                                tensor_gradient(values) + first);
        }
        r += at.rows;
    }
}
Tensor *op_context(Tape *tape, Tensor *weights, Tensor *values, const Spans *spans) {
    assert(weights->columns == spans->total && values->columns % weights->rows == 0);
    return tape_run(tape, (Node){.op = OP_CONTEXT,
                                 .in = {weights, values},
                                 .out = tape_step_tensor(tape, spans->rows, values->columns),
                                 .data = spans});
}

/* ---- keys and values anywhere in memory: for decoding step by step, which has no backward pass ---- */

Tensor *op_score_gathered(Tape *tape, Tensor *query, const real *const *keys, int heads, const Spans *spans) {
    assert(!tape->record && query->columns % heads == 0 && query->rows == spans->rows);
    int size = query->columns / heads;
    Tensor *scores = tape_tensor(tape, heads, spans->total);
    for (int r = 0; r < spans->rows; r++)
        for (int h = 0; h < heads; h++)
            kern->dots_gathered(spans->length[r], size, tensor_row(query, r) + h * size,
                                keys + spans->start[r], (size_t)(h * size),
                                tensor_row(scores, h) + spans->start[r]);
    return scores;
}

Tensor *op_context_gathered(Tape *tape, Tensor *weights, const real *const *values, int columns,
                            const Spans *spans) {
    assert(!tape->record && weights->columns == spans->total && columns % weights->rows == 0);
    int heads = weights->rows, size = columns / heads;
    Tensor *context = tape_step_tensor(tape, spans->rows, columns);
    for (int r = 0; r < spans->rows; r++)
        for (int h = 0; h < heads; h++)
            kern->weighted_sum_gathered(spans->length[r], size, tensor_row(weights, h) + spans->start[r],
                                        values + spans->start[r], (size_t)(h * size),
                                        tensor_row(context, r) + h * size);
    return context;
}
