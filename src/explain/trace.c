/* trace.c - a forward pass on a tape that records activations. */
#include "explain/trace.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"

static int *with_end(Tokens tokens) {
    int *ids = mem_alloc((size_t)tokens.length + 1, sizeof *ids);
    if (tokens.length > 0) memcpy(ids, tokens.ids, (size_t)tokens.length * sizeof *ids);
    ids[tokens.length] = VOCAB_EOS;
    return ids;
}

/* Inserts the token into the sorted list of `count` best tokens, at most `top`. Returns the new count. */
static int insert(TraceToken *best, int count, int top, TraceToken token) {
    if (count == top && !(token.logit > best[top - 1].logit)) return count;
    int at = count < top ? count++ : top - 1;
    for (; at > 0 && token.logit > best[at - 1].logit; at--) best[at] = best[at - 1];
    best[at] = token;
    return count;
}

static void read_logits(Trace *trace, const Tensor *logits) {
    for (int t = 0; t < logits->rows; t++) {
        const real *row = tensor_row(logits, t);
        TraceToken *best = trace->best + (size_t)t * (size_t)trace->top;
        real greatest = row[0];
        int count = 0;
        for (int v = 1; v < logits->columns; v++)
            if (row[v] > greatest) greatest = row[v];
        double log_sum = (double)kern->log_sum_exp((size_t)logits->columns, row, greatest);
        for (int v = 0; v < logits->columns; v++) {
            TraceToken token = {v, (double)row[v], (double)row[v] - log_sum};
            double p = exp(token.log_p);
            if (p > 0) trace->entropy[t] -= p * log2(p);
            if (trace->top > 0) count = insert(best, count, trace->top, token);
            if (v == trace->target[t]) trace->scores[t] = token;
        }
    }
}

void trace_run(Trace *trace, const Seq2Seq *model, Tokens source, Tokens target, int top) {
    assert(top <= vocab_size(tokenizer_vocab(seq2seq_target(model))));
    *trace = (Trace){.source_length = source.length + 1,
                     .target_length = target.length + 1,
                     .source = with_end(source),
                     .target = with_end(target),
                     .top = top};
    trace->best = mem_alloc((size_t)trace->target_length * (size_t)top, sizeof *trace->best);
    trace->scores = mem_alloc((size_t)trace->target_length, sizeof *trace->scores);
    trace->entropy = mem_alloc((size_t)trace->target_length, sizeof *trace->entropy);
    Tape *tape = tape_new(seq2seq_params(model), false);
    tape->activations = &trace->activations;
    read_logits(trace, seq2seq_forced(model, tape, source, target));
    tape_free(tape);
}

void trace_free(Trace *trace) {
    mem_free(trace->source);
    mem_free(trace->target);
    mem_free(trace->best);
    mem_free(trace->scores);
    mem_free(trace->entropy);
    activations_free(&trace->activations);
    *trace = (Trace){0};
}

static const Activation *find_named(const Trace *trace, const char *prefix, const char *suffix) {
    char name[64];
    snprintf(name, sizeof name, "%s.%s", prefix, suffix);
    return activations_find(&trace->activations, name);
}

bool trace_attention(const Trace *trace, int layer, TraceAttention *attention) {
    char name[32];
    snprintf(name, sizeof name, "decoder.%d.cross", layer);
    if (layer == 0 && find_named(trace, "decoder.attention", "weights"))
        snprintf(name, sizeof name, "decoder.attention");
    *attention = (TraceAttention){.query = find_named(trace, name, "query"),
                                  .keys = find_named(trace, name, "keys"),
                                  .values = find_named(trace, name, "values"),
                                  .scores = find_named(trace, name, "scores"),
                                  .weights = find_named(trace, name, "weights"),
                                  .context = find_named(trace, name, "context")};
    if (!attention->weights) return false;
    attention->heads = attention->weights->heads;
    return true;
}

const Activation *trace_self_attention(const Trace *trace, bool encoder, int layer) {
    char name[32];
    snprintf(name, sizeof name, "%s.%d.self", encoder ? "encoder" : "decoder", layer);
    const Activation *weights = find_named(trace, name, "weights");
    return !weights && !encoder && layer == 0 ? find_named(trace, "decoder.self_attention", "weights")
                                              : weights;
}
