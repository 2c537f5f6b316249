/* rnn.c - a recurrent layer over packed sequences. */
#include "layers/rnn.h"

/* One part of the state to start a step of `rows` sentences from: the first rows of the step before, zeros for sentences that
 * begin. */
static Tensor *part_for(Tape *tape, Tensor *before, int hidden, int rows) {
    if (!before) return tape_tensor_zeroed(tape, rows, hidden);
    if (rows <= before->rows) return rows == before->rows ? before : tape_rows(tape, before, 0, rows);
    int *index = tape_alloc(tape, (size_t)rows * sizeof *index);
    for (int r = 0; r < rows; r++) index[r] = r < before->rows ? r : -1;
    return op_gather(tape, before, index, rows);
}

CellState rnn_run(Tape *tape, const Cell *cell, Tensor *x, const Packed *packed, bool reverse) {
    Tensor *projection = cell_normalize(tape, cell, cell_project(tape, cell, x));
    CellState state = {0};
    tape_sequence_begin(tape, packed->rows);
    for (int i = 0; i < packed->steps; i++) {
        int t = reverse ? packed->steps - 1 - i : i, rows = packed_running(packed, t);
        state.h = part_for(tape, state.h, cell->hidden, rows);
        if (cell->kind == CELL_LSTM) state.c = part_for(tape, state.c, cell->hidden, rows);
        tape_step_begin(tape, packed->offset[t], rows);
        state = cell_step(tape, cell, tape_rows(tape, projection, packed->offset[t], rows), state);
        tape_step_end(tape);
    }
    CellState all = {tape_whole(tape, state.h), state.c ? tape_whole(tape, state.c) : NULL};
    tape_sequence_end(tape);
    return all;
}
