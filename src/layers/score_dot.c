/* score_dot.c - q . k. Luong et al. 2015, section 3.1 */
#include <math.h>
#include "layers/scores.h"

void score_dot_declare(ParamSet *params, Attention *a) {
    attention_match_declare(params, a, 1 / sqrt((double)a->query_size));
}

void score_dot_remember(Tape *tape, const Attention *a, AttentionMemory *memory) {
    memory->keys = attention_match(tape, a, memory->values);
}

Tensor *score_dot_scores(Tape *tape, const Attention *a, Tensor *query, const AttentionMemory *memory,
                         const Spans *spans) {
    (void)a;
    return op_score_dot(tape, query, memory->keys, &(DotScore){.heads = 1, .scale = 1}, spans);
}
