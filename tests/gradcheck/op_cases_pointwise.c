/* op_cases_pointwise.c - sums, multiples, nonlinearities, dropout of rows. */
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

/* The same numbers in another shape; gradients arrive in both shapes. */
static Tensor *reshaped(Tape *tape, OpBench *bench) {
    Tensor *x = bench_leaf(bench, tape, 4, 6);
    Tensor *y = op_tanh(tape, tape_reshape(tape, x, 8, 3));
    return op_add(tape, tape_reshape(tape, y, 4, 6), x);
}
static Tensor *scale(Tape *tape, OpBench *bench) {
    return op_scale(tape, bench_leaf(bench, tape, 3, 5), (real)-1.25);
}
static Tensor *scale_to_nothing(Tape *tape, OpBench *bench) {
    Tensor *x = bench_leaf(bench, tape, 3, 5);
    return op_add(tape, x, op_scale(tape, x, 0));
}
static Tensor *glu(Tape *tape, OpBench *bench) { return op_glu(tape, bench_leaf(bench, tape, 3, 10)); }
static Tensor *glu_narrow(Tape *tape, OpBench *bench) { return op_glu(tape, bench_leaf(bench, tape, 4, 2)); }
/* Constants can be added to any tensor, and all ops of this file accept them. */
static Tensor *constants(Tape *tape, OpBench *bench) {
    Tensor *c = bench_constant(tape, 3, 6), *x = bench_leaf(bench, tape, 3, 6);
    Tensor *y = op_add(tape, op_scale(tape, c, 2), x);
    Tensor *zeroed = op_relu(tape, op_add(tape, c, op_tanh(tape, c)), 0, 0, NULL);
    return op_residual(tape, op_add(tape, op_tanh(tape, op_add(tape, y, c)), zeroed), c, 0, 0, NULL);
}
static Tensor *glu_constant(Tape *tape, OpBench *bench) {
    return op_add(tape, op_glu(tape, bench_constant(tape, 3, 6)), bench_leaf(bench, tape, 3, 3));
}

static const uint32_t ROW_KEYS[] = {7, 7, 0, 4000000000u, 12};
static Tensor *dropout(Tape *tape, OpBench *bench) {
    return op_dropout(tape, bench_leaf(bench, tape, 5, 9), 0.4, 3, ROW_KEYS);
}
static Tensor *dropout_chain(Tape *tape, OpBench *bench) {
    Tensor *x = op_dropout(tape, bench_leaf(bench, tape, 2, 9), 0.2, 3, ROW_KEYS);
    return op_dropout(tape, op_tanh(tape, x), 0.2, 4, ROW_KEYS);
}

/* An operand that becomes the result, or shares its gradient, must start without a gradient; leaves have
 * one. */
static Tensor *relu_of(Tape *tape, Tensor *x, double p) {
    Tensor *minus = op_scale(tape, x, -2);
    return op_add(tape, op_relu(tape, op_scale(tape, x, 1), p, 3, ROW_KEYS),
                  op_relu(tape, minus, p, 4, ROW_KEYS));
}
static Tensor *relu(Tape *tape, OpBench *bench) { return relu_of(tape, bench_leaf(bench, tape, 5, 9), 0); }
static Tensor *relu_dropped(Tape *tape, OpBench *bench) {
    return relu_of(tape, bench_leaf(bench, tape, 5, 9), 0.4);
}
static Tensor *activation_of(Tape *tape, Tensor *x, ActivationFunction f, double p) {
    Tensor *minus = op_scale(tape, x, -2);
    return op_add(tape, op_activation(tape, op_scale(tape, x, 1), f, p, 3, ROW_KEYS),
                  op_activation(tape, minus, f, p, 4, ROW_KEYS));
}
static Tensor *activation_relu(Tape *tape, OpBench *bench) {
    return activation_of(tape, bench_leaf(bench, tape, 5, 9), ACTIVATION_RELU, 0);
}
static Tensor *activation_swish(Tape *tape, OpBench *bench) {
    return activation_of(tape, bench_leaf(bench, tape, 5, 9), ACTIVATION_SWISH, 0);
}
static Tensor *activation_gelu(Tape *tape, OpBench *bench) {
    return activation_of(tape, bench_leaf(bench, tape, 5, 9), ACTIVATION_GELU, 0);
}
static Tensor *activation_gelu_tanh(Tape *tape, OpBench *bench) {
    return activation_of(tape, bench_leaf(bench, tape, 5, 9), ACTIVATION_GELU_TANH, 0);
}
static Tensor *activation_gelu_sigmoid(Tape *tape, OpBench *bench) {
    return activation_of(tape, bench_leaf(bench, tape, 5, 9), ACTIVATION_GELU_SIGMOID, 0);
}
static Tensor *activation_dropped(Tape *tape, OpBench *bench) {
    return activation_of(tape, bench_leaf(bench, tape, 5, 9), ACTIVATION_GELU, 0.4);
}
static Tensor *activation_constant(Tape *tape, OpBench *bench) {
    Tensor *c = bench_constant(tape, 3, 6);
    return op_add(tape, op_activation(tape, c, ACTIVATION_SWISH, 0, 0, NULL), bench_leaf(bench, tape, 3, 6));
}

