/* recurrent.c - one step of a GRU or an LSTM, and a layer of such steps. */
#include "layers/recurrent.h"

#include "autograd/activations.h"

const char *cell_name(CellKind kind) { return kind == CELL_LSTM ? "lstm" : "gru"; }
int cell_gates(CellKind kind) { return kind == CELL_LSTM ? 4 : 3; }

Cell cell_new(ParamSet *params, const char *name, CellKind kind, int inputs, int hidden, bool layer_norm) {
    int gates = cell_gates(kind) * hidden;
    Cell cell = {
        .name = params_keep_name(params, name),
        .kind = kind,
        .hidden = hidden,
        .input = linear_new(params, param_name(name, "input"), inputs, gates, true),
        .state = linear_new(params, param_name(name, "state"), hidden, gates, false),
    };
    cell.state.bias = params_add(params, param_name(name, "state.bias"), 1, gates,
                                 kind == CELL_LSTM ? INIT_FORGET : INIT_ZERO, 0, PANELS_NONE);
    cell.input_norm = norm_new(params, param_name(name, "input_norm"), gates, layer_norm, NORM_EPSILON);
    cell.state_norm = norm_new(params, param_name(name, "state_norm"), gates, layer_norm, NORM_EPSILON);
    return cell;
}

void cell_drop_state(Cell *cell, double dropout, uint32_t stream) {
    cell->dropout = dropout;
    cell->dropout_stream = stream;
}

Tensor *cell_normalize(Tape *tape, const Cell *cell, Tensor *projection) {
    return norm_apply(tape, &cell->input_norm, projection);
}

CellState cell_step(Tape *tape, const Cell *cell, Tensor *projection, CellState before) {
    CellState after = {.row_keys = before.row_keys};
    Tensor *h = op_dropout(tape, before.h, cell->dropout, cell->dropout_stream, before.row_keys);
    Tensor *state = norm_apply(tape, &cell->state_norm, linear_apply(tape, &cell->state, h));
    if (cell->kind == CELL_LSTM)
        after.h = op_lstm(tape, projection, state, before.c, &after.c);
    else
        after.h = op_gru(tape, projection, state, before.h);
    return after;
}

void cell_record(Tape *tape, const Cell *cell, CellState state) {
    record_activation(tape, cell->name, "hidden", state.h);
    if (state.c) record_activation(tape, cell->name, "memory", state.c);
}

CellState cell_rows(Tape *tape, CellState state, int first, int rows) {
    return (CellState){tape_rows(tape, state.h, first, rows),
                       state.c ? tape_rows(tape, state.c, first, rows) : NULL,
                       state.row_keys ? state.row_keys + first : NULL};
}

CellState cell_gather(Tape *tape, CellState state, const int *index, int rows) {
    return (CellState){op_gather(tape, state.h, index, rows),
                       state.c ? op_gather(tape, state.c, index, rows) : NULL, NULL};
}

/* ---- a layer ---- */

/* h or c at the start of a step of `rows` sentences: the first rows of the step before, and zeros for
 * sentences that begin. */
static Tensor *previous_rows(Tape *tape, Tensor *before, int hidden, int rows) {
    if (!before) return tape_tensor_zeroed(tape, rows, hidden);
    if (rows <= before->rows) return rows == before->rows ? before : tape_rows(tape, before, 0, rows);
    int *index = tape_alloc(tape, (size_t)rows * sizeof *index);
    for (int r = 0; r < rows; r++) index[r] = r < before->rows ? r : -1;
    return op_gather(tape, before, index, rows);
}

CellState rnn_run(Tape *tape, const Cell *cell, Tensor *x, const PackedSequence *packed, bool reverse) {
    Tensor *inputs = op_affine(tape, x, cell->input.weight, cell->input.bias, NULL, false);
    Tensor *projection = cell_normalize(tape, cell, inputs);
    CellState state = {.row_keys = packed->row_keys};
    tape_sequence_begin(tape, packed->rows);
    for (int i = 0; i < packed->steps; i++) {
        int t = reverse ? packed->steps - 1 - i : i, rows = packed_sequence_batch_size(packed, t);
        state.h = previous_rows(tape, state.h, cell->hidden, rows);
        if (cell->kind == CELL_LSTM) state.c = previous_rows(tape, state.c, cell->hidden, rows);
        tape_step_begin(tape, packed->offset[t], rows);
        state = cell_step(tape, cell, tape_rows(tape, projection, packed->offset[t], rows), state);
        tape_step_end(tape);
    }
    CellState all = {tape_all_steps(tape, state.h), state.c ? tape_all_steps(tape, state.c) : NULL, NULL};
    tape_sequence_end(tape);
    cell_record(tape, cell, all);
    return all;
}
