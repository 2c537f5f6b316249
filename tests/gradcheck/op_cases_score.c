/* op_cases_score.c - scores over ragged spans: additive, dot products in all forms, relative positions. */
#include "op_cases.h"

/* Rows attend to spans of one key, of several keys, of shared keys, and of no key. */
static const int FIRST[] = {0, 1, 1, 4, 4}, LENGTH[] = {1, 3, 2, 5, 0};
enum { ROWS = 5, KEYS = 9, TOTAL = 11 };

static const Spans *spans(Tape *tape) { return spans_new(tape, FIRST, LENGTH, ROWS); }
#define P(name) bench_param(bench, name)

static void declare_v(ParamSet *params) { params_add(params, "v", 1, 5, INIT_UNIFORM, 1, PANELS_NONE); }
static Tensor *additive(Tape *tape, OpBench *bench) {
    Tensor *query = bench_leaf(bench, tape, ROWS, 5), *keys = bench_leaf(bench, tape, KEYS, 5);
    return op_score_additive(tape, query, keys, P("v"), spans(tape));
}

static void declare_sharpness(ParamSet *params) {
    params_add(params, "sharpness", 1, 1, INIT_CONSTANT, 1.5, PANELS_NONE);
}
static Tensor *dot(Tape *tape, OpBench *bench, int columns, DotScore form) {
    Tensor *query = bench_leaf(bench, tape, ROWS, columns), *keys = bench_leaf(bench, tape, KEYS, columns);
    return op_score_dot(tape, query, keys, &form, spans(tape));
}
static Tensor *dot_plain(Tape *tape, OpBench *bench) {
    return dot(tape, bench, 5, (DotScore){.heads = 1, .scale = 1});
}
static Tensor *dot_heads(Tape *tape, OpBench *bench) {
    return dot(tape, bench, 6, (DotScore){.heads = 2, .scale = (real)-0.5});
}
static Tensor *dot_narrow(Tape *tape, OpBench *bench) {
    return dot(tape, bench, 3, (DotScore){.heads = 3, .scale = 1});
}
static Tensor *dot_sharp(Tape *tape, OpBench *bench) {
    return dot(tape, bench, 5, (DotScore){.heads = 1, .scale = 2, .sharpness = P("sharpness")});
}
static Tensor *dot_query_bias(Tape *tape, OpBench *bench) {
    Tensor *bias = bench_leaf(bench, tape, ROWS, 1);
    return dot(tape, bench, 5, (DotScore){.heads = 1, .scale = 1, .query_bias = bias});
}
static Tensor *dot_key_bias(Tape *tape, OpBench *bench) {
    Tensor *bias = bench_leaf(bench, tape, KEYS, 1);
    return dot(tape, bench, 6, (DotScore){.heads = 2, .scale = 1, .key_bias = bias});
}
static Tensor *dot_everything(Tape *tape, OpBench *bench) {
    Tensor *query_bias = bench_leaf(bench, tape, ROWS, 1), *key_bias = bench_leaf(bench, tape, KEYS, 1);
    DotScore form = {2, (real)0.7, P("sharpness"), query_bias, key_bias};
    return dot(tape, bench, 6, form);
}
/* Queries, keys and biases are one tensor. */
static Tensor *dot_itself(Tape *tape, OpBench *bench) {
    static const int SELF_FIRST[] = {0, 0, 0, 3, 3}, SELF_LENGTH[] = {1, 2, 3, 2, 2};
    Tensor *x = bench_leaf(bench, tape, ROWS, 6), *bias = op_half_square(tape, x);
    DotScore form = {2, 1, P("sharpness"), bias, bias};
    return op_score_dot(tape, x, x, &form, spans_new(tape, SELF_FIRST, SELF_LENGTH, ROWS));
}
static Tensor *dot_constant_query(Tape *tape, OpBench *bench) {
    DotScore form = {2, 1, P("sharpness"), bench_constant(tape, ROWS, 1), bench_constant(tape, KEYS, 1)};
    Tensor *keys = bench_leaf(bench, tape, KEYS, 6);
    return op_score_dot(tape, bench_constant(tape, ROWS, 6), keys, &form, spans(tape));
}
static Tensor *dot_constant_keys(Tape *tape, OpBench *bench) {
    DotScore form = {.heads = 1, .scale = 1};
    Tensor *query = bench_leaf(bench, tape, ROWS, 6);
    return op_score_dot(tape, query, bench_constant(tape, KEYS, 6), &form, spans(tape));
}
static Tensor *dot_constants(Tape *tape, OpBench *bench) {
    DotScore form = {.heads = 2, .scale = 1, .sharpness = P("sharpness")};
    Tensor *query = bench_constant(tape, ROWS, 6), *keys = bench_constant(tape, KEYS, 6);
    Tensor *scores = op_score_dot(tape, query, keys, &form, spans(tape));
    return op_add(tape, scores, bench_leaf(bench, tape, 2, TOTAL));
}

