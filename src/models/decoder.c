/* decoder.c - which family does the work. */
#include "models/decoder.h"

#include "models/dropout_streams.h"

static bool is_transformer(const Decoder *d) { return d->options->decoder_style == DECODER_TRANSFORMER; }

int decoder_readout_size(const ModelOptions *o) {
    return o->decoder_style != DECODER_TRANSFORMER && o->readout == READOUT_DEEP ? o->embedding : o->hidden;
}

bool decoder_attends(const ModelOptions *o) {
    return o->decoder_style == DECODER_TRANSFORMER || !attention_is_none(o->attention);
}

Decoder decoder_new(ParamSet *params, const char *name, const ModelOptions *o) {
    Decoder d = {.options = o};
    if (is_transformer(&d))
        d.blocks = decoder_transformer_new(params, name, o);
    else
        d.recurrent = decoder_recurrent_new(params, name, o);
    return d;
}

void decoder_prepare(Tape *tape, const Decoder *d, const EncoderOutput *output, Tensor *annotations,
                     Encoded *encoded) {
    if (is_transformer(d))
        decoder_transformer_prepare(tape, &d->blocks, annotations, encoded);
    else
        decoder_recurrent_prepare(tape, &d->recurrent, output, annotations, encoded);
}

void decoder_prepare_steps(Tape *tape, const Decoder *d, Encoded *encoded) {
    if (!is_transformer(d)) decoder_recurrent_prepare_steps(tape, &d->recurrent, encoded);
}

Tensor *decoder_step(Tape *tape, const Decoder *d, const Encoded *encoded, const Spans *spans,
                     Tensor *embedded, DecoderState *state, AttentionWeights *attention) {
    return is_transformer(d)
               ? decoder_transformer_step(tape, &d->blocks, encoded, spans, embedded, state, attention)
               : decoder_recurrent_step(tape, &d->recurrent, encoded, spans, embedded, state, attention);
}

Tensor *decoder_forced(Tape *tape, const Decoder *d, const Encoded *encoded, const Sequences *target,
                       Tensor *embedded) {
    Tensor *readout = is_transformer(d)
                          ? decoder_transformer_forced(tape, &d->blocks, encoded, target, embedded)
                          : decoder_recurrent_forced(tape, &d->recurrent, encoded, target, embedded);
    return op_dropout(tape, readout, d->options->dropout_output, DROPOUT_READOUT, target->row_keys);
}
