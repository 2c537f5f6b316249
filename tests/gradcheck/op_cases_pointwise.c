/* op_cases_pointwise.c - sums, nonlinearities, dropout, layer normalisation. */
#include "op_cases.h"

static Tensor *add(Tape *tape, OpBench *bench) {
    Tensor *a = bench_leaf(bench, tape, 3, 5);
    return op_add(tape, a, bench_leaf(bench, tape, 3, 5));
}
static Tensor *add_to_itself(Tape *tape, OpBench *bench) {
    Tensor *a = bench_leaf(bench, tape, 3, 5);
    return op_add(tape, a, a);
}
static Tensor *hyperbolic(Tape *tape, OpBench *bench) { return op_tanh(tape, bench_leaf(bench, tape, 3, 5)); }
static Tensor *sigmoid(Tape *tape, OpBench *bench) { return op_sigmoid(tape, bench_leaf(bench, tape, 3, 5)); }

static const uint32_t ROW_KEYS[] = {7, 7, 0, 4000000000u, 12};
static Tensor *dropout(Tape *tape, OpBench *bench) {
    return op_dropout(tape, bench_leaf(bench, tape, 5, 9), 0.4, 3, ROW_KEYS);
}
static Tensor *dropout_chain(Tape *tape, OpBench *bench) {
    Tensor *x = op_dropout(tape, bench_leaf(bench, tape, 2, 9), 0.2, 3, ROW_KEYS);
    return op_dropout(tape, op_tanh(tape, x), 0.2, 4, ROW_KEYS);
}

static void declare_norm(ParamSet *params) {
    params_add(params, "gain", 1, 7, INIT_UNIFORM, 1.5, PACK_NONE);
    params_add(params, "bias", 1, 7, INIT_UNIFORM, 0.5, PACK_NONE);
}
static void declare_narrow_norm(ParamSet *params) {
    params_add(params, "gain", 1, 1, INIT_UNIFORM, 1.5, PACK_NONE);
    params_add(params, "bias", 1, 1, INIT_UNIFORM, 0.5, PACK_NONE);
}
static Tensor *layer_norm(Tape *tape, OpBench *bench) {
    return op_layer_norm(tape, bench_leaf(bench, tape, 4, 7), bench_param(bench, "gain"),
                         bench_param(bench, "bias"));
}
static Tensor *layer_norm_one_row(Tape *tape, OpBench *bench) {
    Tensor *y = op_layer_norm(tape, bench_leaf(bench, tape, 1, 7), bench_param(bench, "gain"),
                              bench_param(bench, "bias"));
    return op_layer_norm(tape, y, bench_param(bench, "gain"), bench_param(bench, "bias"));
}
/* One number normalises to 0, whatever it was. */
static Tensor *layer_norm_one_column(Tape *tape, OpBench *bench) {
    return op_layer_norm(tape, bench_leaf(bench, tape, 3, 1), bench_param(bench, "gain"),
                         bench_param(bench, "bias"));
}

const OpCase POINTWISE_CASES[] = {
    {OP_ADD, "add", NULL, add, 0},
    {OP_ADD, "add to itself", NULL, add_to_itself, 0},
    {OP_TANH, "tanh", NULL, hyperbolic, 0},
    {OP_SIGMOID, "sigmoid", NULL, sigmoid, 0},
    {OP_DROPOUT, "dropout", NULL, dropout, CASE_TRAINING},
    {OP_DROPOUT, "dropout twice", NULL, dropout_chain, CASE_TRAINING},
    {OP_LAYER_NORM, "layer_norm", declare_norm, layer_norm, 0},
    {OP_LAYER_NORM, "layer_norm twice, one row", declare_norm, layer_norm_one_row, 0},
    {OP_LAYER_NORM, "layer_norm, one column", declare_narrow_norm, layer_norm_one_column,
     CASE_MAY_VANISH | CASE_SPARE_PARAMS},
    {0}};
