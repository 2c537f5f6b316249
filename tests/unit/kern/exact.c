/* exact.c - tanh, sigmoid, exp over their whole range; NaN and infinity; dropout masks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include "unit/kern_tables.h"

enum { SWEEP = 4096 };
static real x[SWEEP], y[SWEEP];

/* Tests the sigmoid through a gate whose other factor is known. */
static void sigmoid(const Kernels *k, size_t n, const real *from, real *to) {
    static real halves[2 * SWEEP];
    for (size_t i = 0; i < n; i++) halves[i] = 1, halves[n + i] = from[i];
    k->glu_forward(1, (int)n, halves, to);
}

static void check_at(const Kernels *k, size_t n) {
    k->tanh(n, x, y);
    for (size_t i = 0; i < n; i++) {
        assert_true(fabs((double)y[i] - tanh((double)x[i])) <= 3e-7);
        assert_true(y[i] >= -1 && y[i] <= 1);
        if (x[i] != 0) assert_true((y[i] < 0) == (x[i] < 0));
        /* Near zero the error is relative. */
        if (fabs((double)x[i]) < 0.25)
            assert_true(fabs((double)y[i] - tanh((double)x[i])) <= 1e-6 * fabs((double)x[i]));
    }
    sigmoid(k, n, x, y);
    for (size_t i = 0; i < n; i++) {
        assert_true(fabs((double)y[i] - 1 / (1 + exp(-(double)x[i]))) <= 3e-7);
        assert_true(y[i] >= 0 && y[i] <= 1);
    }
}

static void test_sweep(void **state) {
    (void)state;
    static const double RANGES[] = {1e-3, 0.3, 1, 10, 100, 1e5};
    for (const Kernels *const *k = kern_tables(); *k; k++)
        for (int r = 0; r < 6; r++) {
            for (int i = 0; i < SWEEP; i++) x[i] = (real)(RANGES[r] * (2.0 * i / (SWEEP - 1) - 1));
            check_at(*k, SWEEP);
        }
}

static void test_extremes(void **state) {
    (void)state;
    static const double VALUES[] = {0,        -0.0,  FLT_MAX, -FLT_MAX, INFINITY, -INFINITY, FLT_MIN,
                                    -FLT_MIN, 1e-45, 44.0,    -44.0,    43.9999,  88,        -88,
                                    87.5,     -87.5, 89,      -89,      0.25,     -0.25,     0.24999,
                                    -0.24999, 1e-20, 1e20,    -1e20,    104,      -104};
    int n = sizeof VALUES / sizeof *VALUES;
    for (const Kernels *const *k = kern_tables(); *k; k++) {
        for (int i = 0; i < n; i++) x[i] = (real)VALUES[i];
        check_at(*k, (size_t)n);
    }
}

/* Tests exp through softmax: the ratio of two weights. */
static void test_exp(void **state) {
    (void)state;
    for (const Kernels *const *k = kern_tables(); *k; k++)
        for (int i = 0; i < SWEEP; i++) {
            real pair[2] = {0, (real)(-86.0 * i / SWEEP)};
            double expected = exp((double)pair[1]);
            (*k)->softmax(2, pair);
            assert_true(fabs((double)pair[1] / (double)pair[0] - expected) <= 6e-7 * expected);
        }
}

/* Softmax of large, equal and far apart numbers. */
static void test_softmax_range(void **state) {
    (void)state;
    for (const Kernels *const *k = kern_tables(); *k; k++) {
        real large[] = {3e38f, 3e38f, -3e38f};
        real lse = (*k)->softmax(3, large);
        assert_true(large[0] == 0.5f && large[1] == 0.5f && large[2] >= 0 && large[2] < 1e-30f);
        assert_true(lse == 3e38f);
        real one[] = {-7};
        assert_true((*k)->softmax(1, one) == -7 && one[0] == 1);
        for (size_t n = 2; n <= 70; n += 17) /* the largest number at any position */
            for (size_t at = 0; at < n; at++) {
                real line[70] = {0};
                line[at] = 1e30f;
                assert_true((*k)->softmax(n, line) == 1e30f);
                for (size_t i = 0; i < n; i++)
                    assert_true(i == at ? line[i] == 1 : line[i] >= 0 && line[i] < 1e-30f);
            }
        real hidden[] = {1, -INFINITY, 1};
        (*k)->softmax(3, hidden);
        assert_true(hidden[0] == 0.5f && hidden[1] < 1e-30f);
    }
}

