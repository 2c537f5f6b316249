/* norm.h - optional layer normalisation. Ba, Kiros and Hinton 2016 */
#ifndef LAYERS_NORM_H
#define LAYERS_NORM_H

#include "num/ops.h"

typedef struct {
    const Param *gain, *bias; /* [1, size]; NULL: no normalisation */
} Norm;

Norm norm_new(ParamSet *params, const char *name, int size, bool enabled);
Tensor *norm_apply(Tape *tape, const Norm *norm, Tensor *x); /* x itself if not enabled */

#endif
