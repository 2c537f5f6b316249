/* encoder_rnn.h - recurrent layers over the source, one- or bidirectional, with residual connections on
 * request.
 * Bahdanau et al. 2015, section 3.2; Dive into Deep Learning, eq. 10.7.1
 */
#ifndef MODELS_ENCODER_RNN_H
#define MODELS_ENCODER_RNN_H

#include "models/state.h"

/* With D input columns and K annotation columns. */
typedef struct {
    const ModelOptions *options;
    Cell cell[MODEL_MAX_LAYERS][2]; /* forward, backward: [D, gates H], or [K, gates H] in upper layers, and
                                     * [H, gates H] */
} RnnEncoder;

/* The two functions of an EncoderFamily (encoder.h); `encoder` is a RnnEncoder. */
void encoder_rnn_declare(ParamSet *params, const ModelOptions *options, void *encoder);
EncoderOutput encoder_rnn_run(Tape *tape, const void *encoder, Tensor *x, const Sequences *source);

#endif
