/* norm.c - optional layer normalisation. */
#include "layers/norm.h"

#include "layers/linear.h"

Norm norm_new(ParamSet *params, const char *name, int size, bool enabled) {
    if (!enabled) return (Norm){0};
    return (Norm){params_add(params, param_name(name, "gain"), 1, size, INIT_ONE, 0, PACK_NONE),
                  params_add(params, param_name(name, "bias"), 1, size, INIT_ZERO, 0, PACK_NONE)};
}

Tensor *norm_apply(Tape *tape, const Norm *norm, Tensor *x) {
    return norm->gain ? op_layer_norm(tape, x, norm->gain, norm->bias) : x;
}
