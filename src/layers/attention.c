/* attention.c - the score table, and what all scores share. */
#include "layers/attention.h"

#include <math.h>
#include "layers/scores.h"

#define SCORE_ROW(name, formula)                                                                             \
    {#name, formula, score_##name##_declare, score_##name##_remember, score_##name##_scores},
const AttentionScore ATTENTION_SCORES[] = {SCORE_TABLE(SCORE_ROW)};
const int ATTENTION_SCORE_COUNT = sizeof ATTENTION_SCORES / sizeof *ATTENTION_SCORES;

#define SCORE_NAME(name, formula) "|" #name
const char ATTENTION_NAMES[] = SCORE_TABLE(SCORE_NAME);

Attention attention_new(ParamSet *params, const char *name, AttentionForm form) {
    Attention attention = {.score = &ATTENTION_SCORES[form.score],
                           .name = name,
                           .query_size = form.query_size,
                           .value_size = form.value_size,
                           .inner_size = form.inner_size,
                           .positions = form.positions};
    attention.score->declare(params, &attention);
    return attention;
}

AttentionMemory attention_remember(Tape *tape, const Attention *attention, Tensor *values) {
    AttentionMemory memory = {.values = values};
    Phase before = tape_phase(tape, PHASE_ATTENTION);
    attention->score->remember(tape, attention, &memory);
    tape_phase(tape, before);
    return memory;
}

Tensor *attention_weights(Tape *tape, const Attention *attention, Tensor *query,
                          const AttentionMemory *memory, const Spans *spans) {
    return op_masked_softmax(tape, attention->score->scores(tape, attention, query, memory, spans), spans);
}

Tensor *attention_context(Tape *tape, const Attention *attention, Tensor *query,
                          const AttentionMemory *memory, const Spans *spans, AttentionDropout dropout,
                          Tensor **weights) {
    Phase before = tape_phase(tape, PHASE_ATTENTION);
    *weights = attention_weights(tape, attention, query, memory, spans);
    Tensor *dropped = op_dropout_weights(tape, *weights, dropout.p, dropout.site, dropout.row_keys, spans);
    Tensor *context = op_context(tape, dropped, memory->values, spans);
    tape_phase(tape, before);
    return context;
}

Linear attention_map(ParamSet *params, const Attention *a, const char *side, int inputs, int outputs,
                     double shrink) {
    const char *name = param_name(param_name(a->name, side), "weight");
    double limit = shrink * sqrt(6.0 / (inputs + outputs));
    return (Linear){params_add(params, name, inputs, outputs, INIT_UNIFORM, limit, PACK_AFFINE), NULL};
}

void attention_match_declare(ParamSet *params, Attention *a, double shrink) {
    if (a->query_size != a->value_size)
        a->key = attention_map(params, a, "key", a->value_size, a->query_size, shrink);
}

Tensor *attention_match(Tape *tape, const Attention *a, Tensor *values) {
    return a->key.weight ? linear_apply(tape, &a->key, values) : values;
}
