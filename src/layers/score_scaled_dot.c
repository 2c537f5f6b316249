/* score_scaled_dot.c - q . k / sqrt(d), so that the variance of the scores does not grow with the size d. Vaswani et al. 2017,
 * section 3.2.1 */
#include <math.h>
#include "layers/scores.h"

void score_scaled_dot_declare(ParamSet *params, Attention *a) { attention_match_declare(params, a, 1); }

void score_scaled_dot_remember(Tape *tape, const Attention *a, AttentionMemory *memory) {
    memory->keys = attention_match(tape, a, memory->values);
}

Tensor *score_scaled_dot_scores(Tape *tape, const Attention *a, Tensor *query, const AttentionMemory *memory,
                                const Spans *spans) {
    (void)a;
    DotScore form = {.heads = 1, .scale = (real)(1 / sqrt((double)query->columns))};
    return op_score_dot(tape, query, memory->keys, &form, spans);
}
