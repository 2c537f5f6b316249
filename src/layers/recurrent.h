/* recurrent.h - the recurrent cells, gated recurrent unit and long short-term memory, and layers of them.
 * GRU   Cho et al. 2014; the reset gate acts on the projected state, as in cuDNN and PyTorch:
 *         r, z = sigmoid(W x + b + U h + c);  n = tanh(W x + b + r (U h + c));  h' = (1 - z) n + z h
 * LSTM  Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000:
 *         i, f, o = sigmoid(W x + b + U h + c);  g = tanh(W x + b + U h + c);
 *         c' = f c + i g;  h' = o tanh(c')
 * Dive into Deep Learning, eq. 10.2.1-10.2.3 (GRU; there the reset gate acts on h before its projection) and
 * 10.1.1-10.1.4 (LSTM). With layer normalization, W x + b and U h + c are each normalized, over all their
 * gates together.
 *
 * Shapes  x [n, inputs], projections [n, gates H] with gates r, z, n or i, f, g, o; state parts [n, H]
 */
#ifndef LAYERS_RECURRENT_H
#define LAYERS_RECURRENT_H

#include "layers/linear.h"
#include "layers/sequences.h"

typedef enum { CELL_GRU, CELL_LSTM } CellKind;
#define CELL_CHOICES "gru|lstm" /* in the order of CellKind */

typedef struct {
    Tensor *h;                /* [n, H] hidden state, the output of the cell */
    Tensor *c;                /* [n, H] an LSTM's cell state; NULL for a GRU */
    const uint32_t *row_keys; /* [n] for the cell's dropout: the same at each step; NULL if there is none */
} CellState;

typedef struct {
    const char *name; /* prefix of its parameters */
    CellKind kind;
    int hidden;                  /* H */
    Linear input;                /* W and b: [inputs, gates H] */
    Linear state;                /* U and c: [H, gates H] */
    Norm input_norm, state_norm; /* [1, gates H] */
    double dropout;              /* of the h in U h, with one mask for all steps: Gal and Ghahramani 2016 */
    uint32_t dropout_stream;
} Cell;

const char *cell_name(CellKind kind); /* "gru" */
int cell_gates(CellKind kind);
Cell cell_new(ParamSet *params, const char *name, CellKind kind, int inputs, int hidden, bool layer_norm);
/* Set the dropout of the state that the cell reads, on tapes that train. */
void cell_drop_state(Cell *cell, double dropout, uint32_t stream);
/* The input of cell_step: W x + b normalized. linear_apply(tape, &cell->input, x) computes the projection W
 * x + b, for a whole sequence at once, since it does not depend on the state; further inputs may be added
 * to it before it is normalized. */
Tensor *cell_normalize(Tape *tape, const Cell *cell, Tensor *projection);
CellState cell_step(Tape *tape, const Cell *cell, Tensor *projection, CellState before);
/* Record the state as the cell's "hidden" and "memory". */
void cell_record(Tape *tape, const Cell *cell, CellState state);

/* The same rows of h and c: as a view, or gathered as by op_gather. */
CellState cell_rows(Tape *tape, CellState state, int first, int rows);
CellState cell_gather(Tape *tape, CellState state, const int *index, int rows);

/* A layer: x [rows, inputs] packed -> the states after every step, [rows, H] packed; their `h` is the layer's
 * output. Each sentence starts from zeros: at its first step, or at its last one if `reverse`. */
CellState rnn_run(Tape *tape, const Cell *cell, Tensor *x, const PackedSequence *packed, bool reverse);

#endif
