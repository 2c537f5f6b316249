/* decoder.c - recurrence, attention, readout. */
#include "models/decoder.h"

#include <stdio.h>
#include "models/sites.h"

static const char *layer_name(const char *prefix, int layer) {
    static _Thread_local char name[64];
    snprintf(name, sizeof name, "decoder.%s.%d", prefix, layer);
    return name;
}

int decoder_readout_size(const ModelOptions *o) {
    return o->readout == READOUT_DEEP ? o->embedding : o->hidden;
}

Decoder decoder_new(ParamSet *params, const ModelOptions *o) {
    int H = o->hidden, K = encoder_output_size(o), D = o->embedding,
        A = o->attention_size ? o->attention_size : H;
    Decoder d = {.options = o};
    d.attention = attention_new(params, "decoder.attention", o->attention, H, K, A);
    for (int l = 0; l < o->decoder_layers; l++) {
        d.gru[l] = gru_new(params, layer_name("gru", l), l ? H : D, H, o->layer_norm);
        if (o->decoder_start == START_MEAN)
            d.start[l] = linear_new(params, layer_name("start", l), K, H, true);
    }
    if (o->decoder_style == DECODER_BAHDANAU)
        d.context = linear_new(params, "decoder.context", K, 3 * H, false);
    else
        d.second = gru_new(params, "decoder.second", K, H, o->layer_norm);
    if (o->readout == READOUT_DEEP) {
        d.read_state = linear_new(params, "decoder.readout.state", H, D, true);
        d.read_context = linear_new(params, "decoder.readout.context", K, D, false);
        d.read_embedding = linear_new(params, "decoder.readout.embedding", D, D, false);
        d.read_norm = norm_new(params, "decoder.readout.norm", D, o->layer_norm);
    }
    return d;
}

Tensor *decoder_start(Tape *tape, const Decoder *decoder, int layer, Tensor *mean) {
    return op_tanh(tape, linear_apply(tape, &decoder->start[layer], mean));
}

DecoderInput decoder_input(Tape *tape, const Decoder *decoder, Tensor *embedded) {
    const Gru *first = &decoder->gru[0];
    Tensor *projected = gru_project(tape, first, embedded);
    if (decoder->options->decoder_style == DECODER_CONDITIONAL)
        projected = gru_normalize(tape, first, projected);
    return (DecoderInput){embedded, projected};
}

Tensor *decoder_step(Tape *tape, const Decoder *d, Tensor *projected, Tensor *keys, Tensor *values,
                     const Spans *spans, Tensor **state, Tensor **weights, const uint32_t *row_keys) {
    int layers = d->options->decoder_layers;
    Tensor *context;
    if (d->options->decoder_style == DECODER_CONDITIONAL) {
        Tensor *query = gru_step(tape, &d->gru[0], projected, state[0]);
        context = attention_context(tape, &d->attention, query, keys, values, spans, weights);
        Tensor *input = gru_normalize(tape, &d->second, gru_project(tape, &d->second, context));
        state[0] = gru_step(tape, &d->second, input, query);
    } else {
        Tensor *query = state[layers - 1];
        context = attention_context(tape, &d->attention, query, keys, values, spans, weights);
        Tensor *input = gru_normalize(tape, &d->gru[0], linear_add(tape, &d->context, context, projected));
        state[0] = gru_step(tape, &d->gru[0], input, state[0]);
    }
    for (int l = 1; l < layers; l++) {
        Tensor *below = op_dropout(tape, state[l - 1], d->options->dropout_layers,
                                   SITE_DECODER_LAYER + (uint32_t)l, row_keys);
        Tensor *input = gru_normalize(tape, &d->gru[l], gru_project(tape, &d->gru[l], below));
        state[l] = gru_step(tape, &d->gru[l], input, state[l]);
    }
    return context;
}

Tensor *decoder_readout(Tape *tape, const Decoder *d, Tensor *top, Tensor *context, Tensor *embedded,
                        const uint32_t *row_keys) {
    if (d->options->readout == READOUT_DEEP) {
        top = linear_apply(tape, &d->read_state, top);
        top = linear_add(tape, &d->read_context, context, top);
        top = linear_add(tape, &d->read_embedding, embedded, top);
        top = op_tanh(tape, norm_apply(tape, &d->read_norm, top));
    }
    return op_dropout(tape, top, d->options->dropout_output, SITE_READOUT, row_keys);
}
