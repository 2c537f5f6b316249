/* positions.c - the sinusoidal encoding: its values, ranges of positions, and the rotation between
 * positions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "layers/positions.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { LENGTH = 60, MAX_SIZE = 40, GUARD = 8 };

/* The largest distance between the rotation of P[i] and P[i + delta], over all positions and pairs of
 * columns. (s, c) becomes (cos s + sin c, -sin s + cos c); `twist` is added to the angle, `flip` reverses the
 * rotation. */
static double rotation_error(int size, int delta, double twist, bool flip) {
    static real p[LENGTH * MAX_SIZE];
    double worst = 0;
    positions_sinusoidal(0, LENGTH, size, p);
    for (int i = 0; i + delta < LENGTH; i++)
        for (int j = 0; 2 * j + 1 < size; j++) {
            double angle = delta * pow(10000, -2.0 * j / size) + twist;
            double c = cos(angle), s = flip ? -sin(angle) : sin(angle);
            const real *from = p + i * size + 2 * j, *to = p + (i + delta) * size + 2 * j;
            double errors[] = {c * (double)from[0] + s * (double)from[1] - (double)to[0],
                               -s * (double)from[0] + c * (double)from[1] - (double)to[1]};
            for (int k = 0; k < 2; k++)
                if (!(fabs(errors[k]) <= worst)) worst = fabs(errors[k]);
        }
    return worst;
}

/* A shift by delta is one linear map of each pair of columns, the same at every position. */
static void test_positions_rotate(void **state) {
    (void)state;
    static const int deltas[] = {0, 1, 2, 3, 5, 10, 31, 59}, sizes[] = {2, 6, 32, MAX_SIZE};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t d = 0; d < COUNT(deltas); d++) {
            double error = rotation_error(sizes[s], deltas[d], 0, false);
            if (!(error <= 1e-6)) fail_msg("size %d, delta %d: off by %g", sizes[s], deltas[d], error);
        }
}

static void test_wrong_rotations_are_noticed(void **state) {
    (void)state;
    static const int deltas[] = {1, 2, 3, 5, 10, 31, 59};
    for (size_t d = 0; d < COUNT(deltas); d++) {
        assert_true(rotation_error(32, deltas[d], 0, true) > 1e-2);
        assert_true(rotation_error(32, deltas[d], 1e-4, false) > 1e-5);
    }
}

static void test_positions_values(void **state) {
    (void)state;
    static const int sizes[] = {1, 2, 3, 7, 32, 33};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        int size = sizes[s];
        real p[5 * 33];
        positions_sinusoidal(0, 5, size, p);
        for (int i = 0; i < 5; i++)
            for (int c = 0; c < size; c++) {
                double angle = i / exp(log(10000) * (c - c % 2) / size);
                double expected = c % 2 ? cos(angle) : sin(angle);
                if (!(fabs((double)p[i * size + c] - expected) <= 1e-6))
                    fail_msg("P[%d,%d] of size %d is %g, not %g", i, c, size, (double)p[i * size + c],
                             expected);
            }
    }
}

/* A range of positions gives the same rows as the whole, and no other row is written. */
static void test_positions_ranges(void **state) {
    (void)state;
    static const int sizes[] = {1, 5, 8};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        int size = sizes[s], first = 17, count = 9;
        real whole[LENGTH * 8], part[9 * 8 + GUARD];
        positions_sinusoidal(0, LENGTH, size, whole);
        for (size_t i = 0; i < COUNT(part); i++) part[i] = 7;
        positions_sinusoidal(first, count, size, part);
        for (int i = 0; i < count * size; i++) assert_true(part[i] == whole[first * size + i]);
        for (int i = count * size; i < 9 * 8 + GUARD; i++) assert_true(part[i] == 7);
        positions_sinusoidal(first, 0, size, part + count * size);
        assert_true(part[count * size] == 7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_positions_rotate),
        cmocka_unit_test(test_wrong_rotations_are_noticed),
        cmocka_unit_test(test_positions_values),
        cmocka_unit_test(test_positions_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
