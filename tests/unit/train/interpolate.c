/* interpolate.c - which mean of the weights before and after fine-tuning is the result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include "train/interpolate.h"

static void test_choose(void **state) {
    (void)state;
    static const struct {
        double chrf[INTERPOLATION_POINTS];
        int expected;
    } CASES[] = {{{60, 61, 62, 63, 64}, 4},   /* each step gains */
                 {{60, 63, 65, 66, 64}, 3},   /* the mean is better than both */
                 {{60, 65.8, 66, 65, 64}, 1}, /* nearly all of the gain, with fewer changes */
                 {{60, 65.6, 66, 65, 64}, 2}, /* less than 95 % of it */
                 {{60, 59, 58, 57, 50}, 0},   /* fine-tuning gained nothing */
                 {{60, 60, 60, 60, 60}, 0}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        InterpolationPoint points[INTERPOLATION_POINTS] = {{0}};
        for (int k = 0; k < INTERPOLATION_POINTS; k++) {
            points[k].chrf = points[k].bleu = CASES[i].chrf[k];
            points[k].loss = 100 - CASES[i].chrf[k];
        }
        assert_int_equal(interpolation_choose(points, STOP_ON_CHRF), CASES[i].expected);
        assert_int_equal(interpolation_choose(points, STOP_ON_BLEU), CASES[i].expected);
        assert_int_equal(interpolation_choose(points, STOP_ON_LOSS), CASES[i].expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choose)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
