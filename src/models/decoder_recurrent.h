/* decoder_recurrent.h - recurrence, attention and readout, put together in three styles. s_t = g(y_{t-1},
 * c_t, s_{t-1}) is Dive into Deep Learning, eq. 10.7.3, with the context c_t of eq. 11.4.1
 *   bahdanau     the query is the top state of the previous step; context and embedding feed the first
 *                layer (Bahdanau et al. 2015; Dive into Deep Learning, section 11.4)
 *   conditional  a first transition reads the embedding, its result is the query, a second transition reads
 *                the context (Sennrich et al. 2017, Nematus, section 3)
 *   luong        the query is the output of this step; context and output make the attentional vector that
 *                the output layer reads, with input feeding also the next step (Luong et al. 2015, sections
 *                3 and 3.3)
 * With the attention score "none" c_t is the same at every step: the encoder's last annotation (Cho et al.
 * 2014; Sutskever et al. 2014; Dive into Deep Learning, section 10.7.3).
 * With self-attention the readout also reads a context of the decoder's own earlier outputs
 * (layers/intra_attention.h).
 * Further layers stack on the first one of each style. The first projection needs only tokens and the
 * readout needs only results, so both stay outside the recurrence: training computes them once for all
 * steps.
 *
 * Shapes  those of decoder.h
 */
#ifndef MODELS_DECODER_RECURRENT_H
#define MODELS_DECODER_RECURRENT_H

#include "layers/intra_attention.h"
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

/* The functions of a DecoderFamily (decoder.h); `decoder` is a RecurrentDecoder. */
void decoder_recurrent_declare(ParamSet *params, const char *name, const ModelOptions *options,
                               void *decoder);
void decoder_recurrent_init_state(Tape *tape, const void *decoder, const EncoderOutput *output,
                                  Encoded *encoded);
void decoder_recurrent_map_annotations(Tape *tape, const void *decoder, Encoded *encoded);
Tensor *decoder_recurrent_step(const void *decoder, const StepContext *step, Tensor *embedded);
Tensor *decoder_recurrent_forced(Tape *tape, const void *decoder, const Encoded *encoded,
                                 const Sequences *target, Tensor *embedded);

#endif
