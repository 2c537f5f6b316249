/* score_location.c - (W q)[position]: the query alone says where to look. Luong et al. 2015, section 3.1
 * Positions beyond the table share its last column. */
#include "layers/scores.h"

void score_location_declare(ParamSet *params, Attention *a) {
    a->query = linear_new(params, param_name(a->name, "query"), a->query_size, a->positions, false);
}

void score_location_remember(Tape *tape, const Attention *a, AttentionMemory *memory) {
    (void)tape, (void)a, (void)memory; /* the keys do not count */
}

Tensor *score_location_scores(Tape *tape, const Attention *a, Tensor *query, const AttentionMemory *memory,
                              const Spans *spans) {
    (void)memory;
    return op_score_position(tape, linear_apply(tape, &a->query, query), 1, NULL, spans);
}
