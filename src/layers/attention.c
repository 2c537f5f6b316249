/* attention.c - the part that all scores share: from scores to weights, from weights to the context. */
#include "layers/attention.h"

#include "autograd/activations.h"

Attention attention_new(ParamSet *params, const char *name, int score, AttentionSizes size) {
    Attention attention = {
        .score = &ATTENTION_SCORES[score], .name = params_keep_name(params, name), .size = size};
    attention.score->declare(params, &attention);
    return attention;
}

KeysValues attention_project_keys(Tape *tape, const Attention *attention, Tensor *values) {
    KeysValues kv = {.values = values};
    attention->score->project_keys(tape, attention, &kv);
    if (kv.keys) record_activation(tape, attention->name, "keys", kv.keys);
    record_activation(tape, attention->name, "values", kv.values);
    return kv;
}

/* alpha(q, k_i) = exp(a(q, k_i)) / sum_j exp(a(q, k_j)): eq. 11.1.3. */
Tensor *attention_weights(Tape *tape, const Attention *attention, Tensor *query, const KeysValues *kv,
                          const Spans *spans) {
    Tensor *scores = attention->score->scores(tape, attention, query, kv, spans);
    Tensor *weights = op_masked_softmax(tape, scores, spans);
    record_activation(tape, attention->name, "query", query);
    record_activation_spans(tape, attention->name, "scores", scores, spans, 0);
    record_activation_spans(tape, attention->name, "weights", weights, spans, 0);
    return weights;
}

/* sum_i alpha(q, k_i) v_i: eq. 11.1.1. */
Tensor *attention_context(Tape *tape, Tensor *weights, const KeysValues *kv, const Spans *spans,
                          AttentionDropout dropout) {
    weights = op_dropout_weights(tape, weights, dropout.p, dropout.stream, dropout.row_keys, spans);
    return kv->value_rows ? op_context_gathered(tape, weights, kv->value_rows, kv->values->columns, spans)
                          : op_context(tape, weights, kv->values, spans);
}