/* A NaN at any position and any length must reach the result; infinite logits give an infinite or undefined
 * loss. */
static void check_poison(const Kernels *k, size_t n, size_t at, real poison) {
    real line[70], other[70], out[70];
    double nll;
    for (size_t i = 0; i < n; i++) line[i] = other[i] = (real)(0.1 * (double)i);
    line[at] = poison;
    if (isnan((double)poison)) {
        k->tanh(n, line, out);
        for (size_t i = 0; i < n; i++) assert_true(isnan((double)out[i]) == (i == at));
        sigmoid(k, n, line, out);
        for (size_t i = 0; i < n; i++) assert_true(isnan((double)out[i]) == (i == at));
        assert_true(isnan((double)k->dot(n, line, other)));
        assert_true(isnan(k->sum_squares(n, line)));
        real score;
        k->additive_forward(1, (int)n, line, other, other, &score);
        assert_true(at == 0 || isnan((double)score)); /* other[0] is 0, but 0 * NaN is NaN as well */
        k->additive_forward(1, (int)n, other, line, other, &score);
        assert_true(isnan((double)score));
    }
    memcpy(out, line, sizeof line);
    k->softmax(n, out);
    for (size_t i = 0; i < n; i++) assert_true(isnan((double)out[i]));
    static const double SMOOTHING[] = {0, 0.1};
    for (int s = 0; s < 2; s++)
        for (int target = 0; target<(int)n; target += (int)n> 3 ? (int)n / 3 : 1) {
            memcpy(out, line, sizeof line);
            double loss = k->cross_entropy(n, out, target, (real)SMOOTHING[s], 1, &nll);
            assert_false(isfinite(loss) != 0);
            assert_false(isfinite(nll) != 0);
        }
}

static void test_poison(void **state) {
    (void)state;
    static const size_t LENGTHS[] = {1, 2, 5, 16, 17, 33, 70};
    for (const Kernels *const *k = kern_tables(); *k; k++)
        for (int l = 0; l < 7; l++)
            for (size_t at = 0; at < LENGTHS[l]; at++) {
                check_poison(*k, LENGTHS[l], at, (real)NAN);
                check_poison(*k, LENGTHS[l], at, -(real)NAN);
                check_poison(*k, LENGTHS[l], at, (real)INFINITY);
            }
}

static void test_gru_poison(void **state) {
    (void)state;
    enum { H = 19 };
    for (const Kernels *const *k = kern_tables(); *k; k++)
        for (int at = 0; at < H; at++)
            for (int gate = 0; gate < 4; gate++) {
                real gx[3 * H], gh[3 * H], h[H], out[H];
                for (int i = 0; i < 3 * H; i++) gx[i] = gh[i] = (real)(0.1 * i - 2);
                for (int i = 0; i < H; i++) h[i] = (real)(0.05 * i);
                if (gate == 3)
                    h[at] = (real)NAN;
                else
                    gx[gate * H + at] = (real)NAN;
                (*k)->gru_forward(1, H, gx, gh, h, out, NULL);
                for (int i = 0; i < H; i++) assert_true(isnan((double)out[i]) == (i == at));
            }
}

/* ---- dropout masks ---- */

enum { MASK = 1000, MASK_ROWS = 400 };
static real masks[MASK_ROWS][MASK];

