/* attention_scores.c - every score function: its formula, its three functions, and at the end the table of
 * them.
 *
 *   declare       declares the parameters, under the attention's name and with its sizes
 *   project_keys  computes the terms that depend on the keys alone, once per sentence
 *   scores        computes one number a(q, k) for each query and each key of its span
 *
 * Keys k are the encoder's annotations, which are also the values. Ops know their derivatives, so training
 * needs nothing more. A score that needs arithmetic of its own is an op first: autograd/op_score.c.
 */
#include <math.h>
#include <string.h>
#include "layers/attention.h"

/* ---- helpers of several scores ---- */

/* A map without bias, "name.side.weight" [inputs, outputs], whose initial weights lie within `shrink` times
 * the bounds of Glorot and Bengio 2010: scores that grow with the size of their vectors must start smaller,
 * or the softmax starts where its gradient vanishes. */
static Linear map(ParamSet *params, const Attention *a, const char *side, int inputs, int outputs,
                  double shrink) {
    const char *name = param_name(param_name(a->name, side), "weight");
    double limit = shrink * sqrt(6.0 / (inputs + outputs));
    return (Linear){params_add(params, name, inputs, outputs, INIT_UNIFORM, limit, PANELS_AFFINE), NULL};
}

/* For scores that need q and k of equal size: maps the annotations to the query's size if theirs differs. */
static void declare_equal_sizes(ParamSet *params, Attention *a, double shrink) {
    if (a->size.query != a->size.value) a->key = map(params, a, "key", a->size.value, a->size.query, shrink);
}

/* The mapped annotations, or the annotations themselves if no map is declared. */
static void project_keys(Tape *tape, const Attention *a, KeysValues *kv) {
    kv->keys = a->key.weight ? linear_apply(tape, &a->key, kv->values) : kv->values;
}

/* ---- additive: v . tanh(W q + U k) ----
 * Bahdanau et al. 2015, A.1.2; Dive into Deep Learning, eq. 11.3.7 */

static void declare_v(ParamSet *params, Attention *a) {
    a->v = params_add(params, param_name(a->name, "v"), 1, a->size.hidden, INIT_GLOROT, 0, PANELS_NONE);
}

static void declare_additive(ParamSet *params, Attention *a) {
    a->query = linear_new(params, param_name(a->name, "query"), a->size.query, a->size.hidden, false);
    a->key = linear_new(params, param_name(a->name, "key"), a->size.value, a->size.hidden, false);
    declare_v(params, a);
}

static Tensor *scores_additive(Tape *tape, const Attention *a, Tensor *query, const KeysValues *kv,
                               const Spans *spans) {
    return op_score_additive(tape, linear_apply(tape, &a->query, query), kv->keys, a->v, spans);
}

/* ---- dot: q . k ----
 * Luong et al. 2015, section 3.1 */

static void declare_dot(ParamSet *params, Attention *a) {
    declare_equal_sizes(params, a, 1 / sqrt((double)a->size.query));
}

static Tensor *scores_dot(Tape *tape, const Attention *a, Tensor *query, const KeysValues *kv,
                          const Spans *spans) {
    (void)a;
    if (kv->key_rows) return op_score_gathered(tape, query, kv->key_rows, 1, spans);
    return op_score_dot(tape, query, kv->keys, &(DotScore){.heads = 1, .scale = 1}, spans);
}

/* ---- scaled_dot: q . k / sqrt(d), so that the variance of the scores does not grow with the size d ----
 * Vaswani et al. 2017, section 3.2.1; Dive into Deep Learning, eq. 11.3.2 and, for all queries at once,
 * 11.3.6 */

static void declare_scaled_dot(ParamSet *params, Attention *a) { declare_equal_sizes(params, a, 1); }

static Tensor *scores_scaled_dot(Tape *tape, const Attention *a, Tensor *query, const KeysValues *kv,
                                 const Spans *spans) {
    (void)a;
    DotScore form = {.heads = 1, .scale = (real)(1 / sqrt((double)query->columns))};
    return op_score_dot(tape, query, kv->keys, &form, spans);
}

