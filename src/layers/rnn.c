/* rnn.c - a recurrent layer over packed sequences. */
#include "layers/rnn.h"

/* The state to start a step of `rows` sentences from: the first rows of the step before, zeros for sentences that begin. */
static Tensor *state_for(Tape *tape, Tensor *before, int hidden, int rows) {
    if (!before) return tape_tensor_zeroed(tape, rows, hidden);
    if (rows <= before->rows) return rows == before->rows ? before : tape_rows(tape, before, 0, rows);
    int *index = tape_alloc(tape, (size_t)rows * sizeof *index);
    for (int r = 0; r < rows; r++) index[r] = r < before->rows ? r : -1;
    return op_gather(tape, before, index, rows);
}

Tensor *rnn_run(Tape *tape, const Gru *gru, Tensor *x, const Packed *packed, bool reverse) {
    Tensor *projection = gru_normalize(tape, gru, gru_project(tape, gru, x)), *h = NULL;
    tape_sequence_begin(tape, packed->rows);
    for (int i = 0; i < packed->steps; i++) {
        int t = reverse ? packed->steps - 1 - i : i, rows = packed_running(packed, t);
        Tensor *before = state_for(tape, h, gru->hidden, rows);
        tape_step_begin(tape, packed->offset[t], rows);
        h = gru_step(tape, gru, tape_rows(tape, projection, packed->offset[t], rows), before);
        tape_step_end(tape);
    }
    Tensor *outputs = tape_whole(tape, h);
    tape_sequence_end(tape);
    return outputs;
}
