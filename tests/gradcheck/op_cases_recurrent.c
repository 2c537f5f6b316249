/* op_cases_recurrent.c - gates of GRU and LSTM alone, and layers over packed sequences in both directions. */
#include "layers/recurrent.h"
#include "op_cases.h"

static Tensor *gru_gates(Tape *tape, OpBench *bench) {
    Tensor *gx = bench_leaf(bench, tape, 3, 15), *gh = bench_leaf(bench, tape, 3, 15);
    return op_gru(tape, gx, gh, bench_leaf(bench, tape, 3, 5));
}
/* The state is also the projection, so its gradient is the sum of both. */
static Tensor *gru_shared(Tape *tape, OpBench *bench) {
    Tensor *h = bench_leaf(bench, tape, 2, 4), *gx = bench_leaf(bench, tape, 2, 12);
    Tensor *gh = op_concat(tape, h, op_concat(tape, h, h));
    return op_gru(tape, gx, op_add(tape, gh, gx), h);
}

enum { OUTPUT = 1, MEMORY = 2 };
/* One step; the graph uses its output, its memory cell, or both. */
static Tensor *lstm_gates(Tape *tape, OpBench *bench, int used) {
    Tensor *gx = bench_leaf(bench, tape, 3, 20), *gh = bench_leaf(bench, tape, 3, 20), *next;
    Tensor *h = op_lstm(tape, gx, gh, bench_leaf(bench, tape, 3, 5), &next);
    return used == OUTPUT ? h : used == MEMORY ? next : op_concat(tape, h, next);
}
static Tensor *lstm_output(Tape *tape, OpBench *bench) { return lstm_gates(tape, bench, OUTPUT); }
static Tensor *lstm_memory(Tape *tape, OpBench *bench) { return lstm_gates(tape, bench, MEMORY); }
static Tensor *lstm_both(Tape *tape, OpBench *bench) { return lstm_gates(tape, bench, OUTPUT | MEMORY); }
/* Two steps; the second one uses the memory cell and the output of the first; all gates are from one
 * tensor. */
static Tensor *lstm_chain(Tape *tape, OpBench *bench) {
    Tensor *c = bench_leaf(bench, tape, 2, 4), *g = bench_leaf(bench, tape, 2, 16), *first, *second;
    Tensor *h = op_lstm(tape, g, g, c, &first);
    Tensor *twice = op_concat(tape, h, first), *gh = op_concat(tape, twice, twice);
    h = op_lstm(tape, g, gh, first, &second);
    return op_concat(tape, h, op_add(tape, first, second));
}
static Tensor *lstm_constant_memory(Tape *tape, OpBench *bench) {
    Tensor *gx = bench_leaf(bench, tape, 3, 20), *gh = bench_leaf(bench, tape, 3, 20), *next;
    return op_lstm(tape, gx, gh, bench_constant(tape, 3, 5), &next);
}
static Tensor *lstm_constant_gates(Tape *tape, OpBench *bench) {
    Tensor *c = bench_leaf(bench, tape, 3, 5), *gates = bench_constant(tape, 3, 20), *first, *second;
    op_lstm(tape, gates, bench_leaf(bench, tape, 3, 20), c, &first);
    return op_lstm(tape, bench_leaf(bench, tape, 3, 20), gates, first, &second);
}

/* Three sentences, one of a single token. */
static const int SSRU_POSITION[] = {0, 1, 2, 0, 0, 1};
static Tensor *ssru(Tape *tape, OpBench *bench) {
    Tensor *gate = bench_leaf(bench, tape, 6, 5);
    return op_ssru(tape, gate, bench_leaf(bench, tape, 6, 5), SSRU_POSITION);
}
/* Gate and input are one tensor, and a second unit reads the first. */
static Tensor *ssru_chain(Tape *tape, OpBench *bench) {
    Tensor *x = bench_leaf(bench, tape, 6, 9), *y = op_ssru(tape, x, x, SSRU_POSITION);
    return op_ssru(tape, op_tanh(tape, x), op_add(tape, x, y), SSRU_POSITION);
}

