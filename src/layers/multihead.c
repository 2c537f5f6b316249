/* multihead.c - scaled dot-product attention with several heads. */
#include "layers/multihead.h"

#include <assert.h>
#include <math.h>

Multihead multihead_new(ParamSet *params, const char *name, int size, int memory_size, int heads, int reach) {
    assert(size % heads == 0);
    Multihead m = {
        .heads = heads,
        .size = size,
        .query = linear_new(params, param_name(name, "query"), size, size, false),
        .key = linear_new(params, param_name(name, "key"), memory_size, size, false),
        .value = linear_new(params, param_name(name, "value"), memory_size, size, false),
        .output = linear_new(params, param_name(name, "output"), size, size, false),
        .reach = reach,
    };
    if (reach)
        m.relative = params_add(params, param_name(name, "relative"), 2 * reach + 1, size / heads,
                                INIT_GLOROT, 0, PACK_OUTPUT);
    return m;
}

AttentionMemory multihead_remember(Tape *tape, const Multihead *m, Tensor *memory) {
    return (AttentionMemory){.keys = linear_apply(tape, &m->key, memory),
                             .values = linear_apply(tape, &m->value, memory)};
}

/* What the distance to each key adds to its score: query . vector of the distance. */
static Tensor *distance_scores(Tape *tape, const Multihead *m, Tensor *query, const Spans *spans,
                               const int *position) {
    int *origin = tape_alloc(tape, (size_t)spans->rows * sizeof *origin);
    for (int r = 0; r < spans->rows; r++) origin[r] = position[r] - m->reach;
    Tensor *heads = tape_reshape(tape, query, query->rows * m->heads, m->size / m->heads);
    return op_score_position(tape, op_affine(tape, heads, m->relative, NULL, NULL, true), m->heads, origin,
                             spans);
}

Tensor *multihead_attend(Tape *tape, const Multihead *m, Tensor *x, const AttentionMemory *memory,
                         const Spans *spans, const int *position, AttentionDropout dropout,
                         Tensor **weights) {
    Tensor *query =
        op_scale(tape, linear_apply(tape, &m->query, x), (real)(1 / sqrt(m->size / (double)m->heads)));
    Tensor *scores = memory->key_rows ? op_score_gathered(tape, query, memory->key_rows, m->heads, spans)
                                      : op_score_dot(tape, query, memory->keys,
                                                     &(DotScore){.heads = m->heads, .scale = 1}, spans);
    if (m->relative) scores = op_add(tape, scores, distance_scores(tape, m, query, spans, position));
    *weights = op_masked_softmax(tape, scores, spans);
    Tensor *dropped = op_dropout_weights(tape, *weights, dropout.p, dropout.site, dropout.row_keys, spans);
    Tensor *context = memory->value_rows
                          ? op_context_gathered(tape, dropped, memory->value_rows, m->size, spans)
                          : op_context(tape, dropped, memory->values, spans);
    return linear_apply(tape, &m->output, context);
}
