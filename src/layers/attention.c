/* attention.c - the score table, and what all scores share. */
#include "layers/attention.h"

#include "base/strview.h"
#include "layers/scores.h"

const AttentionScore ATTENTION_SCORES[] = {
    {"additive", "v . tanh(W q + U k)", score_additive_declare, score_additive_keys, score_additive_scores},
};
const int ATTENTION_SCORE_COUNT = sizeof ATTENTION_SCORES / sizeof *ATTENTION_SCORES;

const char *attention_choices(void) {
    static StrBuf choices;
    if (!choices.length)
        for (int i = 0; i < ATTENTION_SCORE_COUNT; i++)
            strbuf_format(&choices, "%s%s", i ? "|" : "", ATTENTION_SCORES[i].name);
    return strbuf_text(&choices);
}

Attention attention_new(ParamSet *params, const char *name, int score, int query_size, int value_size,
                        int inner_size) {
    Attention attention = {.score = &ATTENTION_SCORES[score],
                           .name = name,
                           .query_size = query_size,
                           .value_size = value_size,
                           .inner_size = inner_size};
    attention.score->declare(params, &attention);
    return attention;
}

Tensor *attention_keys(Tape *tape, const Attention *attention, Tensor *values) {
    return attention->score->keys(tape, attention, values);
}

Tensor *attention_context(Tape *tape, const Attention *attention, Tensor *query, Tensor *keys, Tensor *values,
                          const Spans *spans, Tensor **weights) {
    Tensor *scores = attention->score->scores(tape, attention, query, keys, spans);
    *weights = op_masked_softmax(tape, scores, spans);
    return op_context(tape, *weights, values, spans);
}