/* ---- general: q . W k, for queries and keys of any sizes ----
 * Luong et al. 2015, section 3.1; the matrix M of Dive into Deep Learning, section 11.3.3 */

static void declare_general(ParamSet *params, Attention *a) {
    a->key = map(params, a, "key", a->size.value, a->size.query, 1 / sqrt((double)a->size.query));
}

/* ---- cosine: b q . k / (|q| |k|), addressing by content with a learned sharpness b ----
 * Graves, Wayne and Danihelka 2014, eq. 5-6. A cosine lies between -1 and 1, too little to tell keys apart:
 * the sharpness starts at 8 and is learned. */

enum { FIRST_SHARPNESS = 8 };

static void declare_cosine(ParamSet *params, Attention *a) {
    declare_equal_sizes(params, a, 1);
    a->sharpness = params_add(params, param_name(a->name, "sharpness"), 1, 1, INIT_CONSTANT, FIRST_SHARPNESS,
                              PANELS_NONE);
}

static void project_keys_cosine(Tape *tape, const Attention *a, KeysValues *kv) {
    project_keys(tape, a, kv);
    kv->keys = op_unit_rows(tape, kv->keys);
}

static Tensor *scores_cosine(Tape *tape, const Attention *a, Tensor *query, const KeysValues *kv,
                             const Spans *spans) {
    DotScore form = {.heads = 1, .scale = 1, .sharpness = a->sharpness};
    return op_score_dot(tape, op_unit_rows(tape, query), kv->keys, &form, spans);
}

/* ---- bare_cosine: q . k / (|q| |k|), cosine without a sharpness ----
 * The weights of a row differ by a factor of e^2 at most: its context stays near the mean of the values.
 * The row of the table combines functions above; it declares only the map of scaled_dot. */

/* ---- distance: -|q - k|^2 / 2, the logarithm of a Gaussian kernel ----
 * Dive into Deep Learning, eq. 11.3.1. Computed as q . k - |k|^2 / 2 - |q|^2 / 2, as there: the squared
 * lengths of the keys are computed once per sentence. */

/* Half the usual square root: the scores are squares of the keys. */
static void declare_distance(ParamSet *params, Attention *a) {
    declare_equal_sizes(params, a, 1 / pow(a->size.query, 0.25));
}

static void project_keys_distance(Tape *tape, const Attention *a, KeysValues *kv) {
    project_keys(tape, a, kv);
    kv->bias = op_half_square(tape, kv->keys);
}

static Tensor *scores_distance(Tape *tape, const Attention *a, Tensor *query, const KeysValues *kv,
                               const Spans *spans) {
    (void)a;
    DotScore form = {.heads = 1, .scale = 1, .query_bias = op_half_square(tape, query), .key_bias = kv->bias};
    return op_score_dot(tape, query, kv->keys, &form, spans);
}

/* ---- location: (W q)[position of k], depends on the query alone ----
 * Luong et al. 2015, section 3.1. Positions beyond the table share its last column. */

static void declare_location(ParamSet *params, Attention *a) {
    a->query = linear_new(params, param_name(a->name, "query"), a->size.query, a->size.positions, false);
}

static void project_keys_location(Tape *tape, const Attention *a, KeysValues *kv) {
    (void)tape, (void)a, (void)kv; /* the score ignores the keys */
}

static Tensor *scores_location(Tape *tape, const Attention *a, Tensor *query, const KeysValues *kv,
                               const Spans *spans) {
    (void)kv;
    return op_score_position(tape, linear_apply(tape, &a->query, query), 1, NULL, spans);
}

/* ---- concat: v . tanh(W [q; k]) ----
 * Luong et al. 2015, section 3.1. The product with the joined vector is the sum of two products: W is stored
 * as two halves, initialized like the whole matrix [Q + K, A]. The rest is the additive score. */

static Linear half(ParamSet *params, const Attention *a, const char *side, int inputs) {
    double whole = a->size.query + a->size.value + a->size.hidden; /* rows and columns of W */
    return map(params, a, side, inputs, a->size.hidden, sqrt((inputs + a->size.hidden) / whole));
}

