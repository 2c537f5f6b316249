/* gru.h - a gated recurrent unit.
 * Cho et al. 2014; the reset gate acts on the projected state, as in cuDNN and PyTorch:
 *   r, z = sigmoid(W x + b + U h + c);  n = tanh(W x + b + r (U h + c));  h' = (1 - z) n + z h
 * With layer normalisation, W x + b and U h + c are each normalised over their 3 H numbers (as Nematus and Marian do).
 *
 * Shapes  x [n, inputs], projections [n, 3H] with gates r, z, n, state [n, H]
 */
#ifndef LAYERS_GRU_H
#define LAYERS_GRU_H

#include "layers/linear.h"
#include "layers/norm.h"

typedef struct {
    int hidden;
    Linear input, state;
    Norm input_norm, state_norm;
} Gru;

Gru gru_new(ParamSet *params, const char *name, int inputs, int hidden, bool layer_norm);
/* W x + b: does not depend on the state, so call it once for a whole sequence. */
Tensor *gru_project(Tape *tape, const Gru *gru, Tensor *x);
/* The same, normalised: what gru_step wants. Split so that further inputs can be added in between. */
Tensor *gru_normalize(Tape *tape, const Gru *gru, Tensor *projection);
Tensor *gru_step(Tape *tape, const Gru *gru, Tensor *projection, Tensor *h);

#endif
