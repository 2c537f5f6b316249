/* encoder.h - from source tokens to one annotation per token: recurrent layers, one- or bidirectional.
 * Bahdanau et al. 2015, section 3.2
 *
 * Shapes  outputs [rows, K], packed by time; K = H, or 2 H if bidirectional
 */
#ifndef MODELS_ENCODER_H
#define MODELS_ENCODER_H

#include "layers/rnn.h"
#include "models/config.h"

typedef struct {
    int layers, directions;
    Gru gru[MODEL_MAX_LAYERS][2];
} Encoder;

typedef struct {
    Tensor *outputs;                 /* [rows, K] of the last layer */
    Tensor *layer[MODEL_MAX_LAYERS]; /* [rows, K] of each layer, before dropout */
} EncoderOutput;

Encoder encoder_new(ParamSet *params, const ModelOptions *options);
int encoder_output_size(const ModelOptions *options); /* K */
/* x [rows, D]: embedded tokens, packed; row_keys as in op_dropout. */
EncoderOutput encoder_run(Tape *tape, const Encoder *encoder, Tensor *x, const Packed *packed, double dropout,
                          const uint32_t *row_keys);

#endif
