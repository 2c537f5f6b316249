/* op_cases_norm.c - layer normalization, unit rows, squares of rows. */
#include "op_cases.h"

static void declare_norm(ParamSet *params) {
    params_add(params, "gain", 1, 7, INIT_UNIFORM, 1.5, PANELS_NONE);
    params_add(params, "bias", 1, 7, INIT_UNIFORM, 0.5, PANELS_NONE);
}
static void declare_narrow_norm(ParamSet *params) {
    params_add(params, "gain", 1, 1, INIT_UNIFORM, 1.5, PANELS_NONE);
    params_add(params, "bias", 1, 1, INIT_UNIFORM, 0.5, PANELS_NONE);
}
static Tensor *layer_norm(Tape *tape, OpBench *bench) {
    return op_layer_norm(tape, bench_leaf(bench, tape, 4, 7), bench_param(bench, "gain"),
                         bench_param(bench, "bias"), 1e-2);
}
static Tensor *layer_norm_one_row(Tape *tape, OpBench *bench) {
    Tensor *y = op_layer_norm(tape, bench_leaf(bench, tape, 1, 7), bench_param(bench, "gain"),
                              bench_param(bench, "bias"), 1e-5);
    return op_layer_norm(tape, y, bench_param(bench, "gain"), bench_param(bench, "bias"), 1e-5);
}
/* A row of one number normalizes to 0. */
static Tensor *layer_norm_one_column(Tape *tape, OpBench *bench) {
    return op_layer_norm(tape, bench_leaf(bench, tape, 3, 1), bench_param(bench, "gain"),
                         bench_param(bench, "bias"), 1e-5);
}

static Tensor *unit_rows(Tape *tape, OpBench *bench) {
    return op_unit_rows(tape, bench_leaf(bench, tape, 4, 7));
}
static Tensor *unit_rows_twice(Tape *tape, OpBench *bench) {
    Tensor *x = bench_leaf(bench, tape, 1, 7);
    return op_unit_rows(tape, op_add(tape, x, op_unit_rows(tape, x)));
}
/* A row of zeros among other rows: it has no derivative, and its gradient is 0. */
static Tensor *unit_rows_zero(Tape *tape, OpBench *bench) {
    static const int INDEX[] = {1, -1, 0};
    return op_unit_rows(tape, op_gather(tape, bench_leaf(bench, tape, 2, 5), INDEX, 3));
}
/* A row of one number becomes 1 or -1. */
static Tensor *unit_rows_one_column(Tape *tape, OpBench *bench) {
    return op_unit_rows(tape, bench_leaf(bench, tape, 3, 1));
}
static Tensor *half_square(Tape *tape, OpBench *bench) {
    return op_half_square(tape, bench_leaf(bench, tape, 4, 7));
}
static Tensor *constants(Tape *tape, OpBench *bench) {
    Tensor *c = bench_constant(tape, 4, 3), *x = bench_leaf(bench, tape, 4, 3);
    Tensor *y = op_concat(tape, op_add(tape, x, op_unit_rows(tape, c)), op_half_square(tape, c));
    return op_concat(tape, y, op_half_square(tape, y));
}

const OpCase NORM_CASES[] = {
    {OP_LAYER_NORM, "layer_norm", declare_norm, layer_norm, 0},
    {OP_LAYER_NORM, "layer_norm twice, one row", declare_norm, layer_norm_one_row, 0},
    {OP_LAYER_NORM, "layer_norm, one column", declare_narrow_norm, layer_norm_one_column,
     CASE_MAY_VANISH | CASE_SPARE_PARAMS},
    {OP_UNIT_ROWS, "unit_rows", NULL, unit_rows, 0},
    {OP_UNIT_ROWS, "unit_rows twice, one row", NULL, unit_rows_twice, 0},
    {OP_UNIT_ROWS, "unit_rows with zeros", NULL, unit_rows_zero, 0},
    {OP_UNIT_ROWS, "unit_rows, one column", NULL, unit_rows_one_column, CASE_MAY_VANISH},
    {OP_HALF_SQUARE, "half_square", NULL, half_square, 0},
    {OP_HALF_SQUARE, "unit_rows and half_square of constants", NULL, constants, 0},
    {0}};
