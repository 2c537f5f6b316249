/* seq2seq.h - the translation model: encoder, attention, decoder, vocabularies.
 *
 * One definition serves training (seq2seq_loss: all steps of a known target at once) and search: encode once,
 * then start, then step after step. A search calls the two halves of a step, seq2seq_readout and
 * seq2seq_logits.
 *
 *     Encoded *encoded = seq2seq_encode(model, tape, scratch, sources, B, false);
 *     DecoderState state = seq2seq_start(encoded);
 *     StepContext step = {
 *         .tape = tape, .encoded = encoded, .rows = rows, .row_sentence = row_sentence, .state = &state};
 *     Tensor *logits = seq2seq_step(model, &step, tokens);
 *
 * Shapes  B sentences; S[b] source tokens with </s>; rows are hypotheses, each belonging to one sentence;
 *         logits [rows, V] (before the softmax)
 * Owner   everything lives in the arena of the tape given to the call: encoded must outlive the steps that
 *         use it, so keep it on a tape of its own, where the steps of a Transformer also leave their keys and
 *         values; a step may use another tape than the one its input state lives on
 * Threads the model is read-only except for its tokenizers; each thread has its own tapes
 */
#ifndef MODELS_SEQ2SEQ_H
#define MODELS_SEQ2SEQ_H

#include "models/state.h"
#include "data/shortlist.h"
#include "tokenizer/tokens.h"

typedef struct Seq2Seq Seq2Seq;

/* `source` and `target` are retained. Parameters are declared; params_initialize or params_allocate gives
 * them memory. */
Seq2Seq *seq2seq_new(const Config *config, Tokenizer *source, Tokenizer *target);
void seq2seq_free(Seq2Seq *model);
/* The same model with tokenizers of its own, for one more thread to translate text with; `model` outlives
 * it. */
Seq2Seq *seq2seq_view(const Seq2Seq *model);
ParamSet *seq2seq_params(const Seq2Seq *model);
const Config *seq2seq_config(const Seq2Seq *model);
Tokenizer *seq2seq_source(const Seq2Seq *model);
Tokenizer *seq2seq_target(const Seq2Seq *model);
/* Do both sides have the same tokens by the same ids? Their tokenizers may differ. */
bool seq2seq_shares_vocabulary(const Seq2Seq *model);
/* NULL if the model has none. seq2seq_take_shortlist passes ownership to the model; to be used with packed
 * parameters, it comes before they have memory. */
const Shortlist *seq2seq_shortlist(const Seq2Seq *model);
void seq2seq_take_shortlist(Seq2Seq *model, Shortlist *shortlist);
/* The number of decoders: 2 if the model has one for each direction, otherwise 1. */
int seq2seq_directions(const Seq2Seq *model);
/* The numbers of layers and heads of the decoder that attend to the source: 0 without attention. */
void seq2seq_attentions(const Seq2Seq *model, int *layers, int *heads);
/* Do both vocabularies have tokens for placeholders (tokenizer/reserved_tokens.h)? */
bool seq2seq_has_reserved(const Seq2Seq *model);
/* STATUS_USAGE if the model has no attention to the source to show. */
bool seq2seq_has_attention(const Seq2Seq *model);
Status seq2seq_check_attention(const Seq2Seq *model);

/* sources [B], any order of lengths; </s> is added. If the model has two decoders, `right_to_left` selects
 * the one that writes in this direction. `scratch` is reset and holds what only encoding needs: sentences
 * go through the encoder in sub-batches of a bounded number of tokens, so that its size does not grow with
 * the batch. NULL: the whole batch at once, on `tape`; the numbers are the same. Neither tape records. */
Encoded *seq2seq_encode(const Seq2Seq *model, Tape *tape, Tape *scratch, const Tokens *sources, int B,
                        bool right_to_left);
DecoderState seq2seq_start(const Encoded *encoded); /* row b = sentence b */
/* One token for each row: tokens[r] is the previous target token (VOCAB_BOS first). Returns the logits. */
Tensor *seq2seq_step(const Seq2Seq *model, const StepContext *step, const int *tokens);
/* The two halves of a step: the input of the output layer [rows, E], and the logits of some of these rows. A
 * search that needs only few numbers of each row takes a block of rows at a time, so that the logits stay in
 * the cache. */
Tensor *seq2seq_readout(const Seq2Seq *model, const StepContext *step, const int *tokens);
Tensor *seq2seq_logits(const Seq2Seq *model, Tape *tape, Tensor *readout);
/* The rows of the output layer for some tokens: floats, or bytes with a scale for each row if the weight has
 * 8 bits. The caller owns them: all 0 at first, output_rows_free at the end. */
typedef struct {
    real *floats;  /* [count, E], or NULL */
    int8_t *bytes; /* [count, width], of which E are numbers; or NULL */
    real *scales;  /* [count] */
    size_t width, float_capacity, byte_capacity, scale_capacity;
} OutputRows;
void seq2seq_output_rows(const Seq2Seq *model, const int *ids, int count, OutputRows *rows);
void output_rows_free(OutputRows *rows);
/* Tokens with their rows of the output layer. */
typedef struct {
    const int *ids;          /* [count] */
    const int *indices;      /* [count] of their rows in `table` */
    const OutputRows *table; /* of seq2seq_output_rows */
    int count;
} TokenSubset;
/* The logits of some tokens for rows first..first+rows-1 of a readout, to logits [rows, count]: computed in
 * floats, whatever format the weights have. The model must have a shortlist. */
void seq2seq_subset_logits(const Seq2Seq *model, const Tensor *readout, int first, int rows,
                           const TokenSubset *tokens, real *logits);
/* New state whose row i is row index[i] of `state`; does not record. */
DecoderState seq2seq_select(Tape *tape, const DecoderState *state, const int *index, int rows);

/* A batch for teacher forcing. */
typedef struct {
    int B;
    const Tokens *source, *target; /* [B], in reading order; a right-to-left decoder reverses them itself */
    const uint32_t *sentence;      /* [B] number of the sentence in the corpus: keys the dropout masks */
    uint64_t seed_update;          /* mixes seed and update number: keys the dropout masks; 0 = no dropout */
} TrainingBatch;

typedef struct {
    double loss; /* sum of the smoothed cross-entropy over all target tokens with </s>, natural logarithm */
    double likelihood; /* sum of -log p(token): without smoothing, for perplexity */
    long tokens;       /* target tokens with </s>, of all decoders */
} BatchLoss;

/* Forward pass with the reference target. On a recording tape also sets the gradients up so that
 * tape_backward gives scale * d loss. */
BatchLoss seq2seq_loss(const Seq2Seq *model, Tape *tape, const TrainingBatch *batch, double label_smoothing,
                       double scale);

/* The same for a deferred tape: returns the number of target tokens; `sums` is valid after the tape's ops
 * have run (tapes.h). */
long seq2seq_deferred_loss(const Seq2Seq *model, Tape *tape, const TrainingBatch *batch,
                           double label_smoothing, double scale, CrossEntropy *sums);

/* The same pass over one pair, without dropout: the logits of each token of the target and of its </s>,
 * [target.length + 1, V]. Intermediate results go to the tape's Activations. */
Tensor *seq2seq_forced(const Seq2Seq *model, Tape *tape, Tokens source, Tokens target);

#endif
