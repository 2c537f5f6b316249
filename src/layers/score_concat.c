/* score_concat.c - v . tanh(W [q; k]). Luong et al. 2015, section 3.1
 * The product with the joined vector is the sum of two products: W is kept as the two halves, drawn as the one matrix
 * [Q + K, A] that they make up. Beyond that it is the additive score. */
#include <math.h>
#include "layers/scores.h"

static Linear half(ParamSet *params, const Attention *a, const char *side, int inputs) {
    double whole = a->query_size + a->value_size + a->inner_size; /* rows and columns of W */
    return attention_map(params, a, side, inputs, a->inner_size, sqrt((inputs + a->inner_size) / whole));
}

void score_concat_declare(ParamSet *params, Attention *a) {
    a->query = half(params, a, "query", a->query_size);
    a->key = half(params, a, "key", a->value_size);
    a->v = params_add(params, param_name(a->name, "v"), 1, a->inner_size, INIT_GLOROT, 0, PACK_NONE);
}

void score_concat_remember(Tape *tape, const Attention *a, AttentionMemory *memory) {
    score_additive_remember(tape, a, memory);
}

Tensor *score_concat_scores(Tape *tape, const Attention *a, Tensor *query, const AttentionMemory *memory,
                            const Spans *spans) {
    return score_additive_scores(tape, a, query, memory, spans);
}
