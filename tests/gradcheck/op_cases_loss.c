/* op_cases_loss.c - output layer and cross-entropy, in one block of rows and in several. */
#include "op_cases.h"

enum { MANY = 258 }; /* rows: more than one block of logits */

static int many_targets[MANY];
static const int TARGETS[] = {0, 5, 3, 3, 1};

/* Receives the sums of a call; the cases do not check them. */
static CrossEntropy *sums(Tape *tape) {
    CrossEntropy *result = tape_alloc(tape, sizeof *result);
    *result = (CrossEntropy){0};
    return result;
}

static void declare(ParamSet *params) {
    params_add(params, "w", 6, 4, INIT_UNIFORM, 1, PANELS_OUTPUT);
    params_add(params, "b", 1, 6, INIT_UNIFORM, 1, PANELS_NONE);
}
static Tensor *few(Tape *tape, OpBench *bench, bool bias, double smoothing, double scale) {
    const LossOptions options = {bench_param(bench, "w"), bias ? bench_param(bench, "b") : NULL, smoothing,
                                 scale};
    return op_cross_entropy(tape, bench_leaf(bench, tape, 5, 4), TARGETS, &options, sums(tape));
}
static Tensor *plain(Tape *tape, OpBench *bench) { return few(tape, bench, false, 0, 1); }
static Tensor *with_bias(Tape *tape, OpBench *bench) { return few(tape, bench, true, 0, 0.25); }
static Tensor *smoothed(Tape *tape, OpBench *bench) { return few(tape, bench, false, 0.1, 0.25); }
static Tensor *smoothed_with_bias(Tape *tape, OpBench *bench) { return few(tape, bench, true, 0.3, 1); }
static Tensor *many(Tape *tape, OpBench *bench) {
    Rng rng = rng_new(5);
    for (int i = 0; i < MANY; i++) many_targets[i] = (int)rng_below(&rng, 6);
    const LossOptions options = {bench_param(bench, "w"), bench_param(bench, "b"), 0.1, 0.1};
    return op_cross_entropy(tape, bench_leaf(bench, tape, MANY, 4), many_targets, &options, sums(tape));
}
/* Embedding and output layer share their weights; the layer below has its own gradient. */
static Tensor *tied(Tape *tape, OpBench *bench) {
    Tensor *x = op_embedding(tape, bench_param(bench, "w"), TARGETS, 5);
    const LossOptions options = {bench_param(bench, "w"), bench_param(bench, "b"), 0.1, 1};
    return op_cross_entropy(tape, op_tanh(tape, x), TARGETS, &options, sums(tape));
}

const OpCase LOSS_CASES[] = {
    {OP_CROSS_ENTROPY, "cross_entropy", declare, plain, CASE_LOSS | CASE_SPARE_PARAMS},
    {OP_CROSS_ENTROPY, "cross_entropy, bias", declare, with_bias, CASE_LOSS},
    {OP_CROSS_ENTROPY, "cross_entropy, smoothing", declare, smoothed, CASE_LOSS | CASE_SPARE_PARAMS},
    {OP_CROSS_ENTROPY, "cross_entropy, smoothing and bias", declare, smoothed_with_bias, CASE_LOSS},
    {OP_CROSS_ENTROPY, "cross_entropy, several blocks", declare, many, CASE_LOSS},
    {OP_CROSS_ENTROPY, "cross_entropy, tied", declare, tied, CASE_LOSS},
    {0}};
