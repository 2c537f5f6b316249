/* linear.c - affine maps and layer normalization. */
#include "layers/linear.h"

#include <stdio.h>

/* A ring of buffers, since names are built from names and several are in use at a time. */
enum { NAMES = 64, NAME_SIZE = 256 };
static char *next_name(void) {
    static _Thread_local char names[NAMES][NAME_SIZE];
    static _Thread_local unsigned next;
    return names[next++ % NAMES];
}

const char *param_name(const char *name, const char *part) {
    char *full_name = next_name();
    snprintf(full_name, NAME_SIZE, "%s.%s", name, part);
    return full_name;
}

const char *param_layer(const char *name, int layer) {
    char *full_name = next_name();
    snprintf(full_name, NAME_SIZE, "%s.%d", name, layer);
    return full_name;
}

Linear linear_new(ParamSet *params, const char *name, int inputs, int outputs, bool bias) {
    Linear linear = {
        params_add(params, param_name(name, "weight"), inputs, outputs, INIT_GLOROT, 0, PANELS_AFFINE), NULL};
    if (bias)
        linear.bias = params_add(params, param_name(name, "bias"), 1, outputs, INIT_ZERO, 0, PANELS_NONE);
    return linear;
}

Tensor *linear_apply(Tape *tape, const Linear *linear, Tensor *x) {
    return op_affine(tape, x, linear->weight, linear->bias, NULL, false);
}

Tensor *linear_add(Tape *tape, const Linear *linear, Tensor *x, Tensor *base) {
    return op_affine(tape, x, linear->weight, linear->bias, base, false);
}

Norm norm_new(ParamSet *params, const char *name, int size, bool enabled, double epsilon) {
    if (!enabled) return (Norm){0};
    return (Norm){params_add(params, param_name(name, "gain"), 1, size, INIT_ONE, 0, PANELS_NONE),
                  params_add(params, param_name(name, "bias"), 1, size, INIT_ZERO, 0, PANELS_NONE), epsilon};
}

Tensor *norm_apply(Tape *tape, const Norm *norm, Tensor *x) {
    return norm->gain ? op_layer_norm(tape, x, norm->gain, norm->bias, norm->epsilon) : x;
}
