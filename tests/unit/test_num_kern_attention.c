/* test_num_kern_attention.c - the inner loops of attention in every instruction set against plain loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "kern_tables.h"

enum { ROWS = 3 };
static double want[ROWS * KERN_LONGEST], want2[ROWS * KERN_LONGEST], want3[ROWS * KERN_LONGEST];

static void additive(const Kernels *k, size_t n) {
    Line q = line_new(n, 1, 2), keys = line_new(ROWS * n, 2, 2), v = line_new(n, 3, 1),
         scores = line_new(ROWS, 4, 1);
    Line ds = line_new(ROWS, 5, 1), dq = line_new(n, 6, 1), dkeys = line_new(ROWS * n, 7, 1),
         dv = line_new(n, 8, 1);
    double want_scores[ROWS] = {0}, *want_dkeys = want, *want_dq = want2, *want_dv = want3;
    for (size_t i = 0; i < n; i++) want_dq[i] = (double)dq.at[i], want_dv[i] = (double)dv.at[i];
    for (size_t s = 0; s < ROWS; s++)
        for (size_t i = 0; i < n; i++) {
            double t = tanh((double)q.at[i] + (double)keys.at[s * n + i]);
            double g = (double)ds.at[s] * (double)v.at[i] * (1 - t * t);
            want_scores[s] += (double)v.at[i] * t;
            want_dkeys[s * n + i] = (double)dkeys.at[s * n + i] + g;
            want_dq[i] += g;
            want_dv[i] += (double)ds.at[s] * t;
        }
    k->additive_forward(ROWS, (int)n, q.at, keys.at, v.at, scores.at);
    line_check("additive_forward", &scores, want_scores, 1e-5);
    k->additive_backward(ROWS, (int)n, q.at, keys.at, v.at, ds.at, dq.at, dkeys.at, dv.at);
    line_check("additive_backward, dq", &dq, want_dq, 2e-6);
    line_check("additive_backward, dkeys", &dkeys, want_dkeys, 2e-6);
    line_check("additive_backward, dv", &dv, want_dv, 2e-6);
    line_free(&q), line_free(&keys), line_free(&v), line_free(&scores);
    line_free(&ds), line_free(&dq), line_free(&dkeys), line_free(&dv);
}
static void test_additive(void **state) {
    (void)state;
    kern_each(additive);
}

static void softmax_backward(const Kernels *k, size_t n) {
    Line y = line_new(n, 1, 3), dy = line_new(n, 2, 2), dx = line_new(n, 3, 1);
    k->softmax(n, y.at);
    double mean = 0;
    for (size_t i = 0; i < n; i++) mean += (double)y.at[i] * (double)dy.at[i];
    for (size_t i = 0; i < n; i++) want[i] = (double)dx.at[i] + (double)y.at[i] * ((double)dy.at[i] - mean);
    k->softmax_backward(n, y.at, dy.at, dx.at);
    line_check("softmax_backward", &dx, want, 1e-6);
    line_free(&y), line_free(&dy), line_free(&dx);
}
static void test_softmax_backward(void **state) {
    (void)state;
    kern_each(softmax_backward);
}

/* ---- rows that lie apart: what is between them is not a number, and stays what it is ---- */

enum { GAP = 3, MOST = 40 };
static const int COUNTS[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, MOST};
enum { COUNT_COUNT = sizeof COUNTS / sizeof *COUNTS };

static Line apart(int rows, size_t n, uint64_t seed) {
    Line line = line_new((size_t)rows * (n + GAP), seed, 1);
    for (size_t r = 0; r < (size_t)rows; r++)
        for (size_t i = n; i < n + GAP; i++) line.at[r * (n + GAP) + i] = (real)NAN;
    return line;
}

/* For every table, width and number of rows. */
static void each_count(void (*test)(const Kernels *k, size_t n, int S), const Kernels *k, size_t n) {
    if (n > 300) return;
    for (int i = 0; i < COUNT_COUNT; i++) test(k, n, COUNTS[i]);
}

static void dots_of(const Kernels *k, size_t n, int S) {
    Line q = line_new(n, 1, 1), keys = apart(S, n, 2), out = line_new((size_t)S, 3, 1);
    size_t stride = n + GAP;
    for (int s = 0; s < S; s++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += (double)q.at[i] * (double)keys.at[(size_t)s * stride + i];
        want[s] = (double)out.at[s] - 0.75 * sum;
    }
    Line before = line_copy(&out);
    k->dots(S, (int)n, stride, q.at, keys.at, (real)-0.75, out.at);
    line_check("dots", &out, want, 1e-6 + 1e-7 * (double)n);
    for (int s = 0; s < S; s++) { /* each key alone gives the same bits */
        k->dots(1, (int)n, stride, q.at, keys.at + (size_t)s * stride, (real)-0.75, before.at + s);
        assert_memory_equal(before.at + s, out.at + s, sizeof(real));
    }
    k->dots(0, (int)n, stride, q.at, keys.at, 1, out.at);
    assert_memory_equal(before.at, out.at, (size_t)S * sizeof(real));
    line_free(&q), line_free(&keys), line_free(&out), line_free(&before);
}
static void dots(const Kernels *k, size_t n) { each_count(dots_of, k, n); }
static void test_dots(void **state) {
    (void)state;
    kern_each(dots);
}

static void weighted_sum_of(const Kernels *k, size_t n, int S) {
    Line w = line_new((size_t)S, 1, 1), values = apart(S, n, 2), y = line_new(n, 3, 1);
    for (size_t i = 0; i < n; i++) {
        want[i] = (double)y.at[i];
        for (int s = 0; s < S; s++) want[i] += (double)w.at[s] * (double)values.at[(size_t)s * (n + GAP) + i];
    }
    k->weighted_sum(S, (int)n, n + GAP, w.at, values.at, y.at);
    line_check("weighted_sum", &y, want, 2e-6);
    line_free(&w), line_free(&values), line_free(&y);
}
static void weighted_sum(const Kernels *k, size_t n) { each_count(weighted_sum_of, k, n); }
static void test_weighted_sum(void **state) {
    (void)state;
    kern_each(weighted_sum);
}

static void outer_add_of(const Kernels *k, size_t n, int S) {
    Line w = line_new((size_t)S, 1, 1), y = line_new(n, 2, 1), rows = apart(S, n, 3);
    Line before = line_copy(&rows);
    k->outer_add(S, (int)n, n + GAP, w.at, y.at, rows.at);
    for (size_t at = 0; at < rows.n; at++) {
        size_t s = at / (n + GAP), i = at % (n + GAP);
        if (i >= n) {
            assert_true(isnan(rows.at[at]));
            continue;
        }
        double expected = (double)before.at[at] + (double)w.at[s] * (double)y.at[i];
        assert_true(fabs((double)rows.at[at] - expected) <= 2e-7);
    }
    line_free(&w), line_free(&y), line_free(&rows), line_free(&before);
}
static void outer_add(const Kernels *k, size_t n) { each_count(outer_add_of, k, n); }
static void test_outer_add(void **state) {
    (void)state;
    kern_each(outer_add);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_additive),  cmocka_unit_test(test_softmax_backward),
        cmocka_unit_test(test_dots),      cmocka_unit_test(test_weighted_sum),
        cmocka_unit_test(test_outer_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
