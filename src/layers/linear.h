/* linear.h - affine maps and layer normalization, with their parameters.
 *
 * Shapes  weight [inputs, outputs], bias [1, outputs]; gain and bias of a normalization [1, size]
 */
#ifndef LAYERS_LINEAR_H
#define LAYERS_LINEAR_H

#include "autograd/ops.h"

/* x W + b: "name.weight" and "name.bias". A Linear without weight means that the model has no such map. */
typedef struct {
    const Param *weight; /* [inputs, outputs] */
    const Param *bias;   /* [1, outputs], or NULL */
} Linear;

Linear linear_new(ParamSet *params, const char *name, int inputs, int outputs, bool bias);
Tensor *linear_apply(Tape *tape, const Linear *linear, Tensor *x);
/* base + linear(x); the result replaces base, as in op_affine. */
Tensor *linear_add(Tape *tape, const Linear *linear, Tensor *x, Tensor *base);

/* Layer normalization of each row: "name.gain" and "name.bias". Ba, Kiros and Hinton 2016 */
typedef struct {
    const Param *gain, *bias; /* [1, size] each; NULL: no normalization */
    double epsilon;           /* added to the variance */
} Norm;
#define NORM_EPSILON 1e-5 /* of all layers but Transformer blocks, whose option has this default */

Norm norm_new(ParamSet *params, const char *name, int size, bool enabled, double epsilon);
Tensor *norm_apply(Tape *tape, const Norm *norm, Tensor *x); /* x itself if not enabled */

/* Parameter names, "name.part" and "name.3": valid for the next 63 calls in this thread. */
const char *param_name(const char *name, const char *part);
const char *param_layer(const char *name, int layer);

#endif
