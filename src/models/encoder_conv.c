/* encoder_conv.c - gated convolutions, each of which lets a token see its neighbours. */
#include "models/encoder.h"
#include "models/dropout_streams.h"

ConvEncoder encoder_conv_new(ParamSet *params, const ModelOptions *o) {
    ConvEncoder e = {.options = o};
    e.positions = positions_new(params, "encoder", (PositionKind)o->positions, o->max_positions, o->embedding,
                                o->hidden);
    for (int l = 0; l < o->encoder_layers; l++)
        e.conv[l] = conv_new(params, param_layer("encoder", l), o->hidden, o->conv_width, o->layer_norm);
    e.norm = norm_new(params, "encoder.norm", o->hidden, o->layer_norm);
    return e;
}

Tensor *encoder_conv_run(Tape *tape, const ConvEncoder *e, Tensor *x, const Sequences *source) {
    const ModelOptions *o = e->options;
    x = positions_add(tape, &e->positions, x, source->position);
    for (int l = 0; l < o->encoder_layers; l++)
        x = conv_run(tape, &e->conv[l], x, source, o->dropout_layers, DROPOUT_ENCODER_LAYER + (uint32_t)l);
    return norm_apply(tape, &e->norm, x);
}
