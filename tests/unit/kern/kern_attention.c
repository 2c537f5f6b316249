/* kern_attention.c - the inner loops of attention in every instruction set against plain loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "unit/kern_tables.h"

enum { ROWS = 3 };
enum { MOST = 40, WIDEST = 300 }; /* keys, and numbers of each, further down */
static double want[MOST * WIDEST], want2[ROWS * KERN_LONGEST], want3[ROWS * KERN_LONGEST];

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

/* ---- queries that share keys: the memory between vectors is NaN and must not change ---- */

enum { GAP = 3, QUERIES = 5 };
static const int COUNTS[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, MOST};
enum { COUNT_COUNT = sizeof COUNTS / sizeof *COUNTS };

static Line apart(int rows, size_t n, uint64_t seed) {
    Line line = line_new((size_t)rows * (n + GAP), seed, 1);
    for (size_t r = 0; r < (size_t)rows; r++)
        for (size_t i = n; i < n + GAP; i++) line.at[r * (n + GAP) + i] = (real)NAN;
    return line;
}

/* Queries of S keys or fewer, in no order; one has none. */
typedef struct {
    const Kernels *k;
    size_t n;
    int length[QUERIES], start[QUERIES + 1];
    AttendedKeys at;
    Line rows, keys, scores; /* of the queries; of the keys; one for each key of each query */
} Attended;

static Attended attended_new(const Kernels *k, size_t n, int S) {
    Attended a = {.k = k, .n = n, .length = {S, (S + 1) / 2, S > 1 ? S - 1 : 1, 0, S}};
    for (int r = 0; r < QUERIES; r++) a.start[r + 1] = a.start[r] + a.length[r];
    a.rows = apart(QUERIES, n, 1), a.keys = apart(S, n, 2),
    a.scores = line_new((size_t)a.start[QUERIES], 3, 1);
    a.at = (AttendedKeys){.rows = QUERIES, .size = (int)n, .stride = n + GAP};
    return a;
}
static void attended_free(Attended *a) { line_free(&a->rows), line_free(&a->keys), line_free(&a->scores); }

/* Compares the numbers within `error`; NaN must be in the same positions. */
static void check_rows(const Attended *a, const Line *got, const double *expected, double error) {
    for (size_t at = 0; at < got->n; at++) {
        size_t row = at / (a->n + GAP), i = at % (a->n + GAP);
        if (i >= a->n)
            assert_true(isnan(got->at[at]));
        else
            assert_true(fabs((double)got->at[at] - expected[row * a->n + i]) <= error);
    }
}

/* For every table, width and number of keys. */
static void each_count(void (*test)(Attended *a), const Kernels *k, size_t n) {
    if (n > WIDEST) return;
    for (int i = 0; i < COUNT_COUNT; i++) {
        Attended a = attended_new(k, n, COUNTS[i]);
        a.at.length = a.length;
        test(&a);
        attended_free(&a);
    }
}

static AttendedKeys one_query(const Attended *a, const int *length) {
    AttendedKeys one = a->at;
    one.rows = 1, one.length = length;
    return one;
}

static void dots_of(Attended *a) {
    size_t stride = a->at.stride;
    for (int r = 0; r < QUERIES; r++)
        for (int s = 0; s < a->length[r]; s++) {
            double sum = 0;
            for (size_t i = 0; i < a->n; i++)
                sum +=
                    (double)a->rows.at[(size_t)r * stride + i] * (double)a->keys.at[(size_t)s * stride + i];
            want[a->start[r] + s] = (double)a->scores.at[a->start[r] + s] - 0.75 * sum;
        }
    Line alone = line_copy(&a->scores);
    a->k->dots(&a->at, a->rows.at, a->keys.at, (real)-0.75, a->scores.at);
    line_check("dots", &a->scores, want, 1e-6 + 1e-7 * (double)a->n);
    const int single = 1;
    AttendedKeys one = one_query(a, &single);
    for (int r = 0; r < QUERIES; r++)
        for (int s = 0; s < a->length[r]; s++) /* each query and key alone give the same bits */
            a->k->dots(&one, a->rows.at + (size_t)r * stride, a->keys.at + (size_t)s * stride, (real)-0.75,
                       alone.at + a->start[r] + s);
    assert_memory_equal(alone.at, a->scores.at, a->scores.n * sizeof(real));
    line_free(&alone);
}
static void dots(const Kernels *k, size_t n) { each_count(dots_of, k, n); }
static void test_dots(void **state) {
    (void)state;
    kern_each(dots);
}

static void weighted_sum_of(Attended *a) {
    size_t stride = a->at.stride;
    for (size_t r = 0; r < QUERIES; r++)
        for (size_t i = 0; i < a->n; i++) {
            double *sum = &want[r * a->n + i];
            *sum = (double)a->rows.at[r * stride + i];
            for (int s = 0; s < a->length[r]; s++)
                *sum += (double)a->scores.at[a->start[r] + s] * (double)a->keys.at[(size_t)s * stride + i];
        }
    Line alone = line_copy(&a->rows);
    a->k->weighted_sum(&a->at, a->scores.at, a->keys.at, a->rows.at);
    check_rows(a, &a->rows, want, 4e-6);
    for (int r = 0; r < QUERIES; r++) { /* each query alone gives the same bits */
        AttendedKeys one = one_query(a, &a->length[r]);
        a->k->weighted_sum(&one, a->scores.at + a->start[r], a->keys.at, alone.at + (size_t)r * stride);
    }
    assert_memory_equal(alone.at, a->rows.at, a->rows.n * sizeof(real));
    line_free(&alone);
}
static void weighted_sum(const Kernels *k, size_t n) { each_count(weighted_sum_of, k, n); }
static void test_weighted_sum(void **state) {
    (void)state;
    kern_each(weighted_sum);
}

static void outer_add_of(Attended *a) {
    size_t stride = a->at.stride;
    for (size_t s = 0; s < a->keys.n / stride; s++)
        for (size_t i = 0; i < a->n; i++) {
            double *sum = &want[s * a->n + i];
            *sum = (double)a->keys.at[s * stride + i];
            for (size_t r = 0; r < QUERIES; r++)
                if ((int)s < a->length[r])
                    *sum += (double)a->scores.at[a->start[r] + (int)s] * (double)a->rows.at[r * stride + i];
        }
    Line alone = line_copy(&a->keys);
    a->k->outer_add(&a->at, a->scores.at, a->rows.at, a->keys.at);
    check_rows(a, &a->keys, want, 1e-6);
    for (int r = 0; r < QUERIES; r++) { /* one query after the other gives the same bits */
        AttendedKeys one = one_query(a, &a->length[r]);
        a->k->outer_add(&one, a->scores.at + a->start[r], a->rows.at + (size_t)r * stride, alone.at);
    }
    assert_memory_equal(alone.at, a->keys.at, a->keys.n * sizeof(real));
    line_free(&alone);
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
