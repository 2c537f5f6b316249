/* op_score.c - scores of keys for rows of queries, over ragged spans of keys: padding does not exist here. */
#include <assert.h>
#include <string.h>
#include "kern/kern.h"
#include "autograd/op_table.h"

/* ---- additive ---- */

typedef struct {
    const Param *v;
    const Spans *spans;
} Additive;

void op_score_additive_forward(Tape *tape, const Node *node) {
    const Additive *a = node->data;
    const Tensor *query = node->in[0], *keys = node->in[1];
    const real *v = param_data(tape->params, a->v);
    for (int r = 0; r < a->spans->rows; r++)
        kern->additive_forward(a->spans->length[r], query->columns, tensor_row(query, r),
                               tensor_row(keys, a->spans->first[r]), v, node->out->data + a->spans->start[r]);
}
void op_score_additive_backward(Tape *tape, const Node *node) {
    const Additive *a = node->data;
    const Tensor *query = node->in[0], *keys = node->in[1];
    const real *v = param_data(tape->params, a->v);
    assert(query->grad && keys->grad);
    for (int r = 0; r < a->spans->rows; r++)
        kern->additive_backward(a->spans->length[r], query->columns, tensor_row(query, r),
                                tensor_row(keys, a->spans->first[r]), v,
                                tensor_gradient(node->out) + a->spans->start[r], tensor_grad_row(query, r),
                                tensor_grad_row(keys, a->spans->first[r]), tape_gradient(tape, a->v));
}
Tensor *op_score_additive(Tape *tape, Tensor *query, Tensor *keys, const Param *v, const Spans *spans) {
    assert(query->rows == spans->rows && query->columns == keys->columns && v->columns == keys->columns);
    Additive *a = tape_alloc(tape, sizeof *a);
    *a = (Additive){v, spans};
    return tape_run(tape, (Node){.op = OP_SCORE_ADDITIVE,
                                 .in = {query, keys},
                                 .out = tape_tensor(tape, 1, spans->total),
                                 .data = a});
}

/* ---- products ---- */

typedef struct {
    int heads;
    real scale;
    const Param *sharpness;
    const Spans *spans;
} Dot;
enum { QUERY, KEYS, QUERY_BIAS, KEY_BIAS }; /* inputs of the node */

static real dot_factor(const Tape *tape, const Dot *dot) {
    return dot->sharpness ? dot->scale * *param_data(tape->params, dot->sharpness) : dot->scale;
}

static void add_biases(const Node *node, int row, const Spans *s, real *scores) {
    const Tensor *query_bias = node->in[QUERY_BIAS], *key_bias = node->in[KEY_BIAS];
    real bias = query_bias ? query_bias->data[row] : 0;
    for (int i = 0; i < s->length[row]; i++)
        scores[i] = key_bias ? bias + key_bias->data[s->first[row] + i] : bias;
}

void op_score_dot_forward(Tape *tape, const Node *node) {
    const Dot *dot = node->data;
    const Spans *s = dot->spans;
    const Tensor *query = node->in[QUERY], *keys = node->in[KEYS];
    real factor = dot_factor(tape, dot);
    for (int h = 0; h < dot->heads; h++)
        for (int r = 0; r < s->rows; r++) add_biases(node, r, s, tensor_row(node->out, h) + s->start[r]);
    for (int r = 0; r < s->rows;) {
        AttendedKeys at = spans_attended(s, r, dot->heads, keys);
        for (int h = 0; h < dot->heads; h++)
            kern->dots(&at, tensor_row(query, r) + h * at.size, tensor_row(keys, s->first[r]) + h * at.size,
                       factor, tensor_row(node->out, h) + s->start[r]);
        r += at.rows;
    }
}

static void add_bias_gradients(const Node *node, int row, const Spans *s, const real *d_scores) {
    const Tensor *query_bias = node->in[QUERY_BIAS], *key_bias = node->in[KEY_BIAS];
    size_t n = (size_t)s->length[row];
    if (key_bias && key_bias->grad) kern->add(n, d_scores, tensor_gradient(key_bias) + s->first[row]);
    if (query_bias && query_bias->grad)
        for (size_t i = 0; i < n; i++) tensor_gradient(query_bias)[row] += d_scores[i];
}

/* scale times the sum over all queries and heads of q . sum of dS[i] k_i. */
static real sharpness_gradient(Tape *tape, const Node *node) {
    const Dot *dot = node->data;
    const Spans *s = dot->spans;
    const Tensor *query = node->in[QUERY], *keys = node->in[KEYS];
    int size = keys->columns / dot->heads;
    real total = 0, *sum = tape_alloc(tape, (size_t)size * sizeof *sum);
    for (int h = 0; h < dot->heads; h++)
        for (int r = 0; r < s->rows; r++) {
            AttendedKeys one = {1, s->length + r, size, (size_t)keys->columns};
            memset(sum, 0, (size_t)size * sizeof *sum);
            kern->weighted_sum(&one, tensor_grad_row(node->out, h) + s->start[r],
                               tensor_row(keys, s->first[r]) + h * size, sum);
            total += kern->dot((size_t)size, tensor_row(query, r) + h * size, sum);
        }
    return dot->scale * total;
}

