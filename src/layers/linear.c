/* linear.c - an affine map with its parameters. */
#include "layers/linear.h"

#include <stdio.h>

const char *param_name(const char *a, const char *b) {
    enum { NAMES = 32 }; /* several are in use at a time: names are built from names */
    static _Thread_local char names[NAMES][256];
    static _Thread_local unsigned turn;
    char *name = names[turn++ % NAMES];
    snprintf(name, sizeof names[0], "%s.%s", a, b);
    return name;
}

Linear linear_new(ParamSet *params, const char *name, int inputs, int outputs, bool bias) {
    Linear linear = {
        params_add(params, param_name(name, "weight"), inputs, outputs, INIT_GLOROT, 0, PACK_AFFINE), NULL};
    if (bias) linear.bias = params_add(params, param_name(name, "bias"), 1, outputs, INIT_ZERO, 0, PACK_NONE);
    return linear;
}

Tensor *linear_apply(Tape *tape, const Linear *linear, Tensor *x) {
    return op_affine(tape, x, linear->weight, linear->bias, NULL, false);
}

Tensor *linear_add(Tape *tape, const Linear *linear, Tensor *x, Tensor *base) {
    return op_affine(tape, x, linear->weight, linear->bias, base, false);
}
