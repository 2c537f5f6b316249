/* conv.h - a one-dimensional convolution with gated linear units and a residual connection.
 * Gehring et al. 2017, section 3.2; gated linear units: Dauphin et al. 2017
 *
 * Shapes  x [rows, D] -> [rows, D]; each token reads `width` tokens around itself, zeros beyond the ends of
 *         its sentence
 */
#ifndef LAYERS_CONV_H
#define LAYERS_CONV_H

#include "layers/linear.h"
#include "layers/sequences.h"

typedef struct {
    int size, width; /* D; tokens */
    Linear gates;    /* [width D, 2 D] */
    Norm norm;       /* [1, D] of the input */
} Conv;

Conv conv_new(ParamSet *params, const char *name, int size, int width, bool layer_norm);
Tensor *conv_run(Tape *tape, const Conv *conv, Tensor *x, const Sequences *sequences, double dropout,
                 uint32_t stream);

#endif
