/* score_cosine.c - b q . k / (|q| |k|): addressing by content, with a learned sharpness b. Graves, Wayne and Danihelka 2014,
 * eq. 5-6. A cosine lies between -1 and 1, too little to tell keys apart: the sharpness starts at 8 and is learned. */
#include "layers/scores.h"

enum { FIRST_SHARPNESS = 8 };

void score_cosine_declare(ParamSet *params, Attention *a) {
    attention_match_declare(params, a, 1);
    a->sharpness =
        params_add(params, param_name(a->name, "sharpness"), 1, 1, INIT_CONSTANT, FIRST_SHARPNESS, PACK_NONE);
}

void score_cosine_remember(Tape *tape, const Attention *a, AttentionMemory *memory) {
    memory->keys = op_unit_rows(tape, attention_match(tape, a, memory->values));
}

Tensor *score_cosine_scores(Tape *tape, const Attention *a, Tensor *query, const AttentionMemory *memory,
                            const Spans *spans) {
    DotScore form = {.heads = 1, .scale = 1, .sharpness = a->sharpness};
    return op_score_dot(tape, op_unit_rows(tape, query), memory->keys, &form, spans);
}
