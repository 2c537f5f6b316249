/* encoder.c - recurrent layers over the source sentence. */
#include "models/encoder.h"

#include <stdio.h>
#include "models/sites.h"

int encoder_output_size(const ModelOptions *options) {
    return options->hidden * (options->bidirectional ? 2 : 1);
}

Encoder encoder_new(ParamSet *params, const ModelOptions *o) {
    Encoder encoder = {.layers = o->encoder_layers, .directions = o->bidirectional ? 2 : 1};
    int inputs = o->embedding;
    for (int l = 0; l < encoder.layers; l++) {
        for (int d = 0; d < encoder.directions; d++) {
            char name[64];
            snprintf(name, sizeof name, "encoder.%d.%s", l, d ? "backward" : "forward");
            encoder.gru[l][d] = gru_new(params, name, inputs, o->hidden, o->layer_norm);
        }
        inputs = encoder_output_size(o);
    }
    return encoder;
}

EncoderOutput encoder_run(Tape *tape, const Encoder *encoder, Tensor *x, const Packed *packed, double dropout,
                          const uint32_t *row_keys) {
    EncoderOutput out = {0};
    for (int l = 0; l < encoder->layers; l++) {
        if (l) x = op_dropout(tape, x, dropout, SITE_ENCODER_LAYER + (uint32_t)l, row_keys);
        Tensor *y = rnn_run(tape, &encoder->gru[l][0], x, packed, false);
        if (encoder->directions == 2)
            y = op_concat(tape, y, rnn_run(tape, &encoder->gru[l][1], x, packed, true));
        x = out.layer[l] = y;
    }
    out.outputs = x;
    return out;
}
