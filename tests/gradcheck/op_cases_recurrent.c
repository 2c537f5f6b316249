/* op_cases_recurrent.c - GRU gates alone, and layers over packed sequences in both directions. */
#include "layers/rnn.h"
#include "op_cases.h"

static Tensor *gates(Tape *tape, OpBench *bench) {
    Tensor *gx = bench_leaf(bench, tape, 3, 15), *gh = bench_leaf(bench, tape, 3, 15);
    return op_gru(tape, gx, gh, bench_leaf(bench, tape, 3, 5));
}
/* The state is also its own projection: its gradient arrives from two sides. */
static Tensor *gates_shared(Tape *tape, OpBench *bench) {
    Tensor *h = bench_leaf(bench, tape, 2, 4), *gx = bench_leaf(bench, tape, 2, 12);
    Tensor *gh = op_concat(tape, h, op_concat(tape, h, h));
    return op_gru(tape, gx, op_add(tape, gh, gx), h);
}

static Gru cell, norm_cell;
static void declare_cell(ParamSet *params) { cell = gru_new(params, "gru", 3, 4, false); }
static void declare_norm_cell(ParamSet *params) { norm_cell = gru_new(params, "gru", 3, 4, true); }

static const int LENGTHS[] = {2, 4, 1, 4};
static Tensor *layer(Tape *tape, OpBench *bench, const Gru *gru, bool reverse) {
    return rnn_run(tape, gru, bench_leaf(bench, tape, 11, 3), packed_new(tape, LENGTHS, 4), reverse);
}
static Tensor *forwards(Tape *tape, OpBench *bench) { return layer(tape, bench, &cell, false); }
static Tensor *backwards(Tape *tape, OpBench *bench) { return layer(tape, bench, &cell, true); }
static Tensor *norm_forwards(Tape *tape, OpBench *bench) { return layer(tape, bench, &norm_cell, false); }
static Tensor *norm_backwards(Tape *tape, OpBench *bench) { return layer(tape, bench, &norm_cell, true); }
/* One sentence alone, both ways, with one set of weights. */
static Tensor *both_ways(Tape *tape, OpBench *bench) {
    static const int ALONE[] = {3};
    Tensor *x = bench_leaf(bench, tape, 3, 3);
    Packed *packed = packed_new(tape, ALONE, 1);
    Tensor *y = rnn_run(tape, &cell, x, packed, false);
    return op_concat(tape, y, rnn_run(tape, &cell, x, packed, true));
}

const OpCase RECURRENT_CASES[] = {
    {OP_GRU, "gru", NULL, gates, 0},
    {OP_GRU, "gru, shared inputs", NULL, gates_shared, 0},
    {OP_GRU, "gru layer forwards", declare_cell, forwards, 0},
    {OP_GRU, "gru layer backwards", declare_cell, backwards, 0},
    {OP_GRU, "gru layer forwards, layer norm", declare_norm_cell, norm_forwards, 0},
    {OP_GRU, "gru layer backwards, layer norm", declare_norm_cell, norm_backwards, 0},
    {OP_GRU, "gru layer both ways, one sentence", declare_cell, both_ways, 0},
    {0}};
