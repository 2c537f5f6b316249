/* op_cases_affine.c - x W + b in all its forms: weight gradients are deferred, joined and shared. */
#include "op_cases.h"

static void declare(ParamSet *params) {
    params_add(params, "w", 5, 7, INIT_UNIFORM, 0.8, PANELS_AFFINE);
    params_add(params, "t", 7, 5, INIT_UNIFORM, 0.8, PANELS_OUTPUT);
    params_add(params, "b", 1, 7, INIT_UNIFORM, 0.8, PANELS_NONE);
}
static void declare_square(ParamSet *params) {
    params_add(params, "w", 5, 5, INIT_UNIFORM, 0.5, PANELS_AFFINE);
    params_add(params, "b", 1, 5, INIT_UNIFORM, 0.8, PANELS_NONE);
    params_add(params, "c", 1, 5, INIT_UNIFORM, 0.8, PANELS_NONE);
}
/* Longer than a block of the packed kernel (512) and wider than its panels. */
static void declare_long(ParamSet *params) {
    params_add(params, "w", 515, 5, INIT_UNIFORM, 0.1, PANELS_AFFINE);
    params_add(params, "t", 5, 515, INIT_UNIFORM, 0.1, PANELS_OUTPUT);
}
#define P(name) bench_param(bench, name)

/* The op writes its result into the base, so the base is itself a result and not a leaf, which must not
 * change. */
static Tensor *base_of(Tape *tape, OpBench *bench, int rows, int columns) {
    return op_scale(tape, bench_leaf(bench, tape, rows, columns), (real)1.5);
}

static Tensor *plain(Tape *tape, OpBench *bench) {
    return op_affine(tape, bench_leaf(bench, tape, 4, 5), P("w"), NULL, NULL, false);
}
static Tensor *with_bias(Tape *tape, OpBench *bench) {
    return op_affine(tape, bench_leaf(bench, tape, 4, 5), P("w"), P("b"), NULL, false);
}
static Tensor *with_base(Tape *tape, OpBench *bench) {
    Tensor *base = base_of(tape, bench, 4, 7);
    return op_affine(tape, bench_leaf(bench, tape, 4, 5), P("w"), NULL, base, false);
}
static Tensor *with_both(Tape *tape, OpBench *bench) {
    Tensor *base = base_of(tape, bench, 4, 7);
    return op_affine(tape, bench_leaf(bench, tape, 4, 5), P("w"), P("b"), base, false);
}
static Tensor *transposed(Tape *tape, OpBench *bench) {
    return op_affine(tape, bench_leaf(bench, tape, 4, 5), P("t"), NULL, NULL, true);
}
static Tensor *transposed_with_both(Tape *tape, OpBench *bench) {
    Tensor *base = base_of(tape, bench, 1, 7);
    return op_affine(tape, bench_leaf(bench, tape, 1, 5), P("t"), P("b"), base, true);
}
static Tensor *many_rows(Tape *tape, OpBench *bench) {
    return op_affine(tape, bench_leaf(bench, tape, 13, 5), P("w"), P("b"), NULL, false);
}
static Tensor *long_rows(Tape *tape, OpBench *bench) {
    Tensor *y = op_affine(tape, bench_leaf(bench, tape, 2, 515), P("w"), NULL, NULL, false);
    return op_affine(tape, bench_leaf(bench, tape, 2, 515), P("t"), NULL, y, true);
}

