/* state.h - the data that flows from the encoder to the decoder, and from one decoding step to the next.
 *
 * Shapes  B sentences; S[b] source tokens with </s>; rows are hypotheses, each belonging to one sentence
 * Owner   everything lives in the arena of the tape that made it
 */
#ifndef MODELS_STATE_H
#define MODELS_STATE_H

#include "layers/attention.h"
#include "layers/kv_cache.h"
#include "layers/recurrent.h"
#include "config/config.h"

typedef struct {
    Tensor *annotations;               /* [rows, K], rows as in sequences.h */
    CellState final[MODEL_MAX_LAYERS]; /* START_FINAL: [B, H] state of each layer after the last token */
} EncoderOutput;

enum { STATE_PARTS = 2 * MODEL_MAX_LAYERS + 1 };

/* What a decoder carries from step to step: one row per hypothesis in each part. Recurrent: the parts of each
 * layer's cell (h, or h and c) and, with input feeding, the attentional vector. Transformer with SSRUs: c of
 * each block. Decoders with self-attention, the Transformer and recurrent ones: the keys and values of
 * earlier steps. */
typedef struct {
    Tensor *part[STATE_PARTS];
    int parts;
    int steps; /* Transformer: the number of steps so far */
    KvCache cache;
} DecoderState;

/* The maps that read a recurrent decoder's context: into the recurrence, and into the readout. */
enum { CONTEXT_TO_STATE, CONTEXT_TO_READOUT, CONTEXT_MAPS };

typedef struct {
    Tape *tape;  /* its memory; steps also store their keys and values here, for later steps */
    int decoder; /* index of the model's decoder */
    int B;
    /* [B + 1]: sentence b owns rows start[b] .. start[b + 1] - 1 that the decoder attends to: its
     * annotations or, without attention, one row. */
    const int *start;
    bool hides_end;                      /* the last of these rows is not attended to, unless it is alone */
    KeysValues source[MODEL_MAX_LAYERS]; /* one for each attention of the decoder to the source */
    DecoderState initial;                /* row b = sentence b */
    Tensor *mapped[CONTEXT_MAPS];        /* mapped annotations, set by map_annotations (decoder.h); or NULL */
} Encoded;

/* Several sub-batches as one batch: sentence b of the whole has lengths[b] rows. encoded_add then copies the
 * sub-batches, in order, to the tape of the whole. */
Encoded *encoded_join(Tape *tape, const int *lengths, int B);
void encoded_add(Tape *tape, Encoded *whole, int first_sentence, const Encoded *sub_batch);

/* Spans of rows that attend to the whole source: row r to that of sentence[r]. */
const Spans *encoded_spans(Tape *tape, const Encoded *encoded, const int *sentence, int rows);

/* The attention of a Transformer to report: layer and head from 0, or ATTENTION_MEAN. Recurrent decoders have
 * only one. */
typedef struct {
    int layer, head;
} AttentionChoice;
enum { ATTENTION_MEAN = -1 };

/* Attention to the source in one step: row r attends to source positions 0..length[r]-1 with weights
 * weights[start[r]] ... */
typedef struct {
    AttentionChoice choice;    /* set before the step */
    const real *weights;       /* NULL if the model has no such attention */
    const int *start, *length; /* [rows] */
} AttentionWeights;

/* One decoding step of some hypotheses. */
typedef struct {
    Tape *tape; /* the results of the step live here; it does not record */
    const Encoded *encoded;
    int rows;
    const int *row_sentence;     /* [rows] the sentence of each hypothesis */
    DecoderState *state;         /* replaced by the state after the step */
    AttentionWeights *attention; /* receives the attention to the source; NULL: not computed */
    const Spans *spans;          /* each row's source rows; seq2seq_readout sets them */
} StepContext;

#endif
