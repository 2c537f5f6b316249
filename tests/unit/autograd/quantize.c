/* quantize.c - rounding of weights to int8 and bf16. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include "autograd/quantize.h"

static Param param(int rows, int columns, PanelUse panel_use) {
    return (Param){.name = (char *)(uintptr_t) "w", .rows = rows, .columns = columns, .panel_use = panel_use};
}

static void test_int8_by_hand(void **state) {
    (void)state;
    static const real x[6] = {1, -10, 0, (real)-2.54, (real)0.04, 0};
    int8_t q[6];
    real scales[3], back[6];
    Param weight = param(2, 3, PANELS_AFFINE), table = param(2, 3, PANELS_NONE);
    quantize_int8(&weight, x, q, scales); /* a scale for each column */
    assert_int_equal(quantize_scales(&weight), 3);
    assert_true(fabs((double)scales[0] - 0.02) < 1e-8 && fabs((double)scales[1] - 10 / 127.0) < 1e-8);
    assert_memory_equal(q, ((int8_t[]){50, -127, 0, -127, 1, 0}), 6);
    assert_true(scales[2] == 0);
    dequantize_int8(&weight, q, scales, back);
    assert_true(fabs((double)back[3] + 2.54) < 1e-6 && back[2] == 0 &&
                fabs((double)back[4] - 10 / 127.0) < 1e-7);
    quantize_int8(&table, x, q, scales); /* for each row */
    assert_int_equal(quantize_scales(&table), 2);
    assert_memory_equal(q, ((int8_t[]){13, -127, 0, -127, 2, 0}), 6);
    dequantize_int8(&table, q, scales, back);
    assert_true(fabs((double)back[0] - 130 / 127.0) < 1e-6);
}

/* Readers accept the scale, even that of the largest floats. */
static void test_int8_near_infinity(void **state) {
    (void)state;
    float most = FLT_MAX;
    for (int i = 0; i < 100; i++, most = nextafterf(most, 0)) {
        const real x[2] = {(real)most, (real)-most};
        int8_t q[2];
        real scales[2], back[2];
        for (int columns = 1; columns <= 2; columns++) {
            Param weight = param(2 / columns, columns, columns == 1 ? PANELS_AFFINE : PANELS_NONE);
            quantize_int8(&weight, x, q, scales);
            assert_memory_equal(q, ((int8_t[]){127, -127}), 2);
            assert_true(isfinite((float)scales[0] * 127));
            dequantize_int8(&weight, q, scales, back);
            assert_true(isfinite((float)back[0]) && fabs((double)back[0] / (double)most - 1) < 1e-6);
        }
    }
}

static void test_bf16_by_hand(void **state) {
    (void)state;
    static const real x[5] = {1, (real)1.00390625, (real)-1.005, (real)3.4e38, 0};
    static const uint16_t expected[5] = {0x3f80, 0x3f81, 0xbf81, 0x7f7f, 0};
    uint16_t halves[5];
    real back[5];
    Param weight = param(1, 5, PANELS_AFFINE);
    quantize_bf16(&weight, x, halves);
    assert_memory_equal(halves, expected, sizeof expected);
    dequantize_bf16(&weight, halves, back);
    assert_true(back[0] == 1 && back[1] == (real)1.0078125 && isfinite((double)back[3]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_int8_by_hand),
        cmocka_unit_test(test_int8_near_infinity),
        cmocka_unit_test(test_bf16_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