/* With w = factor dS: dq += sum of w[i] k_i, d k_i += w[i] q; d sharpness += scale (q . sum of dS[i] k_i). */
void op_score_dot_backward(Tape *tape, const Node *node) {
    const Dot *dot = node->data;
    const Spans *s = dot->spans;
    const Tensor *query = node->in[QUERY], *keys = node->in[KEYS];
    size_t total = (size_t)s->total;
    real *w = tape_alloc(tape, (size_t)dot->heads * total * sizeof *w);
    kern->scale((size_t)dot->heads * total, dot_factor(tape, dot), tensor_gradient(node->out), w);
    for (int h = 0; h < dot->heads; h++)
        for (int r = 0; r < s->rows; r++)
            add_bias_gradients(node, r, s, tensor_grad_row(node->out, h) + s->start[r]);
    if (dot->sharpness) *tape_gradient(tape, dot->sharpness) += sharpness_gradient(tape, node);
    for (int r = 0; r < s->rows;) {
        AttendedKeys at = spans_attended(s, r, dot->heads, keys);
        for (int h = 0; h < dot->heads; h++) {
            size_t queries = (size_t)r * at.stride + (size_t)(h * at.size),
                   first = (size_t)s->first[r] * at.stride + (size_t)(h * at.size);
            const real *scaled = w + (size_t)h * total + s->start[r];
            if (query->grad)
                kern->weighted_sum(&at, scaled, keys->data + first, tensor_gradient(query) + queries);
            if (keys->grad)
                kern->outer_add(&at, scaled, query->data + queries, tensor_gradient(keys) + first);
        }
        r += at.rows;
    }
}

Tensor *op_score_dot(Tape *tape, Tensor *query, Tensor *keys, const DotScore *form, const Spans *spans) {
    assert(query->rows == spans->rows && query->columns == keys->columns);
    assert(form->heads > 0 && query->columns % form->heads == 0);
    assert(!form->sharpness || (form->sharpness->rows == 1 && form->sharpness->columns == 1));
    assert(!form->query_bias || (form->query_bias->rows == query->rows && form->query_bias->columns == 1));
    assert(!form->key_bias || (form->key_bias->rows == keys->rows && form->key_bias->columns == 1));
    Dot *dot = tape_alloc(tape, sizeof *dot);
    *dot = (Dot){form->heads, form->scale, form->sharpness, spans};
    return tape_run(tape, (Node){.op = OP_SCORE_DOT,
                                 .in = {query, keys, form->query_bias, form->key_bias},
                                 .out = tape_tensor(tape, form->heads, spans->total),
                                 .data = dot});
}

/* ---- positions ---- */

typedef struct {
    int heads;
    const int *origin;
    const Spans *spans;
} Position;

/* The column of key i of a row. */
static int column_of(const Position *p, int row, int i, int columns) {
    int column = p->origin ? i - p->origin[row] : i;
    return column < 0 ? 0 : column >= columns ? columns - 1 : column;
}

void op_score_position_forward(Tape *tape, const Node *node) {
    const Position *p = node->data;
    const Spans *s = p->spans;
    const Tensor *table = node->in[0];
    (void)tape;
    for (int h = 0; h < p->heads; h++)
        for (int r = 0; r < s->rows; r++) {
            const real *from = tensor_row(table, r * p->heads + h);
            real *scores = tensor_row(node->out, h) + s->start[r];
            for (int i = 0; i < s->length[r]; i++) scores[i] = from[column_of(p, r, i, table->columns)];
        }
}
void op_score_position_backward(Tape *tape, const Node *node) {
    const Position *p = node->data;
    const Spans *s = p->spans;
    const Tensor *table = node->in[0];
    (void)tape;
    if (!table->grad) return;
    for (int h = 0; h < p->heads; h++)
        for (int r = 0; r < s->rows; r++) {
            real *to = tensor_grad_row(table, r * p->heads + h);
            const real *d_scores = tensor_grad_row(node->out, h) + s->start[r];
            for (int i = 0; i < s->length[r]; i++) to[column_of(p, r, i, table->columns)] += d_scores[i];
        }
}
Tensor *op_score_position(Tape *tape, Tensor *table, int heads, const int *origin, const Spans *spans) {
    assert(heads > 0 && table->rows == heads * spans->rows && table->columns > 0);
    Position *p = tape_alloc(tape, sizeof *p);
    *p = (Position){heads, origin, spans};
    return tape_run(tape, (Node){.op = OP_SCORE_POSITION,
                                 .in = {table},
                                 .out = tape_tensor(tape, heads, spans->total),
                                 .data = p});
}
