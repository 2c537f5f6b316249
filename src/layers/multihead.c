/* multihead.c - scaled dot-product attention with several heads. */
#include "layers/multihead.h"

#include <assert.h>
#include <math.h>
#include "autograd/activations.h"

Multihead multihead_new(ParamSet *params, const char *name, int size, int source_size, int heads,
                        int max_relative_position, bool bias) {
    assert(size % heads == 0);
    Multihead m = {
        .name = params_keep_name(params, name),
        .heads = heads,
        .size = size,
        .query = linear_new(params, param_name(name, "query"), size, size, bias),
        .key = linear_new(params, param_name(name, "key"), source_size, size, bias),
        .value = linear_new(params, param_name(name, "value"), source_size, size, bias),
        .output = linear_new(params, param_name(name, "output"), size, size, bias),
        .max_relative_position = max_relative_position,
    };
    if (max_relative_position)
        m.relative = params_add(params, param_name(name, "relative"), 2 * max_relative_position + 1,
                                size / heads, INIT_GLOROT, 0, PANELS_OUTPUT);
    return m;
}

KeysValues multihead_project(Tape *tape, const Multihead *m, Tensor *source) {
    KeysValues kv = {.keys = linear_apply(tape, &m->key, source),
                     .values = linear_apply(tape, &m->value, source)};
    record_activation(tape, m->name, "keys", kv.keys);
    record_activation(tape, m->name, "values", kv.values);
    return kv;
}

/* The term of the distance to each key in its score: query . vector of the distance. */
static Tensor *distance_scores(Tape *tape, const Multihead *m, Tensor *query, const Spans *spans,
                               const int *position) {
    int *origin = tape_alloc(tape, (size_t)spans->rows * sizeof *origin);
    for (int r = 0; r < spans->rows; r++) origin[r] = position[r] - m->max_relative_position;
    Tensor *heads = tape_reshape(tape, query, query->rows * m->heads, m->size / m->heads);
    return op_score_position(tape, op_affine(tape, heads, m->relative, NULL, NULL, true), m->heads, origin,
                             spans);
}

/* W_o [h_1; ...; h_N] with h_i = softmax(W_i^q q . W_i^k k / sqrt(D/N)) W_i^v v: Dive into Deep Learning, eq.
 * 11.5.1 and 11.5.2. The W_i of all heads are one matrix. */
Tensor *multihead_attend(Tape *tape, const Multihead *m, Tensor *x, const KeysValues *kv, const Spans *spans,
                         const int *position, AttentionDropout dropout, Tensor **weights) {
    Tensor *query = linear_apply(tape, &m->query, x);
    record_activation(tape, m->name, "query", query);
    query = op_scale(tape, query, (real)(1 / sqrt(m->size / (double)m->heads)));
    DotScore form = {.heads = m->heads, .scale = 1};
    Tensor *scores = kv->key_rows ? op_score_gathered(tape, query, kv->key_rows, m->heads, spans)
                                  : op_score_dot(tape, query, kv->keys, &form, spans);
    if (m->relative) scores = op_add(tape, scores, distance_scores(tape, m, query, spans, position));
    *weights = op_masked_softmax(tape, scores, spans);
    Tensor *context = attention_context(tape, *weights, kv, spans, dropout);
    int keys = kv->key_rows ? 0 : kv->keys->rows;
    record_activation_spans(tape, m->name, "scores", scores, spans, keys);
    record_activation_spans(tape, m->name, "weights", *weights, spans, keys);
    record_activation(tape, m->name, "context", context);
    return linear_apply(tape, &m->output, context);
}
