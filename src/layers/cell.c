/* gru.c - a gated recurrent unit. */
#include "layers/gru.h"

Gru gru_new(ParamSet *params, const char *name, int inputs, int hidden, bool layer_norm) {
    return (Gru){
        .hidden = hidden,
        .input = linear_new(params, param_name(name, "input"), inputs, 3 * hidden, true),
        .state = linear_new(params, param_name(name, "state"), hidden, 3 * hidden, true),
        .input_norm = norm_new(params, param_name(name, "input_norm"), 3 * hidden, layer_norm),
        .state_norm = norm_new(params, param_name(name, "state_norm"), 3 * hidden, layer_norm),
    };
}

Tensor *gru_project(Tape *tape, const Gru *gru, Tensor *x) { return linear_apply(tape, &gru->input, x); }

Tensor *gru_normalize(Tape *tape, const Gru *gru, Tensor *projection) {
    return norm_apply(tape, &gru->input_norm, projection);
}

Tensor *gru_step(Tape *tape, const Gru *gru, Tensor *projection, Tensor *h) {
    Tensor *state = norm_apply(tape, &gru->state_norm, linear_apply(tape, &gru->state, h));
    return op_gru(tape, projection, state, h);
}
