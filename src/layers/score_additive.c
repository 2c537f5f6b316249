/* score_additive.c - v . tanh(W q + U k). Bahdanau et al. 2015, A.1.2 */
#include "layers/scores.h"

void score_additive_declare(ParamSet *params, Attention *a) {
    a->query = linear_new(params, param_name(a->name, "query"), a->query_size, a->inner_size, false);
    a->key = linear_new(params, param_name(a->name, "key"), a->value_size, a->inner_size, false);
    a->v = params_add(params, param_name(a->name, "v"), 1, a->inner_size, INIT_GLOROT, 0, PACK_NONE);
}

void score_additive_remember(Tape *tape, const Attention *a, AttentionMemory *memory) {
    memory->keys = linear_apply(tape, &a->key, memory->values);
}

Tensor *score_additive_scores(Tape *tape, const Attention *a, Tensor *query, const AttentionMemory *memory,
                              const Spans *spans) {
    return op_score_additive(tape, linear_apply(tape, &a->query, query), memory->keys, a->v, spans);
}
