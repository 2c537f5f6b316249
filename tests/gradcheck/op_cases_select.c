/* op_cases_select.c - ops that move rows. */
#include "op_cases.h"

static Tensor *concat(Tape *tape, OpBench *bench) {
    Tensor *a = bench_leaf(bench, tape, 3, 4);
    return op_concat(tape, a, bench_leaf(bench, tape, 3, 5));
}
static Tensor *concat_with_itself(Tape *tape, OpBench *bench) {
    Tensor *a = bench_leaf(bench, tape, 3, 4);
    return op_concat(tape, a, a);
}

/* Rows that are selected twice, once and never, and rows of zeros. */
static const int INDEX[] = {4, -1, 0, 4, 2, -1, 1};
static Tensor *gather(Tape *tape, OpBench *bench) {
    return op_gather(tape, bench_leaf(bench, tape, 6, 5), INDEX, 7);
}

static void declare_table(ParamSet *params) {
    params_add(params, "table", 6, 5, INIT_UNIFORM, 1, PANELS_NONE);
}
static Tensor *embedding(Tape *tape, OpBench *bench) {
    return op_embedding(tape, bench_param(bench, "table"), INDEX, 7);
}
static Tensor *embedding_twice(Tape *tape, OpBench *bench) {
    Tensor *a = op_embedding(tape, bench_param(bench, "table"), INDEX, 4);
    return op_add(tape, a, op_tanh(tape, op_embedding(tape, bench_param(bench, "table"), INDEX + 2, 4)));
}

static const int START[] = {0, 1, 4, 6, 11};
static Tensor *segment_mean(Tape *tape, OpBench *bench) {
    return op_segment_mean(tape, bench_leaf(bench, tape, 11, 5), START, 4);
}

const OpCase SELECT_CASES[] = {{OP_CONCAT, "concat", NULL, concat, 0},
                               {OP_CONCAT, "concat with itself", NULL, concat_with_itself, 0},
                               {OP_GATHER, "gather", NULL, gather, 0},
                               {OP_EMBEDDING, "embedding", declare_table, embedding, 0},
                               {OP_EMBEDDING, "embedding twice", declare_table, embedding_twice, 0},
                               {OP_SEGMENT_MEAN, "segment_mean", NULL, segment_mean, 0},
                               {0}};
