/* op_attention.c - scores, weights and context over spans against plain sums; rows do not affect each
 * other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "unit/tape_fixture.h"

enum { ROWS = 4, KEYS = 30, HEADS = 2, SIZE = 19, WIDTH = HEADS * SIZE };
static const int FIRST[ROWS] = {2, 0, 29, 5}, LENGTH[ROWS] = {3, 21, 0, 17};

static const Param *sharpness;
static const Spans *spans;

static int set_up(void **state) {
    (void)state;
    params = params_new();
    sharpness = params_add(params, "sharpness", 1, 1, INIT_CONSTANT, 1.5, PANELS_NONE);
    tape_set_up();
    spans = spans_new(tape, FIRST, LENGTH, ROWS);
    return 0;
}

static void spoil(Tensor *x, int row) { memset(tensor_row(x, row), 0xFF, (size_t)x->columns * sizeof(real)); }

/* The number of key i of a row in scores or weights. */
static double at(const Tensor *x, const Spans *s, int head, int row, int i) {
    return (double)tensor_row(x, head)[s->start[row] + i];
}
static void assert_near(double a, double b) {
    if (!(fabs(a - b) <= 2e-6 * fmax(1, fabs(b)))) fail_msg("%.9g is not %.9g", a, b);
}

static void test_spans(void **state) {
    (void)state;
    assert_int_equal(spans->rows, ROWS);
    assert_int_equal(spans->total, 3 + 21 + 0 + 17);
    for (int r = 0, start = 0; r < ROWS; start += LENGTH[r++]) {
        assert_int_equal(spans->first[r], FIRST[r]);
        assert_int_equal(spans->length[r], LENGTH[r]);
        assert_int_equal(spans->start[r], start);
    }
}

/* With and without sharpness, with and without biases. */
static void test_score_dot(void **state) {
    (void)state;
    Tensor *query = numbers(ROWS, WIDTH, 1), *keys = numbers(KEYS, WIDTH, 2), *qb = numbers(ROWS, 1, 3),
           *kb = numbers(KEYS, 1, 4);
    spoil(query, 2); /* this row has no keys */
    spoil(keys, 29); /* no query attends to this one */
    for (int variant = 0; variant < 8; variant++) {
        DotScore form = {HEADS, (real)-0.5, variant & 1 ? sharpness : NULL, variant & 2 ? qb : NULL,
                         variant & 4 ? kb : NULL};
        Tensor *scores = op_score_dot(tape, query, keys, &form, spans);
        assert_int_equal(scores->rows, HEADS);
        assert_int_equal(scores->columns, spans->total);
        for (int h = 0; h < HEADS; h++)
            for (int r = 0; r < ROWS; r++)
                for (int i = 0; i < LENGTH[r]; i++) {
                    double sum = 0;
                    for (int c = h * SIZE; c < (h + 1) * SIZE; c++)
                        sum += (double)tensor_row(query, r)[c] * (double)tensor_row(keys, FIRST[r] + i)[c];
                    sum *= variant & 1 ? -0.5 * 1.5 : -0.5;
                    if (variant & 2) sum += (double)qb->data[r];
                    if (variant & 4) sum += (double)kb->data[FIRST[r] + i];
                    assert_near(at(scores, spans, h, r, i), sum);
                }
    }
}

static void test_score_position(void **state) {
    (void)state;
    enum { COLUMNS = 6 };
    static const int ORIGIN[ROWS] = {1, 8, 0, -4};
    Tensor *table = numbers(ROWS * HEADS, COLUMNS, 1);
    for (int with = 0; with < 2; with++) {
        Tensor *scores = op_score_position(tape, table, HEADS, with ? ORIGIN : NULL, spans);
        for (int h = 0; h < HEADS; h++)
            for (int r = 0; r < ROWS; r++)
                for (int i = 0; i < LENGTH[r]; i++) {
                    int place = with ? i - ORIGIN[r] : i;
                    int column = place < 0 ? 0 : place > COLUMNS - 1 ? COLUMNS - 1 : place;
                    assert_true(at(scores, spans, h, r, i) ==
                                (double)tensor_row(table, r * HEADS + h)[column]);
                }
    }
}

