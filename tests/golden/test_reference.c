/* test_reference.c - comparing with golden values finds what is wrong, and only that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include "golden/reference.h"

static double numbers[] = {1.5, -0.25, 0};
static const Field FIELD = {"x", 1, {3}, 3, numbers};
static const Tolerance TOLERANCE = {1e-5, 1e-6};

static bool accepts(real a, real b, real c, size_t count) {
    const real actual[] = {a, b, c};
    return reference_fault(&FIELD, actual, count, TOLERANCE) == NULL;
}

static void test_compare(void **state) {
    (void)state;
    assert_true(accepts(1.5f, -0.25f, 0, 3));
    assert_true(accepts(1.500014f, -0.250002f, -9e-7f, 3));
    assert_false(accepts(1.50002f, -0.25f, 0, 3));
    assert_false(accepts(1.5f, -0.250004f, 0, 3));
    assert_false(accepts(1.5f, -0.25f, 2e-6f, 3));
    assert_false(accepts(1.5f, 0.25f, 0, 3)); /* sign */
    assert_false(accepts(-1.5f, -0.25f, 0, 3));
    assert_false(accepts(1.5f, NAN, 0, 3));
    assert_false(accepts(1.5f, -0.25f, NAN, 3));
    assert_false(accepts(INFINITY, -0.25f, 0, 3));
    assert_false(accepts(1.5f, -0.25f, 0, 2)); /* short */
    assert_false(accepts(1.5f, -0.25f, 0, 0));
}

static void test_empty(void **state) {
    (void)state;
    const Field none = {"none", 1, {0}, 0, numbers};
    const real actual[1] = {0};
    assert_non_null(reference_fault(&none, actual, 0, TOLERANCE));
}

/* [2, 4] seen as the transpose of the last three columns: [3, 2]. */
static void test_transposed(void **state) {
    (void)state;
    double data[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const Field field = {"w", 2, {2, 4}, 8, data};
    const real expected[] = {2, 6, 3, 7, 4, 8};
    real block[6];
    reference_copy_transposed(&field, 1, block, 3, 2);
    for (int i = 0; i < 6; i++) assert_true(block[i] == expected[i]);
}

/* The files hold what the tests ask for. */
static void test_file(void **state) {
    (void)state;
    Reference *reference = reference_open("masked_softmax", "valid_lens_1d");
    Field x = reference_field(reference, "in", "x");
    assert_int_equal(x.rank, 3);
    assert_int_equal(x.count, 16);
    assert_true(reference_has(reference, "in", "valid_lens"));
    assert_false(reference_has(reference, "in", "valid_length"));
    assert_false(reference_has(reference, "inside", "x"));
    reference_close(reference);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compare), cmocka_unit_test(test_empty),
                                       cmocka_unit_test(test_transposed), cmocka_unit_test(test_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
