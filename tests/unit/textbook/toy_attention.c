/* toy_attention.c - the toy computation against the formulas of the scores that have no parameters to
 * learn. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "textbook/toy_attention.h"
#include "kern/kern.h"

enum { QUERIES = 2 };
static const DemoLengths LENGTHS = {.batch = QUERIES, .queries = 1, .row = {2, 6}};

static double dot(const real *q, const real *k) {
    return (double)q[0] * (double)k[0] + (double)q[1] * (double)k[1];
}
static double scaled_dot(const real *q, const real *k) { return dot(q, k) / sqrt(2); }
static double distance(const real *q, const real *k) {
    double x = (double)q[0] - (double)k[0], y = (double)q[1] - (double)k[1];
    return -(x * x + y * y) / 2;
}

static int score_named(const char *name) {
    for (int i = 0; i < ATTENTION_SCORE_COUNT; i++)
        if (strcmp(ATTENTION_SCORES[i].name, name) == 0) return i;
    fail_msg("no score '%s'", name);
    return -1;
}

static void check(double actual, double expected, const char *what, int query, int i) {
    if (!(fabs(actual - expected) <= 1e-4 * fabs(expected) + 1e-6))
        fail_msg("%s of query %d, number %d: %g instead of %g", what, query, i, actual, expected);
}

static void check_formula(const char *name, double (*formula)(const real *q, const real *k), bool equal) {
    ToyAttention toy;
    toy_attention_run(score_named(name), &LENGTHS, equal, 3, &toy, NULL);
    assert_int_equal(toy.query_size, TOY_KEY_SIZE);
    assert_true(toy.sees_keys);
    for (int q = 0; q < QUERIES; q++) {
        double fraction[TOY_KEYS] = {0}, sum = 0, context[TOY_VALUE_SIZE] = {0};
        for (int k = 0; k < LENGTHS.row[q]; k++)
            sum += fraction[k] = exp(formula(toy.queries + q * TOY_KEY_SIZE, toy.keys[q][k]));
        for (int k = 0; k < TOY_KEYS; k++) {
            check((double)toy.weights[q][k], fraction[k] / sum, name, q, k);
            if (k >= LENGTHS.row[q]) assert_true(toy.weights[q][k] == 0);
            for (int i = 0; i < TOY_VALUE_SIZE; i++) context[i] += fraction[k] / sum * (4 * k + i);
        }
        for (int i = 0; i < TOY_VALUE_SIZE; i++)
            check((double)toy.contexts[q][i], context[i], "context", q, i);
    }
}

static void test_toy_formulas(void **state) {
    (void)state;
    for (int equal = 0; equal < 2; equal++) {
        check_formula("dot", dot, equal);
        check_formula("scaled_dot", scaled_dot, equal);
        check_formula("distance", distance, equal);
    }
}

/* The two queries have different keys, or the same; the numbers depend on the seed. */
static void test_toy_keys(void **state) {
    (void)state;
    ToyAttention equal, random, other;
    int score = score_named("dot");
    toy_attention_run(score, &LENGTHS, true, 1, &equal, NULL);
    toy_attention_run(score, &LENGTHS, false, 1, &random, NULL);
    toy_attention_run(score, &LENGTHS, false, 2, &other, NULL);
    const real *keys = &random.keys[0][0][0];
    double sum = 0, squares = 0;
    enum { N = QUERIES * TOY_KEYS * TOY_KEY_SIZE };
    for (int i = 0; i < N; i++) {
        assert_true((&equal.keys[0][0][0])[i] == 1);
        for (int k = 0; k < i; k++) assert_true(keys[i] != keys[k]);
        sum += (double)keys[i];
        squares += (double)keys[i] * (double)keys[i];
    }
    assert_true(fabs(sum / N) < 0.5 && squares / N > 0.5 && squares / N < 2);
    assert_memory_equal(equal.queries, random.queries, sizeof equal.queries);
    assert_memory_not_equal(random.keys, other.keys, sizeof(real[QUERIES][TOY_KEYS][TOY_KEY_SIZE]));
    assert_memory_not_equal(random.queries, other.queries, sizeof(real[QUERIES][TOY_KEY_SIZE]));
}

/* Queries have the length of the keys only if the score compares them component by component. */
static void test_toy_sizes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int query_size;
        bool sees_keys;
    } cases[] = {{"additive", 20, true},
                 {"concat", 20, true},
                 {"general", 20, true},
                 {"location", 20, false},
                 {"cosine", 2, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ToyAttention toy;
        toy_attention_run(score_named(cases[i].name), &LENGTHS, false, 1, &toy, NULL);
        assert_int_equal(toy.query_size, cases[i].query_size);
        assert_int_equal(toy.sees_keys, cases[i].sees_keys);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_toy_formulas),
        cmocka_unit_test(test_toy_keys),
        cmocka_unit_test(test_toy_sizes),
    };
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
