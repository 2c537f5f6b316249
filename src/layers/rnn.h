/* rnn.h - a recurrent layer over packed sequences, in either direction. */
#ifndef LAYERS_RNN_H
#define LAYERS_RNN_H

#include "layers/cell.h"
#include "layers/packed.h"

/* x [rows, inputs] packed -> the states after every step, [rows, H] packed; `h` of them is the layer's output. Each sentence
 * starts from a zero state: at its first step, or at its last one if `reverse`. */
CellState rnn_run(Tape *tape, const Cell *cell, Tensor *x, const Packed *packed, bool reverse);

#endif