static void declare_concat(ParamSet *params, Attention *a) {
    a->query = half(params, a, "query", a->size.query);
    a->key = half(params, a, "key", a->size.value);
    declare_v(params, a);
}

/* ---- sum: the sum of the numbers of q + k ----
 * Dive into Deep Learning 0.17, section 10.3.5, exercise 3: would a sum of vectors be a better score than
 * the dot product? The sum of two vectors is a number only if its components are added up. Then the query
 * adds the same number to all scores of its row, and the softmax removes it again: the weights do not
 * depend on the query. */

/* [n, K] -> [n, 1] */
static Tensor *sum_of_rows(Tape *tape, Tensor *x) {
    int *start = tape_alloc(tape, ((size_t)x->rows + 1) * sizeof *start);
    for (int r = 0; r <= x->rows; r++) start[r] = r * x->columns;
    Tensor *mean = op_segment_mean(tape, tape_reshape(tape, x, x->rows * x->columns, 1), start, x->rows);
    return op_scale(tape, mean, (real)x->columns);
}

static Tensor *scores_sum(Tape *tape, const Attention *a, Tensor *query, const KeysValues *kv,
                          const Spans *spans) {
    DotScore form = {.heads = 1, .scale = 1, .query_bias = sum_of_rows(tape, query)};
    (void)a;
    return op_score_dot(tape, tape_tensor_filled(tape, query->rows, query->columns, 1), kv->keys, &form,
                        spans);
}

/* ---- none: 0, which makes the context a mean ----
 * A model with this score has no attention. Its decoder has one source row, the encoder's final state, so the
 * context is this state: models/decoder_recurrent.c. */

bool attention_is_none(int score) { return strcmp(ATTENTION_SCORES[score].name, "none") == 0; }

static void declare_nothing(ParamSet *params, Attention *a) { (void)params, (void)a; }

static Tensor *scores_none(Tape *tape, const Attention *a, Tensor *query, const KeysValues *kv,
                           const Spans *spans) {
    (void)a, (void)query, (void)kv;
    return tape_tensor_zeroed(tape, 1, spans->total);
}

/* ---- the table ---- */

/* clang-format off */
#define SCORE_TABLE(ROW)                                                                                     \
    ROW(additive,   "v . tanh(W q + U k)", declare_additive,   project_keys,          scores_additive)       \
    ROW(dot,        "q . k",               declare_dot,        project_keys,          scores_dot)            \
    ROW(scaled_dot, "q . k / sqrt(d)",     declare_scaled_dot, project_keys,          scores_scaled_dot)     \
    ROW(general,    "q . W k",             declare_general,    project_keys,          scores_dot)            \
    ROW(cosine,     "b q . k / (|q| |k|)", declare_cosine,     project_keys_cosine,   scores_cosine)         \
    ROW(distance,   "-|q - k|^2 / 2",      declare_distance,   project_keys_distance, scores_distance)       \
    ROW(location,   "(W q)[position of k]", declare_location,  project_keys_location, scores_location)       \
    ROW(concat,     "v . tanh(W [q; k])",  declare_concat,     project_keys,          scores_additive)       \
    ROW(bare_cosine, "q . k / (|q| |k|)",  declare_scaled_dot, project_keys_cosine,   scores_cosine)         \
    ROW(sum,        "sum of q + k",        declare_scaled_dot, project_keys,          scores_sum)            \
    ROW(none,       "0",                   declare_nothing,    project_keys,          scores_none)
/* clang-format on */

#define SCORE_ROW(name, ...)  {#name, __VA_ARGS__},
#define SCORE_NAME(name, ...) "|" #name
const AttentionScore ATTENTION_SCORES[] = {SCORE_TABLE(SCORE_ROW)};
const int ATTENTION_SCORE_COUNT = sizeof ATTENTION_SCORES / sizeof *ATTENTION_SCORES;
const char ATTENTION_NAMES[] = SCORE_TABLE(SCORE_NAME);

int attention_score_named(const char *name) {
    int score = 0;
    while (strcmp(ATTENTION_SCORES[score].name, name) != 0) score++;
    return score;
}
