/* trace.h - everything that one translation computed: for pictures, and for whoever wants to check a formula.
 *
 * The model runs once more over the source and the translation, all steps at once as in training, and records
 * its activations (autograd/activations.h). Their names are those of the parameters nearby, as in the model
 * file. S source tokens and T target tokens, each with </s>; row t belongs to target token t:
 *
 *   source.embedded [S, D], target.embedded [T, D]     row t of the target is token t - 1, <s> first
 *   encoder.L.forward.hidden [S, H], .memory           states of recurrent layers; backward likewise
 *   encoder.annotations [S, K]                         what the decoder looks at
 *   decoder.gru.L.hidden [T + 1, H]                    row 0 is the state before the first token; of an LSTM
 *                                                      decoder.lstm.L.hidden and .memory
 *   decoder.attention.query [T, Q]                     q of the score's formula
 *   decoder.attention.keys [S, A], .values [S, K]      k, mapped where the score has a map for it
 *   decoder.attention.scores, .weights [1, T, S]       before and after the softmax
 *   decoder.attention.context [T, K]
 *   decoder.self_attention                             the same parts, of the decoder's own earlier outputs
 *   encoder.L.input, decoder.L.input [., H]            what goes into a Transformer block
 *   encoder.L.self, decoder.L.self, decoder.L.cross    .query .keys .values .scores .weights .context: head h
 *                                                      owns columns h H/N .. (h + 1) H/N - 1
 *   decoder.readout [T, E]                             what the output layer reads
 *
 * Owner   a zeroed Trace is empty; trace_free releases it
 */
#ifndef EXPLAIN_TRACE_H
#define EXPLAIN_TRACE_H

#include "search/backpointers.h"
#include "autograd/activations.h"

/* One of the likeliest tokens of a step. */
typedef struct {
    int token;
    double logit, log_p;
} TraceToken;

typedef struct {
    int source_length, target_length; /* S and T */
    int *source, *target;             /* ids, with </s> */
    int top;
    TraceToken *best;   /* [T, top] of all tokens, best first */
    TraceToken *scores; /* [T] the target token */
    double *entropy;    /* [T] of the step's probabilities, in bits */
    Activations activations;
} Trace;

/* `top`: at most the size of the vocabulary. Without </s> in `source` and `target`. */
void trace_run(Trace *trace, const Seq2Seq *model, Tokens source, Tokens target, int top);
void trace_free(Trace *trace);

/* How one layer of the decoder looked at the source: each is a note of that name; head h of `heads` owns its
 * share of the columns of queries, keys and contexts. */
typedef struct {
    const Note *query, *keys, *values, *scores, *weights, *context; /* keys NULL: the score looks at none */
    int heads;
} TraceAttention;

/* `layer` from 0; false if there is no such layer. */
bool trace_attention(const Trace *trace, int layer, TraceAttention *attention);

/* The weights of a layer's self-attention, of the encoder or the decoder; NULL: there are none. Of a
 * recurrent decoder, which has one layer, columns are its outputs before the last. */
const Note *trace_self_attention(const Trace *trace, bool encoder, int layer);

/* Members of a JSON object, without its braces, a line for each:
 *
 *   "source": ["go", ".", "</s>"], "target": [...]    tokens
 *   "steps": [{"token": "va", "logit": 8.1, "log_p": -0.2, "best": [{"token": ..., ...}, ...]}, ...]
 *   "beam": [{"parent": -1, "token": "va", "log_p": -0.2}, ...]   `tree`, if there is one: what the search
 *                                                     kept, and with "dropped": true the best candidates of
 *                                                     a step that it did not; parent counts from 0 in this
 *                                                     list
 *   "tensors": {"source.embedded": [[...], ...], ...} notes of several heads are lists of matrices
 *
 * Numbers read back as the same floats. */
void trace_write_json(const Trace *trace, const Seq2Seq *model, const Backpointers *tree, StrBuf *out);

#endif
