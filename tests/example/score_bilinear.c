/* score_bilinear.c - (A q) . (B k) / sqrt(a): query and key meet in a space of their own. Kim, Jun and Zhang 2018, section 3.1
 *
 * An example of how a score is added: this file goes into src/layers/, its row into SCORE_TABLE of src/layers/scores.h:
 *
 *     ROW(bilinear, "(A q) . (B k) / sqrt(a)")
 *
 * Nothing else is to be done: the option table, --help and the tests read the table. tests/cli/new_score.sh does just that.
 *
 * Shapes  q [n, Q], values [sum S, K], both mapped to a = model.attention_size columns
 */
#include <math.h>
#include "layers/scores.h"

/* Which parameters there are. Their names begin with that of the attention they belong to; the sizes are in `a`. */
void score_bilinear_declare(ParamSet *params, Attention *a) {
    a->query = linear_new(params, param_name(a->name, "query"), a->query_size, a->inner_size, false);
    a->key = linear_new(params, param_name(a->name, "key"), a->value_size, a->inner_size, false);
}

/* What depends on the source alone is computed here, once for all steps of the decoder. */
void score_bilinear_remember(Tape *tape, const Attention *a, AttentionMemory *memory) {
    memory->keys = linear_apply(tape, &a->key, memory->values);
}

/* One number for each query and each key of its span. Ops know their derivatives, so there is nothing more to do for training. */
Tensor *score_bilinear_scores(Tape *tape, const Attention *a, Tensor *query, const AttentionMemory *memory,
                              const Spans *spans) {
    DotScore form = {.heads = 1, .scale = (real)(1 / sqrt((double)a->inner_size))};
    return op_score_dot(tape, linear_apply(tape, &a->query, query), memory->keys, &form, spans);
}