static void test_weights_and_context(void **state) {
    (void)state;
    Tensor *scores = numbers(HEADS, spans->total, 4), *values = numbers(KEYS, WIDTH, 5);
    spoil(values, 29);
    Tensor *weights = op_masked_softmax(tape, scores, spans),
           *context = op_context(tape, weights, values, spans);
    assert_int_equal(weights->rows, HEADS);
    for (int h = 0; h < HEADS; h++)
        for (int r = 0; r < ROWS; r++) {
            double total = 0;
            for (int i = 0; i < LENGTH[r]; i++) total += exp(at(scores, spans, h, r, i));
            for (int i = 0; i < LENGTH[r]; i++)
                assert_near(at(weights, spans, h, r, i), exp(at(scores, spans, h, r, i)) / total);
            for (int c = h * SIZE; c < (h + 1) * SIZE; c++) {
                double expected = 0;
                for (int i = 0; i < LENGTH[r]; i++)
                    expected +=
                        exp(at(scores, spans, h, r, i)) / total * (double)tensor_row(values, FIRST[r] + i)[c];
                assert_near((double)tensor_row(context, r)[c], expected);
                if (!LENGTH[r]) assert_true(tensor_row(context, r)[c] == 0);
            }
        }
}

/* The context of the rows from `from` on; the keys are shifted by `shift` rows. */
static Tensor *attend(const Tensor *query, const Tensor *keys, int from, int rows, int shift) {
    static const uint32_t ROW_KEYS[ROWS] = {4, 4, 1, 9};
    int first[ROWS];
    for (int r = 0; r < rows; r++) first[r] = FIRST[from + r] - shift;
    const Spans *s = spans_new(tape, first, LENGTH + from, rows);
    Tensor *q = tape_rows(tape, query, from, rows), *k = tape_rows(tape, keys, shift, KEYS - shift);
    Tensor *bias = op_half_square(tape, k);
    DotScore form = {HEADS, 2, sharpness, op_half_square(tape, q), bias};
    Tensor *table = tape_reshape(tape, q, HEADS * rows, SIZE);
    Tensor *scores = op_add(tape, op_score_dot(tape, op_unit_rows(tape, q), k, &form, s),
                            op_score_position(tape, table, HEADS, NULL, s));
    Tensor *weights = op_masked_softmax(tape, scores, s);
    return op_context(tape, op_dropout_weights(tape, weights, 0.3, 1, ROW_KEYS + from, s), k, s);
}

/* The same bits for a row alone and in a batch, and at any address of the keys. */
static void test_rows_are_independent(void **state) {
    (void)state;
    tape->training = true;
    Tensor *query = numbers(ROWS, WIDTH, 1), *keys = numbers(KEYS, WIDTH, 2);
    Tensor *all = attend(query, keys, 0, ROWS, 0);
    for (int r = 0; r < ROWS; r++) {
        Tensor *alone = attend(query, keys, r, 1, FIRST[r]), *pair = attend(query, keys, r / 2 * 2, 2, 0);
        assert_memory_equal(tensor_row(alone, 0), tensor_row(all, r), WIDTH * sizeof(real));
        assert_memory_equal(tensor_row(pair, r % 2), tensor_row(all, r), WIDTH * sizeof(real));
    }
    tape->training = false;
}

/* All spans are empty: the context is 0, and no key or value is read. */
static void test_nothing(void **state) {
    (void)state;
    static const int ZERO[ROWS] = {0};
    const Spans *none = spans_new(tape, ZERO, ZERO, ROWS);
    Tensor *query = numbers(ROWS, WIDTH, 1), *keys = numbers(0, WIDTH, 2);
    Tensor *scores = op_score_dot(tape, query, keys, &(DotScore){.heads = HEADS, .scale = 1}, none);
    Tensor *context = op_context(tape, op_masked_softmax(tape, scores, none), keys, none);
    assert_int_equal(tensor_size(scores), 0);
    assert_int_equal(tensor_size(context), ROWS * WIDTH);
    for (size_t i = 0; i < tensor_size(context); i++) assert_true(context->data[i] == 0);
}

/* ---- dropout of weights: nothing but 0 and 1 / (1 - p) ---- */

