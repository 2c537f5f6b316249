/* kern_search.c - searching scores, and attention to gathered rows, in every instruction set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "unit/kern_tables.h"

static void block_maxima(const Kernels *k, size_t n) {
    Line x = line_new(n, 1, 3);
    size_t blocks = (n + KERN_MAXIMA_BLOCK - 1) / KERN_MAXIMA_BLOCK;
    Line maxima = line_new(blocks, 2, 1);
    if (n > 3) x.at[n / 3] = (real)NAN; /* ignored */
    if (n > 70)
        for (size_t i = 0; i < KERN_MAXIMA_BLOCK; i++)
            x.at[i] = (real)NAN; /* nothing in the first block is a number */
    real greatest = k->block_maxima(n, x.at, maxima.at), all = (real)-INFINITY;
    for (size_t b = 0; b < blocks; b++) {
        real max = (real)-INFINITY;
        for (size_t i = b * KERN_MAXIMA_BLOCK; i < n && i < (b + 1) * KERN_MAXIMA_BLOCK; i++)
            if (x.at[i] > max) max = x.at[i];
        assert_true(maxima.at[b] == max);
        all = max > all ? max : all;
    }
    assert_true(greatest == all);
    line_free(&x), line_free(&maxima);
}
static void test_block_maxima(void **state) {
    (void)state;
    kern_each(block_maxima);
}

/* The largest number in any lane of any vector. */
static void every_place(const Kernels *k, size_t n) {
    enum { BLOCKS = KERN_LONGEST / KERN_MAXIMA_BLOCK + 1 };
    real maxima[BLOCKS];
    Line x = line_new(n, 1, 1);
    for (size_t i = 0; i < n; i++) {
        real before = x.at[i];
        x.at[i] = 5;
        assert_true(k->block_maxima(n, x.at, maxima) == 5);
        for (size_t b = 0; b * KERN_MAXIMA_BLOCK < n; b++)
            assert_true((maxima[b] == 5) == (i / KERN_MAXIMA_BLOCK == b));
        x.at[i] = before;
    }
    line_free(&x);
}
static void test_every_place(void **state) {
    (void)state;
    kern_each(every_place);
}

/* The same bits as the softmax, which works in place. */
static void log_sum_exp(const Kernels *k, size_t n) {
    Line x = line_new(n, 3, 9);
    Line copy = line_copy(&x);
    real max = x.at[0];
    for (size_t i = 0; i < n; i++) max = x.at[i] > max ? x.at[i] : max;
    real is = k->log_sum_exp(n, x.at, max);
    assert_memory_equal(x.at, copy.at, n * sizeof(real));
    real should = k->softmax(n, copy.at);
    assert_memory_equal(&is, &should, sizeof is);
    x.at[n - 1] = (real)NAN;
    assert_true(isnan(k->log_sum_exp(n, x.at, max)));
    line_free(&x), line_free(&copy);
}
static void test_log_sum_exp(void **state) {
    (void)state;
    kern_each(log_sum_exp);
}

/* ---- rows at arbitrary addresses ---- */

enum { MOST = 40, OFFSET = 3 };

/* The rows in another order than they lie in, some of them twice. */
static void gathered_rows(const Kernels *k, size_t n) {
    if (n > 300) return;
    for (int S = 0; S <= MOST; S += S < 18 ? 1 : 11) {
        size_t stride = n + OFFSET;
        Line rows = line_new((size_t)MOST * stride, 1, 1), q = line_new(n, 2, 1), w = line_new(MOST, 3, 1);
        Line in_order = line_new((size_t)MOST * n, 4, 1);
        Line scores = line_new(MOST, 5, 1), y = line_new(n, 6, 1);
        Line want_scores = line_copy(&scores), want_y = line_copy(&y);
        const real *row[MOST];
        for (int s = 0; s < S; s++) {
            row[s] = rows.at + (size_t)(s * 7 % 31) * stride;
            memcpy(in_order.at + (size_t)s * n, row[s] + OFFSET, n * sizeof(real));
            want_scores.at[s] = 0;
        }
        memset(want_y.at, 0, n * sizeof(real));
        AttendedKeys keys = {.rows = 1, .length = &S, .size = (int)n, .stride = n};
        k->dots(&keys, q.at, in_order.at, 1, want_scores.at);
        k->weighted_sum(&keys, w.at, in_order.at, want_y.at);
        k->dots_gathered(S, (int)n, q.at, row, OFFSET, scores.at);
        k->weighted_sum_gathered(S, (int)n, w.at, row, OFFSET, y.at);
        for (int s = 0; s < MOST; s++) assert_true(scores.at[s] == want_scores.at[s]);
        for (size_t i = 0; i < n; i++) assert_true(y.at[i] == want_y.at[i]);
        line_free(&rows), line_free(&q), line_free(&w), line_free(&in_order);
        line_free(&scores), line_free(&y), line_free(&want_scores), line_free(&want_y);
    }
}
/* Keys of 8 bits out of a packed weight. */
static void rows_of_bytes(const Kernels *k, size_t n) {
    if (n == 0 || n > 300 || !k->dots_of_bytes) return;
    size_t width = (n + KERN_BYTES - 1) / KERN_BYTES * KERN_BYTES;
    Line q = line_new(n, 2, 1), scales = line_new(MOST, 3, 1), scores = line_new(MOST, 5, 1);
    Line before = line_copy(&scores);
    int8_t *numbers = mem_alloc((size_t)MOST * n, sizeof *numbers),
           *bytes = mem_alloc((size_t)MOST * width, sizeof *bytes);
    for (size_t i = 0; i < (size_t)MOST * n; i++) numbers[i] = (int8_t)((int)(i * 91 % 255) - 127);
    void *packed = mem_aligned(k->weights[WEIGHT_INT8].size((int)n, MOST), 1);
    k->pack_int8((int)n, MOST, numbers, scales.at, true, 0, MOST, packed);
    const int8_t *key[MOST];
    for (int s = 0; s < MOST; s++) {
        key[s] = bytes + (size_t)s * width;
        assert_true(k->column_int8((int)n, MOST, packed, s, bytes + (size_t)s * width) == scales.at[s]);
    }
    for (int S = 0; S <= MOST; S += S < 18 ? 1 : 11) {
        k->dots_of_bytes(S, (int)n, q.at, key, scales.at, scores.at);
        for (int s = 0; s < S; s++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++) sum += (double)q.at[i] * numbers[(size_t)s * n + i];
            assert_true(fabs((double)scores.at[s] - sum * (double)scales.at[s]) <= 1e-4 * (1 + (double)n));
        }
        for (int s = S; s < MOST; s++) assert_true(scores.at[s] == before.at[s]);
        memcpy(scores.at, before.at, MOST * sizeof(real));
    }
    line_free(&q), line_free(&scales), line_free(&scores), line_free(&before);
    mem_free(numbers), mem_free(bytes), mem_free(packed);
}
static void test_rows_of_bytes(void **state) {
    (void)state;
    kern_each(rows_of_bytes);
}

static void test_gathered_rows(void **state) {
    (void)state;
    kern_each(gathered_rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_maxima),  cmocka_unit_test(test_every_place),
        cmocka_unit_test(test_log_sum_exp),   cmocka_unit_test(test_gathered_rows),
        cmocka_unit_test(test_rows_of_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
