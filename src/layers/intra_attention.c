/* intra_attention.c - all steps of known targets at once, or one step with a cache of the earlier ones. */
#include "layers/intra_attention.h"

#include <string.h>
#include "autograd/activations.h"

Attention intra_attention_new(ParamSet *params, const char *name, int size) {
    AttentionSizes sizes = {.query = size, .value = size};
    return attention_new(params, name, attention_score_named("general"), sizes);
}

Tensor *intra_attention_all(Tape *tape, const Attention *attention, Tensor *outputs,
                            const Sequences *sequences, AttentionDropout dropout) {
    const Spans *spans = sequences_spans_before(tape, sequences);
    KeysValues kv = attention_project_keys(tape, attention, outputs);
    Tensor *weights = attention_weights(tape, attention, outputs, &kv, spans);
    Tensor *contexts = attention_context(tape, weights, &kv, spans, dropout);
    record_activation(tape, attention->name, "context", contexts);
    return contexts;
}

static void cache_append(Tape *tape, Tape *cache_tape, const KeysValues *kv, KvCache *cache) {
    const Tensor *output = kv->values;
    KvStep *now = kv_step_new(cache_tape, 1, output->rows, output->columns);
    memcpy(now->keys, kv->keys->data, tensor_size(output) * sizeof(real));
    memcpy(now->values, output->data, tensor_size(output) * sizeof(real));
    *cache = kv_cache_append(tape, cache, now, output->rows);
}

Tensor *intra_attention_step(Tape *tape, Tape *cache_tape, const Attention *attention, Tensor *output,
                             KvCache *cache) {
    const Spans *spans = kv_cache_spans(tape, cache->steps, output->rows);
    KeysValues now = attention_project_keys(tape, attention, output), earlier = now;
    earlier.key_rows = kv_cache_rows(tape, cache, 0, false, output->columns);
    earlier.value_rows = kv_cache_rows(tape, cache, 0, true, output->columns);
    Tensor *weights = attention_weights(tape, attention, output, &earlier, spans);
    Tensor *context = attention_context(tape, weights, &earlier, spans, (AttentionDropout){0});
    cache_append(tape, cache_tape, &now, cache);
    return context;
}
