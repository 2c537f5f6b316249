/* encoder_attention.c - Transformer blocks in which each token looks at all tokens of its sentence. */
#include "models/encoder.h"
#include "models/dropout_streams.h"

TransformerStack encoder_attention_new(ParamSet *params, const ModelOptions *o) {
    return transformer_stack_new(params, "encoder", o, o->encoder_layers, 0);
}

Tensor *encoder_attention_run(Tape *tape, const TransformerStack *blocks, Tensor *x,
                              const Sequences *source) {
    TransformerRun run = {.spans = sequences_spans(tape, source, false),
                          .position = source->position,
                          .stream = DROPOUT_ENCODER_BLOCK,
                          .row_keys = source->row_keys};
    return transformer_stack_run(tape, blocks, x, run);
}
