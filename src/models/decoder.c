/* decoder.c - the table of decoders. */
#include "models/decoder.h"

#include "models/dropout_streams.h"

static const DecoderFamily RECURRENT = {.declare = decoder_recurrent_declare,
                                        .init_state = decoder_recurrent_init_state,
                                        .map_annotations = decoder_recurrent_map_annotations,
                                        .step = decoder_recurrent_step,
                                        .forced = decoder_recurrent_forced};
static const DecoderFamily TRANSFORMER = {.declare = decoder_transformer_declare,
                                          .init_state = decoder_transformer_init_state,
                                          .step = decoder_transformer_step,
                                          .forced = decoder_transformer_forced};
static const DecoderFamily *const FAMILIES[] = {[DECODER_BAHDANAU] = &RECURRENT,
                                                [DECODER_CONDITIONAL] = &RECURRENT,
                                                [DECODER_LUONG] = &RECURRENT,
                                                [DECODER_TRANSFORMER] = &TRANSFORMER};

Decoder decoder_new(ParamSet *params, const char *name, const ModelOptions *o) {
    Decoder d = {.family = FAMILIES[o->decoder_style], .options = o};
    d.family->declare(params, name, o, &d.params);
    return d;
}

Tensor *decoder_forced(Tape *tape, const Decoder *d, const Encoded *encoded, const Sequences *target,
                       Tensor *embedded) {
    Tensor *readout = d->family->forced(tape, &d->params, encoded, target, embedded);
    return op_dropout(tape, readout, d->options->dropout_output, DROPOUT_READOUT, target->row_keys);
}