/* Two affine maps of one input. */
static Tensor *same_input(Tape *tape, OpBench *bench) {
    Tensor *x = bench_leaf(bench, tape, 3, 5);
    Tensor *y = op_affine(tape, x, P("w"), NULL, NULL, false);
    return op_affine(tape, x, P("t"), P("b"), y, true);
}
static Tensor *same_weight(Tape *tape, OpBench *bench) {
    Tensor *y = op_affine(tape, bench_leaf(bench, tape, 3, 5), P("w"), P("b"), NULL, false);
    return op_affine(tape, y, P("w"), P("b"), NULL, false);
}
static Tensor *same_weight_other_bias(Tape *tape, OpBench *bench) {
    Tensor *y = op_affine(tape, bench_leaf(bench, tape, 3, 5), P("w"), P("b"), NULL, false);
    y = op_affine(tape, y, P("w"), P("c"), NULL, false);
    return op_affine(tape, y, P("w"), NULL, NULL, false);
}
static Tensor *same_weight_both_ways(Tape *tape, OpBench *bench) {
    Tensor *y = op_affine(tape, bench_leaf(bench, tape, 3, 5), P("w"), NULL, NULL, false);
    return op_affine(tape, y, P("w"), NULL, NULL, true);
}

/* Time steps with fewer and fewer rows, as sentences end; each state depends on the previous one. */
static Tensor *steps(Tape *tape, OpBench *bench) {
    static const int OFFSET[] = {0, 3, 5, 7, 8};
    Tensor *x = base_of(tape, bench, 8, 5), *h = bench_leaf(bench, tape, 3, 5);
    tape_sequence_begin(tape, 8);
    for (int t = 0; t < 4; t++) {
        int rows = OFFSET[t + 1] - OFFSET[t];
        Tensor *before = tape_rows(tape, h, 0, rows), *base = tape_rows(tape, x, OFFSET[t], rows);
        tape_step_begin(tape, OFFSET[t], rows);
        h = op_tanh(tape, op_affine(tape, before, P("w"), P("b"), base, false));
        tape_step_end(tape);
    }
    Tensor *whole = tape_all_steps(tape, h);
    tape_sequence_end(tape);
    return whole;
}
/* Steps backwards in memory, as in a reversed layer; each step uses the weight twice. */
static Tensor *steps_reversed(Tape *tape, OpBench *bench) {
    Tensor *x = base_of(tape, bench, 6, 5), *h = bench_leaf(bench, tape, 2, 5);
    tape_sequence_begin(tape, 6);
    for (int t = 2; t >= 0; t--) {
        tape_step_begin(tape, 2 * t, 2);
        Tensor *y = op_affine(tape, h, P("w"), P("b"), tape_rows(tape, x, 2 * t, 2), false);
        h = op_tanh(tape, op_affine(tape, y, P("w"), NULL, NULL, true));
        tape_step_end(tape);
    }
    Tensor *whole = tape_all_steps(tape, h);
    tape_sequence_end(tape);
    return whole;
}

const OpCase AFFINE_CASES[] = {
    {OP_AFFINE, "affine", declare, plain, CASE_SPARE_PARAMS},
    {OP_AFFINE, "affine, bias", declare, with_bias, CASE_SPARE_PARAMS},
    {OP_AFFINE, "affine, base", declare, with_base, CASE_SPARE_PARAMS},
    {OP_AFFINE, "affine, bias and base", declare, with_both, CASE_SPARE_PARAMS},
    {OP_AFFINE, "affine, transposed", declare, transposed, CASE_SPARE_PARAMS},
    {OP_AFFINE, "affine, transposed, bias, base, one row", declare, transposed_with_both, CASE_SPARE_PARAMS},
    {OP_AFFINE, "affine, more rows than a register block", declare, many_rows, CASE_SPARE_PARAMS},
    {OP_AFFINE, "affine, long and wide", declare_long, long_rows, 0},
    {OP_AFFINE, "affine, one input", declare, same_input, 0},
    {OP_AFFINE, "affine, one weight twice", declare_square, same_weight, CASE_SPARE_PARAMS},
    {OP_AFFINE, "affine, one weight, three biases", declare_square, same_weight_other_bias, 0},
    {OP_AFFINE, "affine, one weight both ways", declare_square, same_weight_both_ways, CASE_SPARE_PARAMS},
    {OP_AFFINE, "affine in shrinking steps", declare_square, steps, CASE_SPARE_PARAMS},
    {OP_AFFINE, "affine in reversed steps", declare_square, steps_reversed, CASE_SPARE_PARAMS},
    {0}};
