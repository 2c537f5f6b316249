/* score_distance.c - -|q - k|^2 / 2, the logarithm of a Gaussian kernel. Dive into Deep Learning, "Attention Scoring Functions"
 * Computed as q . k - |k|^2 / 2 - |q|^2 / 2: the squared lengths of the keys are made once per sentence. */
#include <math.h>
#include "layers/scores.h"

/* The map of the keys begins d^(1/4) times smaller than Glorot's, which makes the first scores sqrt(d) times smaller: otherwise the
 * softmax starts, and stays, at whichever key is shortest. */
void score_distance_declare(ParamSet *params, Attention *a) {
    if (a->query_size == a->value_size) return;
    double limit = sqrt(6.0 / (a->query_size + a->value_size)) / pow(a->query_size, 0.25);
    a->key.weight = params_add(params, param_name(a->name, "key.weight"), a->value_size, a->query_size,
                               INIT_UNIFORM, limit, PACK_AFFINE);
}

void score_distance_remember(Tape *tape, const Attention *a, AttentionMemory *memory) {
    memory->keys = attention_match(tape, a, memory->values);
    memory->bias = op_half_square(tape, memory->keys);
}

Tensor *score_distance_scores(Tape *tape, const Attention *a, Tensor *query, const AttentionMemory *memory,
                              const Spans *spans) {
    (void)a;
    DotScore form = {
        .heads = 1, .scale = 1, .query_bias = op_half_square(tape, query), .key_bias = memory->bias};
    return op_score_dot(tape, query, memory->keys, &form, spans);
}
