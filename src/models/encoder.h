/* encoder.h - from embedded source tokens to one annotation per token, in one of three ways:
 *   encoder_rnn.c        recurrent layers, one- or bidirectional (Bahdanau et al. 2015, section 3.2; Dive
 *                        into Deep Learning, eq. 10.7.1), with residual connections on request
 *   encoder_attention.c  Transformer blocks (Vaswani et al. 2017, section 3.1)
 *   encoder_conv.c       gated convolutions (Gehring et al. 2017)
 * All feed any decoder.
 *
 * Shapes  x [rows, D] -> annotations [rows, K], rows as in sequences.h; K = H, or 2 H of a bidirectional RNN
 */
#ifndef MODELS_ENCODER_H
#define MODELS_ENCODER_H

#include "layers/conv.h"
#include "layers/recurrent.h"
#include "models/transformer_stack.h"

typedef struct {
    const ModelOptions *options;
    Cell cell[MODEL_MAX_LAYERS][2]; /* forward, backward: [D or K, gates H] and [H, gates H] */
} RnnEncoder;

typedef struct {
    const ModelOptions *options;
    PositionalEncoding positions;
    Conv conv[MODEL_MAX_LAYERS];
    Norm norm; /* of the last layer's output */
} ConvEncoder;

typedef struct {
    const ModelOptions *options;
    RnnEncoder rnn; /* one of the three, by options->encoder_style */
    TransformerStack blocks;
    ConvEncoder conv;
} Encoder;

typedef struct {
    Tensor *annotations;               /* [rows, K] */
    CellState final[MODEL_MAX_LAYERS]; /* START_FINAL: [B, H] state of each layer after the last token */
} EncoderOutput;

Encoder encoder_new(ParamSet *params, const ModelOptions *options); /* `options` is kept */
int encoder_output_size(const ModelOptions *options);               /* K */
EncoderOutput encoder_run(Tape *tape, const Encoder *encoder, Tensor *x, const Sequences *source);

/* What the encoder knows in the end [B, K]: the last annotation of each sentence; of a bidirectional RNN the
 * forward half of the last one and the backward half of the first. `start` [B + 1] as in sequences.h. */
Tensor *encoder_last(Tape *tape, const ModelOptions *options, Tensor *annotations, const int *start, int B);

/* The three ways: for encoder.c. */
RnnEncoder encoder_rnn_new(ParamSet *params, const ModelOptions *options);
EncoderOutput encoder_rnn_run(Tape *tape, const RnnEncoder *encoder, Tensor *x, const Sequences *source);
TransformerStack encoder_attention_new(ParamSet *params, const ModelOptions *options);
Tensor *encoder_attention_run(Tape *tape, const TransformerStack *blocks, Tensor *x, const Sequences *source);
ConvEncoder encoder_conv_new(ParamSet *params, const ModelOptions *options);
Tensor *encoder_conv_run(Tape *tape, const ConvEncoder *encoder, Tensor *x, const Sequences *source);

#endif
