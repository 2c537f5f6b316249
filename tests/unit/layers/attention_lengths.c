/* attention_lengths.c - attention with every score under one length per sentence and one length per
 * query, including 0: keys beyond a length have no weight, no effect and no gradient.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "layers/attention.h"
#include "kern/kern.h"

/* Two sentences of four and three keys, two queries each. */
enum { ROWS = 4, KEYS = 7, QUERY = 3, VALUE = 5, HIDDEN = 4, POSITIONS = 3 };
static const int FIRST[ROWS] = {0, 0, 4, 4};
static const int BY_SENTENCE[][ROWS] = {{4, 4, 3, 3}, {3, 3, 0, 0}, {0, 0, 1, 1}, {0, 0, 0, 0}};
static const int BY_QUERY[][ROWS] = {{1, 4, 0, 2}, {0, 3, 3, 1}, {2, 0, 0, 0}};

static Tensor *random_tensor(Tape *tape, int rows, int columns, uint64_t seed) {
    Tensor *x = tape_tensor(tape, rows, columns);
    Rng rng = rng_new(seed);
    for (size_t i = 0; i < tensor_size(x); i++) x->data[i] = (real)(2 * rng_uniform(&rng) - 1);
    return x;
}

typedef struct {
    Tape *tape;
    Tensor *query, *values, *context, *weights;
    bool seen[KEYS]; /* does any query attend to this key? */
} Bench;

/* With `spoil`, keys outside all spans are NaN. */
static Bench attend(const ParamSet *params, const Attention *attention, const int *length, bool spoil) {
    Bench b = {.tape = tape_new(params, !spoil)};
    if (!spoil) b.tape->grads = params_block(params);
    b.query = random_tensor(b.tape, ROWS, QUERY, 1);
    b.values = random_tensor(b.tape, KEYS, VALUE, 2);
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < length[r]; i++) b.seen[FIRST[r] + i] = true;
    for (int k = 0; k < KEYS && spoil; k++)
        for (int c = 0; c < VALUE && !b.seen[k]; c++) tensor_row(b.values, k)[c] = (real)NAN;
    KeysValues kv = attention_project_keys(b.tape, attention, b.values);
    Spans *spans = spans_new(b.tape, FIRST, length, ROWS);
    b.weights = attention_weights(b.tape, attention, b.query, &kv, spans);
    b.context = attention_context(b.tape, b.weights, &kv, spans, (AttentionDropout){.p = 0});
    return b;
}

static bool all_zero(const real *x, int count) {
    for (int i = 0; i < count; i++)
        if (!(x[i] == 0)) return false;
    return true;
}

static void check_weights(const Bench *b, const int *length) {
    const real *w = b->weights->data;
    int total = 0;
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        for (int i = 0; i < length[r]; i++, w++) {
            assert_true(*w > 0 && *w <= 1);
            sum += (double)*w;
        }
        if (length[r]) assert_true(fabs(sum - 1) <= 1e-6);
        assert_true(all_zero(tensor_row(b->context, r), VALUE) == !length[r]);
        total += length[r];
    }
    assert_int_equal(b->weights->rows, 1);
    assert_int_equal(b->weights->columns, total);
}

/* These scores do not depend on the query. */
static bool asks_nothing(const AttentionScore *score) {
    return strcmp(score->name, "sum") == 0 || strcmp(score->name, "none") == 0;
}

static void check_gradients(const Bench *b, const ParamSet *params, const Attention *attention,
                            const int *length) {
    Rng rng = rng_new(3);
    bool any = false;
    for (size_t i = 0; i < tensor_size(b->context); i++)
        tensor_gradient(b->context)[i] = (real)(rng_uniform(&rng) + 0.5);
    tape_backward(b->tape);
    for (int r = 0; r < ROWS; r++) { /* a single key has the weight 1 for any query */
        bool zero = all_zero(tensor_gradient(b->query) + r * QUERY, QUERY);
        if (length[r] == 0) assert_true(zero);
        if (length[r] > 1 && !asks_nothing(attention->score)) assert_false(zero);
    }
    for (int k = 0; k < KEYS; k++) {
        assert_true(all_zero(tensor_gradient(b->values) + k * VALUE, VALUE) == !b->seen[k]);
        any |= b->seen[k];
    }
    for (size_t i = 0; i < params->size; i++) {
        assert_true(isfinite((double)b->tape->grads[i]));
        if (!any) assert_true(b->tape->grads[i] == 0);
    }
}

static void check(int score, const int *length) {
    ParamSet *params = params_new();
    Attention attention =
        attention_new(params, "attention", score, (AttentionSizes){QUERY, VALUE, HIDDEN, POSITIONS});
    params_initialize(params, 5);
    Bench b = attend(params, &attention, length, false), spoiled = attend(params, &attention, length, true);
    check_weights(&b, length);
    assert_memory_equal(b.context->data, spoiled.context->data, tensor_size(b.context) * sizeof(real));
    if (b.weights->columns)
        assert_memory_equal(b.weights->data, spoiled.weights->data, tensor_size(b.weights) * sizeof(real));
    check_gradients(&b, params, &attention, length);
    mem_free(b.tape->grads);
    tape_free(b.tape);
    tape_free(spoiled.tape);
    params_free(params);
}

static void test_by_sentence(void **state) {
    (void)state;
    for (int s = 0; s < ATTENTION_SCORE_COUNT; s++)
        for (size_t i = 0; i < sizeof BY_SENTENCE / sizeof *BY_SENTENCE; i++) check(s, BY_SENTENCE[i]);
}

static void test_by_query(void **state) {
    (void)state;
    for (int s = 0; s < ATTENTION_SCORE_COUNT; s++)
        for (size_t i = 0; i < sizeof BY_QUERY / sizeof *BY_QUERY; i++) check(s, BY_QUERY[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_sentence),
        cmocka_unit_test(test_by_query),
    };
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
