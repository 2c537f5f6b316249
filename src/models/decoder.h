/* decoder.h - one target token after another: recurrence, attention, output layer.
 *
 * Two styles:
 *   bahdanau     the query is the top state of the previous step; context and embedding feed the first layer
 *                (Dive into Deep Learning, "The Bahdanau attention mechanism")
 *   conditional  a first transition reads the embedding, its result is the query, a second transition reads the context
 *                (Sennrich et al. 2017, Nematus, section 3)
 * Further layers stand on top of either. The part that needs only tokens (decoder_input) and the part that needs only results
 * (decoder_readout) are apart from the recurrence, so that training does them once for all steps.
 *
 * Shapes  n rows; embedded [n, D]; state layers [n, H]; context [n, K]; readout [n, E], logits [n, V]
 */
#ifndef MODELS_DECODER_H
#define MODELS_DECODER_H

#include "layers/attention.h"
#include "models/encoder.h"

typedef struct {
    const ModelOptions *options;
    Attention attention;
    Gru gru[MODEL_MAX_LAYERS];
    Linear context;                 /* bahdanau: from the context into the gates of layer 0 */
    Gru second;                     /* conditional: the transition that reads the context */
    Linear start[MODEL_MAX_LAYERS]; /* START_MEAN: from the mean annotation to the first state */
    Linear read_state, read_context, read_embedding; /* READOUT_DEEP */
    Norm read_norm;
} Decoder;

typedef struct {
    Tensor *embedded, *projected; /* [n, D] after dropout; [n, 3H] input projection of layer 0 */
} DecoderInput;

Decoder decoder_new(ParamSet *params, const ModelOptions *options);
int decoder_readout_size(const ModelOptions *options); /* E: columns of the output table */
/* First state of layer `layer` from the mean annotation [B, K]. */
Tensor *decoder_start(Tape *tape, const Decoder *decoder, int layer, Tensor *mean);
/* `embedded` [n, D] is already dropped out. */
DecoderInput decoder_input(Tape *tape, const Decoder *decoder, Tensor *embedded);
/* One step: state[] is read and replaced; returns the context, *weights receives the attention weights. */
Tensor *decoder_step(Tape *tape, const Decoder *decoder, Tensor *projected, Tensor *keys, Tensor *values,
                     const Spans *spans, Tensor **state, Tensor **weights, const uint32_t *row_keys);
/* What the output layer reads; dropped out. */
Tensor *decoder_readout(Tape *tape, const Decoder *decoder, Tensor *top, Tensor *context, Tensor *embedded,
                        const uint32_t *row_keys);

#endif
