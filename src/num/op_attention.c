/* op_attention.c - scores, masked softmax and context over ragged spans of keys: padding does not exist here. */
#include <assert.h>
#include <string.h>
#include "num/kern.h"
#include "num/op_rows.h"

Spans *spans_new(Tape *tape, const int *first, const int *length, int rows) {
    int *copy = tape_alloc(tape, 3 * (size_t)rows * sizeof *copy);
    Spans *s = tape_alloc(tape, sizeof *s);
    *s = (Spans){.rows = rows, .first = copy, .length = copy + rows, .start = copy + 2 * rows};
    memcpy(copy, first, (size_t)rows * sizeof *copy);
    memcpy(copy + rows, length, (size_t)rows * sizeof *copy);
    for (int r = 0; r < rows; r++) {
        copy[2 * rows + r] = s->total;
        s->total += length[r];
    }
    return s;
}

typedef struct {
    const Param *v;
    const Spans *spans;
} Additive;

void score_additive_forward(Tape *tape, const Node *node) {
    const Additive *a = node->data;
    const Tensor *query = node->in[0], *keys = node->in[1];
    const real *v = param_data(tape->params, a->v);
    for (int r = 0; r < a->spans->rows; r++)
        kern->additive_forward(a->spans->length[r], query->columns, tensor_row(query, r),
                               tensor_row(keys, a->spans->first[r]), v, node->out->data + a->spans->start[r]);
}
void score_additive_backward(Tape *tape, const Node *node) {
    const Additive *a = node->data;
    const Tensor *query = node->in[0], *keys = node->in[1];
    const real *v = param_data(tape->params, a->v);
    assert(query->grad && keys->grad);
    for (int r = 0; r < a->spans->rows; r++)
        kern->additive_backward(a->spans->length[r], query->columns, tensor_row(query, r),
                                tensor_row(keys, a->spans->first[r]), v, node->out->grad + a->spans->start[r],
                                tensor_grad_row(query, r), tensor_grad_row(keys, a->spans->first[r]),
                                tape->grads + a->v->offset);
}
Tensor *op_score_additive(Tape *tape, Tensor *query, Tensor *keys, const Param *v, const Spans *spans) {
    assert(query->rows == spans->rows && query->columns == keys->columns && v->columns == keys->columns);
    Additive *a = tape_alloc(tape, sizeof *a);
    *a = (Additive){v, spans};
    return tape_run(tape, (Node){.op = OP_SCORE_ADDITIVE,
                                 .in = {query, keys},
                                 .out = tape_tensor_apart(tape, 1, spans->total),
                                 .data = a});
}

void masked_softmax_forward(Tape *tape, const Node *node) {
    const Spans *s = node->data;
    (void)tape;
    memcpy(node->out->data, node->in[0]->data, tensor_size(node->out) * sizeof(real));
    for (int r = 0; r < s->rows; r++)
        if (s->length[r]) kern->softmax((size_t)s->length[r], node->out->data + s->start[r]);
}
void masked_softmax_backward(Tape *tape, const Node *node) {
    const Spans *s = node->data;
    (void)tape;
    if (!node->in[0]->grad) return;
    for (int r = 0; r < s->rows; r++) {
        const real *w = node->out->data + s->start[r], *dw = node->out->grad + s->start[r];
        real *dx = node->in[0]->grad + s->start[r], mean = kern->dot((size_t)s->length[r], w, dw);
        for (int i = 0; i < s->length[r]; i++) dx[i] += w[i] * (dw[i] - mean);
    }
}
Tensor *op_masked_softmax(Tape *tape, Tensor *scores, const Spans *spans) {
    assert(scores->columns == spans->total);
    return tape_run(tape, (Node){.op = OP_MASKED_SOFTMAX,
                                 .in = {scores},
                                 .out = tape_tensor_apart(tape, 1, spans->total),
                                 .data = spans});
}

void context_forward(Tape *tape, const Node *node) {
    const Spans *s = node->data;
    const Tensor *weights = node->in[0], *values = node->in[1], *y = node->out;
    (void)tape;
    memset(y->data, 0, tensor_size(y) * sizeof(real));
    for (int r = 0; r < s->rows; r++)
        for (int i = 0; i < s->length[r]; i++)
            kern->axpy((size_t)y->columns, weights->data[s->start[r] + i],
                       tensor_row(values, s->first[r] + i), tensor_row(y, r));
}
void context_backward(Tape *tape, const Node *node) {
    const Spans *s = node->data;
    const Tensor *weights = node->in[0], *values = node->in[1], *y = node->out;
    (void)tape;
    for (int r = 0; r < s->rows; r++)
        for (int i = 0; i < s->length[r]; i++) {
            size_t n = (size_t)y->columns;
            int at = s->start[r] + i, key = s->first[r] + i;
            if (weights->grad)
                weights->grad[at] += kern->dot(n, tensor_grad_row(y, r), tensor_row(values, key));
            if (values->grad)
                kern->axpy(n, weights->data[at], tensor_grad_row(y, r), tensor_grad_row(values, key));
        }
}
Tensor *op_context(Tape *tape, Tensor *weights, Tensor *values, const Spans *spans) {
    assert(weights->columns == spans->total);
    return tape_run(tape, (Node){.op = OP_CONTEXT,
                                 .in = {weights, values},
                                 .out = tape_tensor(tape, spans->rows, values->columns),
                                 .data = spans});
}