static Tensor *residual_of(Tape *tape, Tensor *leaf, double p) {
    Tensor *x = op_scale(tape, leaf, -1);
    Tensor *first = op_residual(tape, x, op_tanh(tape, x), p, 3, ROW_KEYS);
    return op_tanh(tape, op_residual(tape, first, op_tanh(tape, first), p, 4, ROW_KEYS));
}
static Tensor *residual(Tape *tape, OpBench *bench) {
    return residual_of(tape, bench_leaf(bench, tape, 5, 9), 0);
}
static Tensor *residual_dropped(Tape *tape, OpBench *bench) {
    return residual_of(tape, bench_leaf(bench, tape, 5, 9), 0.4);
}
/* Either operand can be a constant. */
static Tensor *residual_constants(Tape *tape, OpBench *bench) {
    Tensor *c = bench_constant(tape, 5, 9), *x = bench_leaf(bench, tape, 5, 9);
    Tensor *y = op_residual(tape, c, x, 0.4, 3, ROW_KEYS);
    return op_residual(tape, y, c, 0.4, 4, ROW_KEYS);
}

const OpCase POINTWISE_CASES[] = {
    {OP_ADD, "add", NULL, add, 0},
    {OP_ADD, "add to itself", NULL, add_to_itself, 0},
    {OP_ADD, "add constants", NULL, constants, 0},
    {OP_TANH, "tanh", NULL, hyperbolic, 0},
    {OP_TANH, "tanh of another shape", NULL, reshaped, 0},
    {OP_SCALE, "scale", NULL, scale, 0},
    {OP_SCALE, "scale by 0", NULL, scale_to_nothing, 0},
    {OP_GLU, "glu", NULL, glu, 0},
    {OP_GLU, "glu, one column", NULL, glu_narrow, 0},
    {OP_GLU, "glu of a constant", NULL, glu_constant, 0},
    {OP_DROPOUT, "dropout", NULL, dropout, CASE_TRAINING},
    {OP_DROPOUT, "dropout twice", NULL, dropout_chain, CASE_TRAINING},
    {OP_RELU, "relu", NULL, relu, 0},
    {OP_RELU, "relu with dropout", NULL, relu_dropped, CASE_TRAINING},
    {OP_RELU, "activation relu", NULL, activation_relu, 0},
    {OP_ACTIVATION, "swish", NULL, activation_swish, 0},
    {OP_ACTIVATION, "gelu", NULL, activation_gelu, 0},
    {OP_ACTIVATION, "gelu_tanh", NULL, activation_gelu_tanh, 0},
    {OP_ACTIVATION, "gelu_sigmoid", NULL, activation_gelu_sigmoid, 0},
    {OP_ACTIVATION, "gelu with dropout", NULL, activation_dropped, CASE_TRAINING},
    {OP_ACTIVATION, "swish of a constant", NULL, activation_constant, 0},
    {OP_RESIDUAL, "residual", NULL, residual, 0},
    {OP_RESIDUAL, "residual with dropout", NULL, residual_dropped, CASE_TRAINING},
    {OP_RESIDUAL, "residual of constants", NULL, residual_constants, CASE_TRAINING},
    {0}};
