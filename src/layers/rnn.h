/* rnn.h - a recurrent layer over packed sequences, in either direction. */
#ifndef LAYERS_RNN_H
#define LAYERS_RNN_H

#include "layers/gru.h"
#include "layers/packed.h"

/* x [rows, inputs] packed -> outputs [rows, H] packed. Each sentence starts from a zero state: at its first step, or at its
 * last one if `reverse`. */
Tensor *rnn_run(Tape *tape, const Gru *gru, Tensor *x, const Packed *packed, bool reverse);

#endif