static void fill_masks(const Kernels *k, uint64_t key, double p) {
    for (uint32_t r = 0; r < MASK_ROWS; r++) k->dropout_mask(MASK, key, r * 2654435761u, p, masks[r]);
}

/* Fraction of positions with two kept numbers, for masks that are `rows` and `columns` apart. */
static double kept_together(int rows, int columns) {
    long both = 0, count = 0;
    for (int r = 0; r + rows < MASK_ROWS; r++)
        for (int c = 0; c + columns < MASK; c++, count++)
            both += masks[r][c] != 0 && masks[r + rows][c + columns] != 0;
    return (double)both / (double)count;
}

static void test_mask_statistics(void **state) {
    (void)state;
    static const double P[] = {0.1, 0.3, 0.5, 0.95};
    kern_select();
    for (int i = 0; i < 4; i++) {
        fill_masks(kern, 42, P[i]);
        double kept = 1 - P[i];
        real value = (real)(1 / kept);
        for (int r = 0; r < MASK_ROWS; r++)
            for (int c = 0; c < MASK; c++) assert_true(masks[r][c] == 0 || masks[r][c] == value);
        /* Four standard deviations of 400,000 draws are below 0.0032; neighbours are independent. */
        assert_true(fabs(kept_together(0, 0) - kept) <= 0.0032);
        assert_true(fabs(kept_together(0, 1) - kept * kept) <= 0.004);
        assert_true(fabs(kept_together(1, 0) - kept * kept) <= 0.004);
        assert_true(fabs(kept_together(1, 1) - kept * kept) <= 0.004);
        assert_true(fabs(kept_together(0, 64) - kept * kept) <= 0.004);
    }
}

/* No row and no column is dropped much more often than others. */
static void test_mask_marginals(void **state) {
    (void)state;
    kern_select();
    fill_masks(kern, 7, 0.5);
    for (int r = 0; r < MASK_ROWS; r++) {
        int kept = 0;
        for (int c = 0; c < MASK; c++) kept += masks[r][c] != 0;
        assert_in_range(kept, 500 - 80, 500 + 80); /* five standard deviations of 16 */
    }
    for (int c = 0; c < MASK; c++) {
        int kept = 0;
        for (int r = 0; r < MASK_ROWS; r++) kept += masks[r][c] != 0;
        assert_in_range(kept, 200 - 50, 200 + 50); /* five standard deviations of 10 */
    }
}

static void test_mask_is_a_function(void **state) {
    (void)state;
    static real a[MASK], b[MASK];
    const Kernels *const *tables = kern_tables();
    for (uint64_t key = 1; key < 1ull << 60; key *= 37) {
        tables[0]->dropout_mask(MASK, key, 5, 0.3, a);
        for (int i = 0; tables[i]; i++) { /* the same on every processor, whole or in part */
            tables[i]->dropout_mask(MASK, key, 5, 0.3, b);
            assert_memory_equal(a, b, sizeof a);
            tables[i]->dropout_mask(33, key, 5, 0.3, b);
            assert_memory_equal(a, b, 33 * sizeof(real));
        }
        tables[0]->dropout_mask(MASK, key, 6, 0.3, b);
        assert_memory_not_equal(a, b, sizeof a);
        tables[0]->dropout_mask(MASK, key ^ 1, 5, 0.3, b);
        assert_memory_not_equal(a, b, sizeof a);
        tables[0]->dropout_mask(MASK, key ^ 1ull << 40, 5, 0.3, b); /* the upper half of the key */
        assert_memory_not_equal(a, b, sizeof a);
    }
    tables[0]->dropout_mask(MASK, 1, 1, 0, a);
    for (int i = 0; i < MASK; i++) assert_true(a[i] == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_exp),
        cmocka_unit_test(test_softmax_range),
        cmocka_unit_test(test_poison),
        cmocka_unit_test(test_gru_poison),
        cmocka_unit_test(test_mask_statistics),
        cmocka_unit_test(test_mask_marginals),
        cmocka_unit_test(test_mask_is_a_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
