/* ssru.c - see ssru.h. */
#include "layers/ssru.h"

#include "autograd/activations.h"

Ssru ssru_new(ParamSet *params, const char *name, int size) {
    return (Ssru){.name = params_keep_name(params, name),
                  .input = linear_new(params, param_name(name, "input"), size, size, false),
                  .gate = linear_new(params, param_name(name, "gate"), size, size, true)};
}

Tensor *ssru_run(Tape *tape, const Ssru *s, Tensor *x, const int *position) {
    Tensor *input = linear_apply(tape, &s->input, x), *gate = linear_apply(tape, &s->gate, x);
    Tensor *output = op_ssru(tape, gate, input, position);
    record_activation(tape, s->name, "output", output);
    return output;
}

Tensor *ssru_step(Tape *tape, const Ssru *s, Tensor *x, Tensor **c) {
    Tensor *input = linear_apply(tape, &s->input, x), *gate = linear_apply(tape, &s->gate, x);
    return op_ssru_step(tape, gate, input, *c, c);
}
