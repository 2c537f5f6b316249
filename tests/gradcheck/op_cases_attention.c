/* op_cases_attention.c - scores, softmax and context over ragged spans. */
#include "layers/attention.h"
#include "op_cases.h"

/* Rows look at spans of one key, of several, of the same keys, and of none. */
static const int FIRST[] = {0, 1, 1, 4, 4}, LENGTH[] = {1, 3, 2, 5, 0};
enum { ROWS = 5, KEYS = 9, TOTAL = 11 };

static const Spans *spans(Tape *tape) { return spans_new(tape, FIRST, LENGTH, ROWS); }

static void declare_v(ParamSet *params) { params_add(params, "v", 1, 5, INIT_UNIFORM, 1, PACK_NONE); }
static Tensor *scores(Tape *tape, OpBench *bench) {
    Tensor *query = bench_leaf(bench, tape, ROWS, 5), *keys = bench_leaf(bench, tape, KEYS, 5);
    return op_score_additive(tape, query, keys, bench_param(bench, "v"), spans(tape));
}
static Tensor *softmax(Tape *tape, OpBench *bench) {
    return op_masked_softmax(tape, bench_leaf(bench, tape, 1, TOTAL), spans(tape));
}
static Tensor *context(Tape *tape, OpBench *bench) {
    Tensor *weights = bench_leaf(bench, tape, 1, TOTAL);
    return op_context(tape, weights, bench_leaf(bench, tape, KEYS, 5), spans(tape));
}

static Attention attention;
static void declare_attention(ParamSet *params) {
    attention = attention_new(params, "attention", 0, 3, 4, 5);
}
/* Every row of the score table, with projections; values and keys come from one tensor. */
static Tensor *whole(Tape *tape, OpBench *bench) {
    Tensor *query = bench_leaf(bench, tape, ROWS, 3), *values = bench_leaf(bench, tape, KEYS, 4), *weights;
    Tensor *keys = attention_keys(tape, &attention, values);
    return attention_context(tape, &attention, query, keys, values, spans(tape), &weights);
}

const OpCase ATTENTION_CASES[] = {{OP_SCORE_ADDITIVE, "score_additive", declare_v, scores, 0},
                                  {OP_MASKED_SOFTMAX, "masked_softmax", NULL, softmax, 0},
                                  {OP_CONTEXT, "context", NULL, context, 0},
                                  {OP_CONTEXT, "attention", declare_attention, whole, 0},
                                  {0}};
