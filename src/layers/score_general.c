/* score_general.c - q . W k, for queries and keys of any sizes. Luong et al. 2015, section 3.1 */
#include <math.h>
#include "layers/scores.h"

void score_general_declare(ParamSet *params, Attention *a) {
    a->key = attention_map(params, a, "key", a->value_size, a->query_size, 1 / sqrt((double)a->query_size));
}

void score_general_remember(Tape *tape, const Attention *a, AttentionMemory *memory) {
    memory->keys = linear_apply(tape, &a->key, memory->values);
}

Tensor *score_general_scores(Tape *tape, const Attention *a, Tensor *query, const AttentionMemory *memory,
                             const Spans *spans) {
    return score_dot_scores(tape, a, query, memory, spans);
}
