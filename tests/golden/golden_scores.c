/* golden_scores.c - attention with each score of the table: weights, context and gradients.
 *
 * PyTorch keeps most weights as [outputs, inputs], ours are [inputs, outputs]. Its keys and values are
 * different tensors here, so the keys are projected first and the values put beside them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/mem.h"
#include "golden/golden_cases.h"
#include "golden/golden_spans.h"
#include "layers/attention.h"

typedef struct {
    const char *param, *field;
    bool transposed;
} Weight;
enum { MAX_WEIGHTS = 3 };

#define ADDITIVE_WEIGHTS                                                                                     \
    {                                                                                                        \
        {"attention.query.weight", "W_q", true}, {"attention.key.weight", "W_k", true}, {                    \
            "attention.v", "w_v", false                                                                      \
        }                                                                                                    \
    }
static const struct {
    const char *score, *file, *name;
    Weight weights[MAX_WEIGHTS];
} CASES[] = {
    {"additive", "additive_attention", "chapter_shapes", ADDITIVE_WEIGHTS},
    {"additive", "additive_attention", "three_queries_2d_lens", ADDITIVE_WEIGHTS},
    /* The halves of one matrix: W [q; k] = W_q q + W_k k. */
    {"concat", "additive_attention", "chapter_shapes", ADDITIVE_WEIGHTS},
    {"concat", "additive_attention", "three_queries_2d_lens", ADDITIVE_WEIGHTS},
    {"scaled_dot", "scaled_dot_product_attention", "chapter_shapes", {{0}}},
    {"scaled_dot", "scaled_dot_product_attention", "three_queries", {{0}}},
    {"dot", "scores", "dot", {{0}}},
    {"general", "scores", "general", {{"attention.key.weight", "W", false}}},
    {"cosine", "scores", "cosine", {{"attention.sharpness", "beta", false}}},
    {"distance", "scores", "gaussian", {{0}}},
    {"location", "scores", "location", {{"attention.query.weight", "W", true}}},
    {"bare_cosine", "context_scores", "bare_cosine", {{0}}},
    {"sum", "context_scores", "sum", {{0}}},
};

static int score_row(const char *name) {
    for (int i = 0; i < ATTENTION_SCORE_COUNT; i++)
        if (strcmp(ATTENTION_SCORES[i].name, name) == 0) return i;
    fail_msg("no score '%s'", name);
    return -1;
}

/* The field in the order of the parameter's numbers. */
static Field in_our_order(Reference *reference, const char *section, const Weight *w, const Param *p) {
    assert_non_null(p);
    Field field = reference_field(reference, section, w->field);
    return w->transposed ? reference_transposed(reference, &field, 0, p->rows, p->columns) : field;
}

static Attention read_attention(Reference *reference, ParamSet *params, const char *score,
                                const Weight *weights, int keys) {
    Field queries = reference_field(reference, "in", "queries");
    bool looks = reference_has(reference, "in", "keys"), hidden = reference_has(reference, "in", "w_v");
    Field values = reference_field(reference, "in", looks ? "keys" : "values");
    int inner = hidden ? (int)reference_field(reference, "in", "w_v").count : 1;
    AttentionSizes sizes = {queries.shape[2], values.shape[2], inner, keys};
    Attention attention = attention_new(params, "attention", score_row(score), sizes);
    params_allocate(params);
    int count = 0;
    for (; count < MAX_WEIGHTS && weights[count].param; count++) {
        const Param *p = params_find(params, weights[count].param);
        Field ours = in_our_order(reference, "in", &weights[count], p);
        reference_copy(&ours, param_data(params, p), (size_t)p->rows * (size_t)p->columns);
    }
    assert_int_equal(params->count, count);
    return attention;
}

static void check_inside(Reference *reference, const char *name, const Spans *spans, const Tensor *actual,
                         Outside outside) {
    Field expected = golden_inside(reference, "out", name, spans, 1, outside);
    reference_check(&expected, actual->data, tensor_size(actual), REFERENCE_NINE_DIGITS);
}

static void check_case(int i) {
    Reference *reference = reference_open(CASES[i].file, CASES[i].name);
    const Weight *wanted = CASES[i].weights;
    Field scores = reference_field(reference, "out", "scores");
    ParamSet *params = params_new();
    Attention attention = read_attention(reference, params, CASES[i].score, wanted, scores.shape[2]);
    Tape *tape = tape_new(params, true);
    tape->grads = params_block(params);
    Tensor *query = golden_input(reference, tape, "queries"), *keys = NULL,
           *values = golden_input(reference, tape, "values");
    if (reference_has(reference, "in", "keys")) keys = golden_input(reference, tape, "keys");
    Spans *spans = golden_spans(reference, tape, scores.shape[0], scores.shape[1], scores.shape[2]);
    KeysValues kv = attention_project_keys(tape, &attention, keys ? keys : values);
    kv.values = values;
    check_inside(reference, "scores", spans, attention.score->scores(tape, &attention, query, &kv, spans),
                 ANYTHING_OUTSIDE);
    Tensor *weights = attention_weights(tape, &attention, query, &kv, spans);
    Tensor *y = attention_context(tape, weights, &kv, spans, (AttentionDropout){.p = 0});
    check_inside(reference, "weights", spans, weights, ZERO_OUTSIDE);
    golden_output(reference, y);
    tape_backward(tape);
    golden_gradient(reference, "queries", query);
    golden_gradient(reference, "values", values);
    if (keys) golden_gradient(reference, "keys", keys);
    for (int w = 0; w < MAX_WEIGHTS && wanted[w].param; w++) {
        const Param *p = params_find(params, wanted[w].param);
        Field expected = in_our_order(reference, "grad", &wanted[w], p);
        reference_check(&expected, tape->grads + p->offset, (size_t)p->rows * (size_t)p->columns,
                        REFERENCE_NINE_DIGITS);
    }
    mem_free(tape->grads);
    tape_free(tape);
    params_free(params);
    reference_close(reference);
}

void golden_scores(void **state) {
    (void)state;
    for (int i = 0; i < (int)(sizeof CASES / sizeof *CASES); i++) check_case(i);
}
