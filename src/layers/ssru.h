/* ssru.h - the simpler simple recurrent unit, which takes the place of self-attention in a decoder.
 * Kim et al. 2019, "From Research to Production and Back", section 3.1; Marian's
 * --transformer-decoder-autoreg rnn --dec-cell ssru
 *
 *     f_t = sigmoid(x_t W_f + b_f)    c_t = f_t c_{t-1} + (1 - f_t) x_t W    o_t = max(c_t, 0)
 *
 * Both products read x alone, so that training needs one product each for all steps. A hypothesis remembers
 * one vector, however long it is.
 *
 * Shapes  x [n, D] -> o [n, D]; c [n, D]
 */
#ifndef LAYERS_SSRU_H
#define LAYERS_SSRU_H

#include "layers/linear.h"

typedef struct {
    const char *name; /* prefix of its parameters */
    Linear input;     /* [D, D] W, without bias */
    Linear gate;      /* [D, D] W_f, b_f */
} Ssru;

Ssru ssru_new(ParamSet *params, const char *name, int size);
/* All steps at once; `position` as in op_ssru. */
Tensor *ssru_run(Tape *tape, const Ssru *ssru, Tensor *x, const int *position);
/* One step, from *c, which becomes the state after it. */
Tensor *ssru_step(Tape *tape, const Ssru *ssru, Tensor *x, Tensor **c);

#endif
