/* trace.h - all activations of one translation, for pictures and to check formulas.
 *
 * The model runs once more over the source and the translation, all steps at once as in training, and records
 * its activations (autograd/activations.h). Their names are those of the parameters nearby, as in the model
 * file. S source tokens and T target tokens, each with </s>; row t belongs to target token t:
 *
 *   source.embedded [S, D], target.embedded [T, D]     row t of the target is token t - 1, <s> first
 *   encoder.L.forward.hidden [S, H], .memory           states of recurrent layers; the same for backward
 *   encoder.annotations [S, K]                         what the decoder attends to
 *   decoder.gru.L.hidden [T + 1, H]                    row 0 is the state before the first token; of an LSTM
 *                                                      decoder.lstm.L.hidden and .memory
 *   decoder.attention.query [T, Q]                     q of the score's formula
 *   decoder.attention.keys [S, A], .values [S, K]      k, mapped if the score has a map for it
 *   decoder.attention.scores, .weights [1, T, S]       before and after the softmax
 *   decoder.attention.context [T, K]
 *   decoder.self_attention                             the same names, for the decoder's earlier outputs
 *   encoder.L.input, decoder.L.input [., H]            input of a Transformer block
 *   encoder.L.self, decoder.L.self, decoder.L.cross    .query .keys .values .scores .weights .context: head h
 *                                                      owns columns h H/N .. (h + 1) H/N - 1
 *   decoder.readout [T, E]                             input of the output layer
 *
 * Owner   a zeroed Trace is empty; trace_free releases it
 */
#ifndef EXPLAIN_TRACE_H
#define EXPLAIN_TRACE_H

#include "autograd/activations.h"
#include "search/backpointers.h"

/* One of the likeliest tokens of a step. */
typedef struct {
    int token;
    double logit, log_p;
} TraceToken;

typedef struct {
    int source_length, target_length; /* S and T */
    int *source, *target;             /* ids, with </s> */
    int top;
    TraceToken *best;   /* [T, top] best tokens first */
    TraceToken *scores; /* [T] the target token */
    double *entropy;    /* [T] of the probabilities of a step, in bits */
    Activations activations;
} Trace;

/* `source` and `target` have no </s>. `top` is at most the size of the vocabulary. */
void trace_run(Trace *trace, const Seq2Seq *model, Tokens source, Tokens target, int top);
void trace_free(Trace *trace);

/* The cross-attention of one decoder layer: activations of these names. Head h of `heads` owns columns h
 * C/heads .. (h + 1) C/heads - 1 of queries, keys, values and contexts, where C is the number of columns. */
typedef struct {
    const Activation *query, *keys, *values, *scores, *weights, *context; /* keys NULL: the score has none */
    int heads;
} TraceAttention;

/* `layer` from 0; false if there is no such layer. */
bool trace_attention(const Trace *trace, int layer, TraceAttention *attention);

/* The self-attention weights of a layer of the encoder or the decoder; NULL if there are none. A recurrent
 * decoder has one layer, and its columns are its outputs before the last one. */
const Activation *trace_self_attention(const Trace *trace, bool encoder, int layer);

/* Appends members of a JSON object without its braces, one per line:
 *
 *   "source": ["go", ".", "</s>"], "target": [...]    tokens
 *   "steps": [{"token": "va", "logit": 8.1, "log_p": -0.2, "best": [{"token": ..., ...}, ...]}, ...]
 *   "beam": [{"parent": -1, "token": "va", "log_p": -0.2}, ...]   `tree`, if it is not empty: hypotheses of
 *                                                     the beam and, with "dropped": true, the best pruned
 *                                                     candidates of a step; parent is an index of this list,
 *                                                     from 0
 *   "tensors": {"source.embedded": [[...], ...], ...} several heads are a list of matrices
 *
 * Numbers read back as the same floats. */
void trace_write_json(const Trace *trace, const Seq2Seq *model, const Backpointers *tree, StrBuf *out);

#endif
