/* op_cases_loss.c - output layer and cross-entropy, in one block of rows and in several. */
#include "op_cases.h"

enum { MANY = 258 }; /* rows: more than the op keeps logits of */

static int many_targets[MANY];
static const int TARGETS[] = {0, 5, 3, 3, 1};

/* Where the sums of a call go, which nobody reads. */
static CrossEntropy *sums(Tape *tape) {
    CrossEntropy *result = tape_alloc(tape, sizeof *result);
    *result = (CrossEntropy){0};
    return result;
}

static void declare(ParamSet *params) {
    params_add(params, "w", 6, 4, INIT_UNIFORM, 1, PACK_OUTPUT);
    params_add(params, "b", 1, 6, INIT_UNIFORM, 1, PACK_NONE);
}
static Tensor *few(Tape *tape, OpBench *bench, bool bias, double smoothing, double scale) {
    return op_cross_entropy(tape, bench_leaf(bench, tape, 5, 4), bench_param(bench, "w"),
                            bias ? bench_param(bench, "b") : NULL, TARGETS, smoothing, scale, sums(tape));
}
static Tensor *plain(Tape *tape, OpBench *bench) { return few(tape, bench, false, 0, 1); }
static Tensor *with_bias(Tape *tape, OpBench *bench) { return few(tape, bench, true, 0, 0.25); }
static Tensor *smoothed(Tape *tape, OpBench *bench) { return few(tape, bench, false, 0.1, 0.25); }
static Tensor *smoothed_with_bias(Tape *tape, OpBench *bench) { return few(tape, bench, true, 0.3, 1); }
static Tensor *many(Tape *tape, OpBench *bench) {
    Rng rng = rng_new(5);
    for (int i = 0; i < MANY; i++) many_targets[i] = (int)rng_below(&rng, 6);
    return op_cross_entropy(tape, bench_leaf(bench, tape, MANY, 4), bench_param(bench, "w"),
                            bench_param(bench, "b"), many_targets, 0.1, 0.1, sums(tape));
}
/* Embedding and output layer share their weights, and the layer below has a gradient of its own. */
static Tensor *tied(Tape *tape, OpBench *bench) {
    Tensor *x = op_embedding(tape, bench_param(bench, "w"), TARGETS, 5);
    return op_cross_entropy(tape, op_tanh(tape, x), bench_param(bench, "w"), bench_param(bench, "b"), TARGETS,
                            0.1, 1, sums(tape));
}

static Tensor *twins(Tape *tape, OpBench *bench, int n, bool bias, double smoothing, double rdrop) {
    Rng rng = rng_new(6);
    for (int i = 0; i < n; i++) many_targets[i] = (int)rng_below(&rng, 6);
    return op_twin_cross_entropy(tape, bench_leaf(bench, tape, 2 * n, 4), bench_param(bench, "w"),
                                 bias ? bench_param(bench, "b") : NULL, many_targets, smoothing, 0.25, rdrop,
                                 sums(tape));
}
static Tensor *few_twins(Tape *tape, OpBench *bench) { return twins(tape, bench, 3, true, 0.1, 5); }
static Tensor *strangers(Tape *tape, OpBench *bench) { return twins(tape, bench, 3, false, 0, 0); }
static Tensor *many_twins(Tape *tape, OpBench *bench) { return twins(tape, bench, MANY / 2, true, 0.1, 2); }

static Tensor *taught(Tape *tape, OpBench *bench, int n, bool bias, double share) {
    Rng rng = rng_new(7);
    real *teacher = tape_alloc(tape, (size_t)n * 6 * sizeof *teacher);
    for (int i = 0; i < n; i++) many_targets[i] = (int)rng_below(&rng, 6);
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int v = 0; v < 6; v++) sum += (double)(teacher[6 * i + v] = (real)rng_uniform(&rng));
        for (int v = 0; v < 6; v++) teacher[6 * i + v] /= (real)sum;
    }
    return op_taught_cross_entropy(tape, bench_leaf(bench, tape, n, 4), bench_param(bench, "w"),
                                   bias ? bench_param(bench, "b") : NULL, many_targets, teacher, share, 0.1,
                                   0.25, sums(tape));
}
static Tensor *half_taught(Tape *tape, OpBench *bench) { return taught(tape, bench, 4, true, 0.5); }
static Tensor *all_taught(Tape *tape, OpBench *bench) { return taught(tape, bench, 4, false, 1); }
static Tensor *many_taught(Tape *tape, OpBench *bench) { return taught(tape, bench, MANY, true, 0.3); }

const OpCase LOSS_CASES[] = {
    {OP_CROSS_ENTROPY, "cross_entropy", declare, plain, CASE_LOSS | CASE_SPARE_PARAMS},
    {OP_CROSS_ENTROPY, "cross_entropy, bias", declare, with_bias, CASE_LOSS},
    {OP_CROSS_ENTROPY, "cross_entropy, smoothing", declare, smoothed, CASE_LOSS | CASE_SPARE_PARAMS},
    {OP_CROSS_ENTROPY, "cross_entropy, smoothing and bias", declare, smoothed_with_bias, CASE_LOSS},
    {OP_CROSS_ENTROPY, "cross_entropy, several blocks", declare, many, CASE_LOSS},
    {OP_CROSS_ENTROPY, "cross_entropy, tied", declare, tied, CASE_LOSS},
    {OP_TAUGHT_CROSS_ENTROPY, "taught_cross_entropy", declare, half_taught, CASE_LOSS},
    {OP_TAUGHT_CROSS_ENTROPY, "taught_cross_entropy, all", declare, all_taught,
     CASE_LOSS | CASE_SPARE_PARAMS},
    {OP_TAUGHT_CROSS_ENTROPY, "taught_cross_entropy, several blocks", declare, many_taught, CASE_LOSS},
    {OP_TWIN_CROSS_ENTROPY, "twin_cross_entropy", declare, few_twins, CASE_LOSS},
    {OP_TWIN_CROSS_ENTROPY, "twin_cross_entropy, no weight", declare, strangers,
     CASE_LOSS | CASE_SPARE_PARAMS},
    {OP_TWIN_CROSS_ENTROPY, "twin_cross_entropy, several blocks", declare, many_twins, CASE_LOSS},
    {0}};
