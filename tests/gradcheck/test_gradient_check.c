/* test_gradient_check.c - the gradient check accepts correct gradients and finds wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include "gradient_check.h"
#include "op_cases.h"

enum { N = 4 };
static real x[N] = {0.5, -1.25, 2, 0};

/* sum of x^3 - 2x: derivatives 3 x^2 - 2 */
static double cubic(void *context) {
    (void)context;
    double sum = 0;
    for (int i = 0; i < N; i++) sum += x[i] * x[i] * x[i] - 2 * x[i];
    return sum;
}
static double broken(void *context) { return *(double *)context; }

static void right(real *gradient) {
    for (int i = 0; i < N; i++) gradient[i] = 3 * x[i] * x[i] - 2;
}
static const char *fault_of(const real *gradient, size_t count, size_t gradient_count) {
    Gradient g = {"x", x, count, gradient, gradient_count, false};
    return gradient_fault(&g, cubic, NULL);
}

static void test_right(void **state) {
    (void)state;
    real gradient[N];
    right(gradient);
    assert_null(fault_of(gradient, N, N));
    assert_true(x[0] == 0.5 && x[1] == -1.25 && x[2] == 2 && x[3] == 0);
}

static void test_wrong(void **state) {
    (void)state;
    for (int i = 0; i < N; i++) {
        real gradient[N];
        right(gradient);
        gradient[i] *= 1 + 1e-6;
        assert_non_null(fault_of(gradient, N, N));
        right(gradient);
        gradient[i] = -gradient[i];
        assert_non_null(fault_of(gradient, N, N));
        right(gradient);
        gradient[i] = 0;
        assert_non_null(fault_of(gradient, N, N));
        gradient[i] = NAN;
        assert_non_null(fault_of(gradient, N, N));
        gradient[i] = INFINITY;
        assert_non_null(fault_of(gradient, N, N));
    }
}

static void test_lengths(void **state) {
    (void)state;
    real gradient[N];
    right(gradient);
    assert_non_null(fault_of(gradient, N, N - 1));
    assert_non_null(fault_of(gradient, N - 1, N));
    assert_non_null(fault_of(gradient, N, 0));
    assert_non_null(fault_of(gradient, 0, 0));
}

static void test_broken_function(void **state) {
    (void)state;
    real gradient[N] = {0};
    double value = NAN;
    Gradient g = {"x", x, N, gradient, N, true};
    assert_non_null(gradient_fault(&g, broken, &value));
    value = 1;
    assert_null(gradient_fault(&g, broken, &value)); /* a constant; may_vanish is set */
    g.may_vanish = false;
    assert_non_null(gradient_fault(&g, broken, &value));
}

static void nothing(Tape *tape, const Node *node) {
    (void)tape;
    (void)node;
}

static void test_rows(void **state) {
    (void)state;
    static const OpCase FIRST[] = {{.op = 0, .name = "first"}, {0}},
                        BOTH[] = {{.op = 1, .name = "second"}, {.op = 0, .name = "first"}, {0}};
    const OpCase *const one[] = {FIRST, NULL}, *const two[] = {FIRST, BOTH, NULL};
    Op ops[2] = {{"a", nothing, nothing}, {"b", nothing, nothing}};
    assert_null(op_rows_fault(ops, 2, two));
    assert_null(op_rows_fault(ops, 1, one));
    assert_non_null(op_rows_fault(ops, 2, one)); /* no case */
    ops[1].backward = NULL;
    assert_non_null(op_rows_fault(ops, 2, two));
    ops[1] = (Op){"b", NULL, nothing};
    assert_non_null(op_rows_fault(ops, 2, two));
    ops[1] = (Op){NULL, nothing, nothing};
    assert_non_null(op_rows_fault(ops, 2, two));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),           cmocka_unit_test(test_wrong), cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_broken_function), cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
