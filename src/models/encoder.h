/* encoder.h - from embedded source tokens to one annotation per token, in one of three ways:
 *   rnn             recurrent layers, one- or bidirectional (Bahdanau et al. 2015, section 3.2), with residual connections on request
 *   self_attention  Transformer blocks (Vaswani et al. 2017, section 3.1)
 *   conv            gated convolutions (Gehring et al. 2017)
 * All feed any decoder.
 *
 * Shapes  x [rows, D] -> annotations [rows, K], rows as in sequences.h; K = H, or 2 H of a bidirectional RNN
 */
#ifndef MODELS_ENCODER_H
#define MODELS_ENCODER_H

#include "layers/conv.h"
#include "layers/posenc.h"
#include "layers/rnn.h"
#include "layers/transformer.h"
#include "models/config.h"

typedef struct {
    const ModelOptions *options;
    Cell cell[MODEL_MAX_LAYERS][2]; /* rnn: forward, backward */
    Linear input;                   /* the others: from embedding to layer size, where these differ */
    Posenc posenc;
    TransformerBlock block[MODEL_MAX_LAYERS];
    Conv conv[MODEL_MAX_LAYERS];
    Norm norm; /* of the last block's output */
} Encoder;

typedef struct {
    Tensor *annotations; /* [rows, K] */
    CellState
        final[MODEL_MAX_LAYERS]; /* rnn in one direction: [B, H] state of each layer after the last token */
} EncoderOutput;

Encoder encoder_new(ParamSet *params, const ModelOptions *options); /* `options` is kept */
int encoder_output_size(const ModelOptions *options);               /* K */
EncoderOutput encoder_run(Tape *tape, const Encoder *encoder, Tensor *x, const Sequences *source);

#endif
