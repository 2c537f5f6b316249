/* seq2seq.h - the translation model: encoder, attention, decoder, vocabularies.
 * Bahdanau, Cho and Bengio 2015; conditional GRU: Sennrich et al. 2017 (Nematus), section 3
 *
 * One definition serves training, scoring, greedy and beam search: encode once, then start, then step after step.
 *
 *     Encoded *encoded = seq2seq_encode(model, tape, ids, lengths, B);
 *     DecoderState state = seq2seq_start(model, tape, encoded);
 *     Tensor *logits = seq2seq_step(model, tape, encoded, row_sentence, tokens, rows, &state, &attention);
 *
 * Shapes  B sentences; S[b] source tokens with </s>; rows are hypotheses, each belonging to one sentence;
 *         values [sum S, K], keys [sum S, A], logits [rows, V] (before the softmax), state layers [rows, H]
 * Owner   everything lives in the arena of the tape given to the call: encoded must outlive the steps that use it, so keep it
 *         on a tape of its own; a step may use another tape than the one its input state lives on
 * Threads the model is read-only; each thread has its own tapes
 */
#ifndef MODELS_SEQ2SEQ_H
#define MODELS_SEQ2SEQ_H

#include "models/config.h"
#include "num/tape.h"

typedef struct Seq2Seq Seq2Seq;

typedef struct {
    int B;
    const int *start; /* [B + 1]: sentence b owns rows start[b] .. start[b + 1] - 1 of keys and values */
    Tensor *values, *keys;
    Tensor *initial[MODEL_MAX_LAYERS]; /* [B, H] first decoder state of each layer */
} Encoded;

typedef struct {
    Tensor *layer[MODEL_MAX_LAYERS]; /* [rows, H] */
    int layers;
} DecoderState;

/* Attention weights of one step: row r looks at source positions 0..length[r]-1 with weights
 * weights[start[r]] ... */
typedef struct {
    const real *weights;
    const int *start, *length; /* [rows] */
} AttentionWeights;

/* `source` and `target` are retained. Parameters are declared; params_initialize or params_allocate gives them memory. */
Seq2Seq *seq2seq_new(const Config *config, Segmenter *source, Segmenter *target);
void seq2seq_free(Seq2Seq *model);
ParamSet *seq2seq_params(const Seq2Seq *model);
const Config *seq2seq_config(const Seq2Seq *model);
Segmenter *seq2seq_source(const Seq2Seq *model);
Segmenter *seq2seq_target(const Seq2Seq *model);

/* `ids[b]` has lengths[b] source tokens without </s> (it is added); any order of lengths. */
Encoded *seq2seq_encode(const Seq2Seq *model, Tape *tape, const int *const *ids, const int *lengths, int B);
DecoderState seq2seq_start(const Seq2Seq *model, Tape *tape, const Encoded *encoded); /* row b = sentence b */
/* One token for each row: tokens[r] is the previous target token (VOCAB_BOS first). Replaces *state. `attention` may be NULL. */
Tensor *seq2seq_step(const Seq2Seq *model, Tape *tape, const Encoded *encoded, const int *row_sentence,
                     const int *tokens, int rows, DecoderState *state, AttentionWeights *attention);
/* New state whose row i is row index[i] of `state`; does not record. */
DecoderState seq2seq_select(Tape *tape, const DecoderState *state, const int *index, int rows);

/* A batch for teacher forcing. */
typedef struct {
    int B;
    const int *const *source, *const *target; /* ids without <s> and </s> */
    const int *source_length, *target_length;
    const uint32_t *sentence; /* [B] number of the sentence in the corpus: keys the dropout masks */
    uint64_t seed_update;     /* mixes seed and update number: keys the dropout masks; 0 = no dropout */
} TrainingBatch;

typedef struct {
    double loss; /* sum of the smoothed cross-entropy over all target tokens with </s>, natural logarithm */
    double likelihood; /* sum of -log p(token): without smoothing, for perplexity */
    long tokens;       /* target tokens with </s> */
} BatchLoss;

/* Forward pass with the reference target. On a recording tape also sets the gradients up so that tape_backward gives
 * scale * d loss. */
BatchLoss seq2seq_loss(const Seq2Seq *model, Tape *tape, const TrainingBatch *batch, double label_smoothing,
                       double scale);

#endif