static Tensor *masks(const Spans *s, double p, uint32_t stream, const uint32_t *row_keys) {
    Tensor *ones = tape_tensor(tape, HEADS, s->total);
    for (size_t i = 0; i < tensor_size(ones); i++) ones->data[i] = 1;
    return op_dropout_weights(tape, ones, p, stream, row_keys, s);
}
static bool same_masks(const Tensor *a, int head_a, int from_a, const Tensor *b, int head_b, int from_b,
                       int n) {
    return !memcmp(tensor_row(a, head_a) + from_a, tensor_row(b, head_b) + from_b, (size_t)n * sizeof(real));
}

static void test_dropout_of_weights(void **state) {
    (void)state;
    enum { LONG = 60, SHORT = 25 };
    static const int FROM[] = {0, 3, 0}, LENGTHS[] = {LONG, SHORT, LONG}, REVERSED_LENGTHS[] = {SHORT, LONG};
    static const uint32_t ROW_KEYS[] = {5, 5, 9}, REVERSED[] = {9, 5};
    const Spans *s = spans_new(tape, FROM, LENGTHS, 3),
                *reversed = spans_new(tape, FROM, REVERSED_LENGTHS, 2);
    tape->training = true;
    tape->dropout_key = 3;
    Tensor *a = masks(s, 0.5, 1, ROW_KEYS), *b = masks(reversed, 0.5, 1, REVERSED),
           *other_site = masks(s, 0.5, 2, ROW_KEYS);
    for (size_t i = 0; i < tensor_size(a); i++) assert_true(a->data[i] == 0 || a->data[i] == 2);
    for (int h = 0; h < HEADS; h++) {
        assert_true(same_masks(a, h, 0, a, h, LONG, SHORT)); /* the same mask at any length */
        assert_true(same_masks(a, h, 0, b, h, SHORT, LONG)); /* in any row */
        assert_true(same_masks(a, h, LONG + SHORT, b, h, 0, SHORT));
        assert_false(same_masks(a, h, 0, a, h, LONG + SHORT, LONG));
        assert_false(same_masks(a, h, 0, other_site, h, 0, LONG));
    }
    assert_false(same_masks(a, 0, 0, a, 1, 0, LONG));
    static const uint32_t ONE_KEY[] = {5, 5, 5}; /* masks of weights differ from masks of rows */
    Tensor *ones = tape_tensor(tape, 1, LONG);
    for (int i = 0; i < LONG; i++) ones->data[i] = 1;
    assert_false(same_masks(a, 0, 0, op_dropout(tape, ones, 0.5, 1, ONE_KEY), 0, 0, LONG));
    tape->dropout_key = 4;
    assert_false(same_masks(a, 0, 0, masks(s, 0.5, 1, ROW_KEYS), 0, 0, LONG));

    Tensor *x = numbers(HEADS, s->total, 1);
    assert_ptr_equal(op_dropout_weights(tape, x, 0, 1, ROW_KEYS, s), x);
    tape->training = false;
    assert_ptr_equal(op_dropout_weights(tape, x, 0.5, 1, ROW_KEYS, s), x);
}

/* The rate of dropped weights is p, and the sum stays about the same. */
static void test_rate_of_dropout(void **state) {
    (void)state;
    enum { MANY = 20000 };
    static const int FROM[] = {0}, LENGTHS[] = {MANY};
    static const uint32_t ROW_KEYS[] = {5};
    tape->training = true;
    const Tensor *a = masks(spans_new(tape, FROM, LENGTHS, 1), 0.2, 1, ROW_KEYS);
    tape->training = false;
    for (int h = 0; h < HEADS; h++) {
        double sum = 0;
        int zeros = 0;
        for (int i = 0; i < MANY; i++) sum += (double)tensor_row(a, h)[i], zeros += tensor_row(a, h)[i] == 0;
        assert_true(fabs(zeros / (double)MANY - 0.2) <= 0.02);
        assert_true(fabs(sum / MANY - 1) <= 0.02);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_score_dot),
        cmocka_unit_test(test_score_position),
        cmocka_unit_test(test_weights_and_context),
        cmocka_unit_test(test_rows_are_independent),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_dropout_of_weights),
        cmocka_unit_test(test_rate_of_dropout),
    };
    return cmocka_run_group_tests(tests, set_up, tape_tear_down);
}
