/* decoder.h - one target token after another, in two families that share one interface.
 *
 * decoder_recurrent.c: recurrence, attention, readout, in three styles. s_t = g(y_{t-1}, c_t, s_{t-1}) is
 * Dive into Deep Learning, eq. 10.7.3, with the context c_t of eq. 11.4.1
 *   bahdanau     the query is the top state of the previous step; context and embedding feed the first layer
 *                (Bahdanau et al. 2015; Dive into Deep Learning, section 11.4)
 *   conditional  a first transition reads the embedding, its result is the query, a second transition reads
 *                the context (Sennrich et al. 2017, Nematus, section 3)
 *   luong        the query is the output of this step; context and output make the attentional vector that
 *                the output layer reads, with input feeding also the next step (Luong et al. 2015, sections 3
 *                and 3.3)
 * With the attention score "none" c_t is the same at every step: the encoder's last annotation (Cho et al.
 * 2014; Sutskever et al. 2014; Dive into Deep Learning, section 10.7.3).
 * With self-attention the readout also reads a context of the decoder's own earlier outputs
 * (layers/intra_attention.h).
 * Further layers stand on the first one of each. What needs only tokens (the first projection) and what needs
 * only results (the readout) are kept out of the recurrence, so that training does them once for all steps.
 *
 * decoder_transformer.c: a stack of Transformer blocks that look at the target so far and at the source
 * (Vaswani et al. 2017, section 3.1). Step by step, the keys and values of earlier steps are kept in the
 * state, so that a step costs one row per hypothesis.
 *
 * decoder_prepare once per batch, then decoder_prepare_steps and decoder_step after step; or decoder_forced
 * for all steps of known targets at once, which gives the same numbers.
 *
 * Shapes  n rows; embedded [n, D] after dropout; state parts [n, H]; context [n, K]; readout [n, E] is what
 *         the output layer reads
 */
#ifndef MODELS_DECODER_H
#define MODELS_DECODER_H

#include "layers/intra_attention.h"
#include "models/encoder.h"
#include "models/state.h"

typedef struct {
    const ModelOptions *options;
    Attention attention;              /* to the source: query [n, H], values [sum S, K] */
    Attention intra;                  /* self-attention: to the decoder's own earlier outputs [t, H] */
    Cell cell[MODEL_MAX_LAYERS];      /* [D, gates H] and [H, gates H]; upper layers [H, gates H] twice */
    Linear context;                   /* [K, gates H] bahdanau: from the context into the gates of layer 0 */
    Linear feed;                      /* [E, gates H] input feeding: from the attentional vector into them */
    Cell second;                      /* [K, gates H] and [H, gates H] conditional: reads the context */
    Linear start_h[MODEL_MAX_LAYERS]; /* [K, H] START_MEAN: from the mean annotation to the first state */
    Linear start_c[MODEL_MAX_LAYERS]; /* [K, H] the same for the memory of an LSTM */
    Linear read_state;                /* [H, E] READOUT_DEEP and luong */
    Linear read_context;              /* [K, E] the same */
    Linear read_embedding;            /* [D, E] READOUT_DEEP, except luong */
    Linear read_intra;                /* [H, E] self-attention */
    Norm read_norm;                   /* [1, E] */
} RecurrentDecoder;

typedef struct {
    const ModelOptions *options;
    RecurrentDecoder recurrent; /* one of the two, by options->decoder_style */
    TransformerStack blocks;
} Decoder;

/* `name`: what the names of its parameters begin with; `options` is kept. */
Decoder decoder_new(ParamSet *params, const char *name, const ModelOptions *options);
int decoder_readout_size(const ModelOptions *options); /* E: columns of the output table */
bool decoder_attends(const ModelOptions *options);     /* to the source, at every step */
/* Set encoded->source and encoded->initial; without attention also encoded->start, one row a sentence. */
void decoder_prepare(Tape *tape, const Decoder *decoder, const EncoderOutput *output, Tensor *annotations,
                     Encoded *encoded);
/* Before the first step, on a tape that does not record: whatever need not be made at every step. */
void decoder_prepare_steps(Tape *tape, const Decoder *decoder, Encoded *encoded);
/* *state is replaced; `attention` may be NULL. */
Tensor *decoder_step(Tape *tape, const Decoder *decoder, const Encoded *encoded, const Spans *spans,
                     Tensor *embedded, DecoderState *state, AttentionWeights *attention);
/* Rows of `embedded` and of the result, which is dropped out, as in `target`; sentence b of `target`
 * translates sentence b of `encoded`. */
Tensor *decoder_forced(Tape *tape, const Decoder *decoder, const Encoded *encoded, const Sequences *target,
                       Tensor *embedded);

/* The two families: for decoder.c. */
RecurrentDecoder decoder_recurrent_new(ParamSet *params, const char *name, const ModelOptions *options);
void decoder_recurrent_prepare(Tape *tape, const RecurrentDecoder *decoder, const EncoderOutput *output,
                               Tensor *annotations, Encoded *encoded);
void decoder_recurrent_prepare_steps(Tape *tape, const RecurrentDecoder *decoder, Encoded *encoded);
Tensor *decoder_recurrent_step(Tape *tape, const RecurrentDecoder *decoder, const Encoded *encoded,
                               const Spans *spans, Tensor *embedded, DecoderState *state,
                               AttentionWeights *attention);
Tensor *decoder_recurrent_forced(Tape *tape, const RecurrentDecoder *decoder, const Encoded *encoded,
                                 const Sequences *target, Tensor *embedded);

TransformerStack decoder_transformer_new(ParamSet *params, const char *name, const ModelOptions *options);
void decoder_transformer_prepare(Tape *tape, const TransformerStack *blocks, Tensor *annotations,
                                 Encoded *encoded);
Tensor *decoder_transformer_step(Tape *tape, const TransformerStack *blocks, const Encoded *encoded,
                                 const Spans *spans, Tensor *embedded, DecoderState *state,
                                 AttentionWeights *attention);
Tensor *decoder_transformer_forced(Tape *tape, const TransformerStack *blocks, const Encoded *encoded,
                                   const Sequences *target, Tensor *embedded);

#endif