static Tensor *position(Tape *tape, OpBench *bench) {
    return op_score_position(tape, bench_leaf(bench, tape, ROWS, 5), 1, NULL, spans(tape));
}
/* The last column is for all positions beyond it; with one column, for all positions. */
static Tensor *position_narrow(Tape *tape, OpBench *bench) {
    Tensor *two = op_score_position(tape, bench_leaf(bench, tape, ROWS, 2), 1, NULL, spans(tape));
    Tensor *one = op_score_position(tape, bench_leaf(bench, tape, ROWS, 1), 1, NULL, spans(tape));
    return op_add(tape, two, one);
}
/* Negative and distant positions, two heads. */
static Tensor *position_origin(Tape *tape, OpBench *bench) {
    static const int ORIGIN[] = {0, -1, 1, 2, 7};
    return op_score_position(tape, bench_leaf(bench, tape, 2 * ROWS, 3), 2, ORIGIN, spans(tape));
}
/* Dot products and relative positions together, as in self-attention; the table depends on the query. */
static void declare_relative(ParamSet *params) {
    params_add(params, "relative", 3, 3, INIT_UNIFORM, 1, PANELS_AFFINE);
}
static Tensor *position_and_dot(Tape *tape, OpBench *bench) {
    static const int ORIGIN[] = {0, 1, 0, 3, 0};
    Tensor *query = bench_leaf(bench, tape, ROWS, 6), *keys = bench_leaf(bench, tape, KEYS, 6);
    Tensor *by_head = tape_reshape(tape, query, 2 * ROWS, 3);
    Tensor *table = op_affine(tape, by_head, P("relative"), NULL, NULL, false);
    DotScore form = {.heads = 2, .scale = 1};
    const Spans *s = spans(tape);
    return op_add(tape, op_score_dot(tape, query, keys, &form, s),
                  op_score_position(tape, table, 2, ORIGIN, s));
}
static Tensor *position_constant(Tape *tape, OpBench *bench) {
    Tensor *scores = op_score_position(tape, bench_constant(tape, ROWS, 4), 1, NULL, spans(tape));
    return op_add(tape, scores, bench_leaf(bench, tape, 1, TOTAL));
}

const OpCase SCORE_CASES[] = {
    {OP_SCORE_ADDITIVE, "score_additive", declare_v, additive, 0},
    {OP_SCORE_DOT, "score_dot", NULL, dot_plain, 0},
    {OP_SCORE_DOT, "score_dot, two heads", NULL, dot_heads, 0},
    {OP_SCORE_DOT, "score_dot, heads of one number", NULL, dot_narrow, 0},
    {OP_SCORE_DOT, "score_dot, sharpness", declare_sharpness, dot_sharp, 0},
    {OP_SCORE_DOT, "score_dot, query bias", NULL, dot_query_bias, 0},
    {OP_SCORE_DOT, "score_dot, key bias, two heads", NULL, dot_key_bias, 0},
    {OP_SCORE_DOT, "score_dot, everything", declare_sharpness, dot_everything, 0},
    {OP_SCORE_DOT, "score_dot of itself", declare_sharpness, dot_itself, 0},
    {OP_SCORE_DOT, "score_dot, constant query and biases", declare_sharpness, dot_constant_query, 0},
    {OP_SCORE_DOT, "score_dot, constant keys", NULL, dot_constant_keys, 0},
    {OP_SCORE_DOT, "score_dot of constants", declare_sharpness, dot_constants, 0},
    {OP_SCORE_POSITION, "score_position", NULL, position, 0},
    {OP_SCORE_POSITION, "score_position, few columns", NULL, position_narrow, 0},
    {OP_SCORE_POSITION, "score_position, origins, two heads", NULL, position_origin, 0},
    {OP_SCORE_POSITION, "score_position and score_dot", declare_relative, position_and_dot, 0},
    {OP_SCORE_POSITION, "score_position of a constant", NULL, position_constant, 0},
    {0}};
