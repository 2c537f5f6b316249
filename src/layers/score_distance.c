/* score_distance.c - -|q - k|^2 / 2, the logarithm of a Gaussian kernel. Dive into Deep Learning, "Attention Scoring Functions"
 * Computed as q . k - |k|^2 / 2 - |q|^2 / 2: the squared lengths of the keys are made once per sentence. */
#include <math.h>
#include "layers/scores.h"

/* Half the usual square root: the scores are squares of the keys. */
void score_distance_declare(ParamSet *params, Attention *a) {
    attention_match_declare(params, a, 1 / pow(a->query_size, 0.25));
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
