/* op_cases_attention.c - softmax, dropout and context over ragged spans; attention with every score. */
#include "layers/attention.h"
#include "op_cases.h"

/* Rows attend to spans of one key, of several keys, of shared keys, and of no key. */
static const int FIRST[] = {0, 1, 1, 4, 4}, LENGTH[] = {1, 3, 2, 5, 0};
enum { ROWS = 5, KEYS = 9, TOTAL = 11 };

static const Spans *spans(Tape *tape) { return spans_new(tape, FIRST, LENGTH, ROWS); }
static const uint32_t ROW_KEYS[] = {3, 3, 1, 8, 2};

static Tensor *softmax(Tape *tape, OpBench *bench) {
    return op_masked_softmax(tape, bench_leaf(bench, tape, 1, TOTAL), spans(tape));
}
static Tensor *softmax_heads(Tape *tape, OpBench *bench) {
    return op_masked_softmax(tape, bench_leaf(bench, tape, 2, TOTAL), spans(tape));
}
static Tensor *softmax_constant(Tape *tape, OpBench *bench) {
    Tensor *weights = op_masked_softmax(tape, bench_constant(tape, 1, TOTAL), spans(tape));
    return op_add(tape, weights, bench_leaf(bench, tape, 1, TOTAL));
}

static Tensor *dropout(Tape *tape, OpBench *bench) {
    return op_dropout_weights(tape, bench_leaf(bench, tape, 1, TOTAL), 0.4, 3, ROW_KEYS, spans(tape));
}
static Tensor *dropout_heads(Tape *tape, OpBench *bench) {
    Tensor *y = op_dropout_weights(tape, bench_leaf(bench, tape, 2, TOTAL), 0.3, 3, ROW_KEYS, spans(tape));
    return op_dropout_weights(tape, y, 0.2, 4, ROW_KEYS, spans(tape));
}
static Tensor *dropout_constant(Tape *tape, OpBench *bench) {
    Tensor *y = op_dropout_weights(tape, bench_constant(tape, 1, TOTAL), 0.3, 3, ROW_KEYS, spans(tape));
    return op_add(tape, y, bench_leaf(bench, tape, 1, TOTAL));
}

static Tensor *context(Tape *tape, OpBench *bench) {
    Tensor *weights = bench_leaf(bench, tape, 1, TOTAL);
    return op_context(tape, weights, bench_leaf(bench, tape, KEYS, 5), spans(tape));
}
static Tensor *context_heads(Tape *tape, OpBench *bench) {
    Tensor *weights = bench_leaf(bench, tape, 2, TOTAL);
    return op_context(tape, weights, bench_leaf(bench, tape, KEYS, 6), spans(tape));
}
static Tensor *context_constant_weights(Tape *tape, OpBench *bench) {
    Tensor *weights = bench_constant(tape, 2, TOTAL);
    return op_context(tape, weights, bench_leaf(bench, tape, KEYS, 6), spans(tape));
}
static Tensor *context_constant_values(Tape *tape, OpBench *bench) {
    Tensor *weights = bench_leaf(bench, tape, 1, TOTAL);
    return op_context(tape, weights, bench_constant(tape, KEYS, 5), spans(tape));
}
/* Query, keys and values are one tensor; each row attends to itself and the rows before it. */
static Tensor *causal(Tape *tape, OpBench *bench) {
    static const int BEFORE_FIRST[] = {0, 0, 0, 3, 3}, BEFORE_LENGTH[] = {1, 2, 3, 1, 2};
    const Spans *before = spans_new(tape, BEFORE_FIRST, BEFORE_LENGTH, ROWS);
    Tensor *x = bench_leaf(bench, tape, ROWS, 6);
    DotScore form = {.heads = 2, .scale = (real)0.6};
    Tensor *weights = op_masked_softmax(tape, op_score_dot(tape, x, x, &form, before), before);
    return op_context(tape, op_dropout_weights(tape, weights, 0.3, 1, ROW_KEYS, before), x, before);
}

/* The whole attention layer, with queries of the size of the values and of another size. */
static Attention attention;
enum { VALUE = 4, HIDDEN = 5, POSITIONS = 3 };
static void declare_with(ParamSet *params, int query_size) {
    AttentionSizes sizes = {query_size, VALUE, HIDDEN, POSITIONS};
    attention = attention_new(params, "attention", bench_score, sizes);
}
static void declare(ParamSet *params) { declare_with(params, VALUE - 1); }
static void declare_equal(ParamSet *params) { declare_with(params, VALUE); }
static Tensor *whole(Tape *tape, OpBench *bench) {
    Tensor *query = bench_leaf(bench, tape, ROWS, attention.size.query),
           *values = bench_leaf(bench, tape, KEYS, VALUE);
    KeysValues kv = attention_project_keys(tape, &attention, values);
    AttentionDropout dropped = {bench->item->flags & CASE_TRAINING ? 0.3 : 0, 2, ROW_KEYS};
    Tensor *weights = attention_weights(tape, &attention, query, &kv, spans(tape));
    Tensor *y = attention_context(tape, weights, &kv, spans(tape), dropped);
    return op_add(tape, y, op_tanh(tape, y));
}

const OpCase ATTENTION_CASES[] = {
    {OP_MASKED_SOFTMAX, "masked_softmax", NULL, softmax, 0},
    {OP_MASKED_SOFTMAX, "masked_softmax, two heads", NULL, softmax_heads, 0},
    {OP_MASKED_SOFTMAX, "masked_softmax of a constant", NULL, softmax_constant, 0},
    {OP_DROPOUT_WEIGHTS, "dropout_weights", NULL, dropout, CASE_TRAINING},
    {OP_DROPOUT_WEIGHTS, "dropout_weights twice, two heads", NULL, dropout_heads, CASE_TRAINING},
    {OP_DROPOUT_WEIGHTS, "dropout_weights of a constant", NULL, dropout_constant, CASE_TRAINING},
    {OP_CONTEXT, "context", NULL, context, 0},
    {OP_CONTEXT, "context, two heads", NULL, context_heads, 0},
    {OP_CONTEXT, "context, constant weights", NULL, context_constant_weights, 0},
    {OP_CONTEXT, "context, constant values", NULL, context_constant_values, 0},
    {OP_DROPOUT_WEIGHTS, "causal self-attention", NULL, causal, CASE_TRAINING},
    {OP_CONTEXT, "attention", declare, whole, CASE_EVERY_SCORE},
    {OP_CONTEXT, "attention, equal sizes, dropout", declare_equal, whole, CASE_EVERY_SCORE | CASE_TRAINING},
    {0}};