static Cell cell;
enum { INPUTS = 3, HIDDEN = 4 };
static void declare_gru(ParamSet *params) {
    cell = cell_new(params, "cell", CELL_GRU, INPUTS, HIDDEN, false);
}
static void declare_norm_gru(ParamSet *params) {
    cell = cell_new(params, "cell", CELL_GRU, INPUTS, HIDDEN, true);
}
static void declare_lstm(ParamSet *params) {
    cell = cell_new(params, "cell", CELL_LSTM, INPUTS, HIDDEN, false);
}
static void declare_norm_lstm(ParamSet *params) {
    cell = cell_new(params, "cell", CELL_LSTM, INPUTS, HIDDEN, true);
}

/* The states of a layer, and its memory cells if it has them. */
static Tensor *run_layer(Tape *tape, Tensor *x, const PackedSequence *packed, bool reverse) {
    CellState all = rnn_run(tape, &cell, x, packed, reverse);
    return all.c ? op_concat(tape, all.h, all.c) : all.h;
}
static const int LENGTHS[] = {2, 4, 1, 4};
static Tensor *layer(Tape *tape, OpBench *bench, bool reverse) {
    return run_layer(tape, bench_leaf(bench, tape, 11, INPUTS), packed_sequence_new(tape, LENGTHS, 4),
                     reverse);
}
static Tensor *forwards(Tape *tape, OpBench *bench) { return layer(tape, bench, false); }
static Tensor *right_to_left(Tape *tape, OpBench *bench) { return layer(tape, bench, true); }
/* One sentence, in both directions, with one set of weights. */
static Tensor *both_ways(Tape *tape, OpBench *bench) {
    static const int ALONE[] = {3};
    Tensor *x = bench_leaf(bench, tape, 3, INPUTS);
    PackedSequence *packed = packed_sequence_new(tape, ALONE, 1);
    Tensor *y = run_layer(tape, x, packed, false);
    return op_concat(tape, y, run_layer(tape, x, packed, true));
}

const OpCase RECURRENT_CASES[] = {
    {OP_GRU, "gru", NULL, gru_gates, 0},
    {OP_GRU, "gru, shared inputs", NULL, gru_shared, 0},
    {OP_LSTM, "lstm, output", NULL, lstm_output, 0},
    {OP_LSTM, "lstm, memory", NULL, lstm_memory, 0},
    {OP_LSTM, "lstm, output and memory", NULL, lstm_both, 0},
    {OP_LSTM, "lstm, two steps", NULL, lstm_chain, 0},
    {OP_LSTM, "lstm, constant memory", NULL, lstm_constant_memory, 0},
    {OP_LSTM, "lstm, constant gates", NULL, lstm_constant_gates, 0},
    {OP_SSRU, "ssru", NULL, ssru, 0},
    {OP_SSRU, "two ssru, shared inputs", NULL, ssru_chain, 0},
    {OP_GRU, "gru layer forwards", declare_gru, forwards, 0},
    {OP_GRU, "gru layer backwards", declare_gru, right_to_left, 0},
    {OP_GRU, "gru layer forwards, layer norm", declare_norm_gru, forwards, 0},
    {OP_GRU, "gru layer backwards, layer norm", declare_norm_gru, right_to_left, 0},
    {OP_GRU, "gru layer both ways, one sentence", declare_gru, both_ways, 0},
    {OP_LSTM, "lstm layer forwards", declare_lstm, forwards, 0},
    {OP_LSTM, "lstm layer backwards", declare_lstm, right_to_left, 0},
    {OP_LSTM, "lstm layer forwards, layer norm", declare_norm_lstm, forwards, 0},
    {OP_LSTM, "lstm layer backwards, layer norm", declare_norm_lstm, right_to_left, 0},
    {OP_LSTM, "lstm layer both ways, one sentence", declare_lstm, both_ways, 0},
    {0}};
