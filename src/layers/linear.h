/* linear.h - an affine map with its parameters: "name.weight" [inputs, outputs] and "name.bias" [1, outputs]. */
#ifndef LAYERS_LINEAR_H
#define LAYERS_LINEAR_H

#include "num/ops.h"

typedef struct {
    const Param *weight, *bias; /* bias may be NULL */
} Linear;

Linear linear_new(ParamSet *params, const char *name, int inputs, int outputs, bool bias);
Tensor *linear_apply(Tape *tape, const Linear *linear, Tensor *x);
Tensor *linear_add(Tape *tape, const Linear *linear, Tensor *x,
                   Tensor *base); /* base + linear(x), in the place of base */

/* "a.b" of parts, for parameter names: valid for the next 31 calls in this thread. */
const char *param_name(const char *a, const char *b);

#endif
