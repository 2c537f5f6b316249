/* transformer_stack.c - see transformer_stack.h. */
#include "models/transformer_stack.h"

#include "models/dropout_streams.h"

_Static_assert(TRANSFORMER_STREAMS *MODEL_MAX_LAYERS <= 1000, "each block has streams of its own");
_Static_assert(DROPOUT_ENCODER_STATE + 2 * MODEL_MAX_LAYERS <= DROPOUT_DECODER_STATE,
               "each direction of each layer has a stream of its own");

TransformerStack transformer_stack_new(ParamSet *params, const char *name, const ModelOptions *o, int layers,
                                       int source_size) {
    TransformerStack s = {.options = o, .layers = layers};
    bool decoder = source_size > 0;
    TransformerForm form = {.size = o->hidden,
                            .feed_forward = model_feed_forward_size(o, decoder),
                            .heads = o->heads,
                            .max_relative_position =
                                o->positions == POSITIONS_RELATIVE ? o->max_relative_position : 0,
                            .source_size = source_size,
                            .norm = (NormPlace)o->norm,
                            .norm_epsilon = o->norm_epsilon,
                            .activation = (ActivationFunction)o->activation,
                            .attention_bias = o->attention_bias,
                            .autoreg = decoder ? (Autoregression)o->autoreg : AUTOREG_SELF_ATTENTION};
    const PositionForm positions = model_positions(o);
    s.positions = positions_new(params, name, &positions);
    for (int l = 0; l < layers; l++) s.block[l] = transformer_new(params, param_layer(name, l), &form);
    s.norm = norm_new(params, param_name(name, "norm"), o->hidden, o->norm == NORM_PRE, o->norm_epsilon);
    return s;
}

Tensor *transformer_stack_run(Tape *tape, const TransformerStack *s, Tensor *embedded, TransformerRun run) {
    run.dropout = s->options->dropout_layers;
    run.attention_dropout = s->options->dropout_attention;
    Tensor *x = positions_add(tape, &s->positions, embedded, run.position);
    for (int l = 0; l < s->layers; l++) x = transformer_run(tape, &s->block[l], x, &run, l);
    return norm_apply(tape, &s->norm, x);
}
