/* test_num_compact.c - weights of fewer bits: what they are rounded to, and that packing loses nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "num/compact.h"
#include "num/kern.h"

static Param param(int rows, int columns, Packing packing) {
    return (Param){.name = (char *)(uintptr_t) "w", .rows = rows, .columns = columns, .packing = packing};
}

static real *some_numbers(size_t count) {
    Rng rng = rng_new(7);
    real *x = mem_alloc(count, sizeof *x);
    for (size_t i = 0; i < count; i++) x[i] = (real)rng_normal(&rng);
    return x;
}

static void test_int8_by_hand(void **state) {
    (void)state;
    static const real x[6] = {1, -10, 0, (real)-2.54, (real)0.04, 0};
    int8_t q[6];
    real scales[3], back[6];
    Param weight = param(2, 3, PACK_AFFINE), table = param(2, 3, PACK_NONE);
    compact_int8(&weight, x, q, scales); /* a scale for each column */
    assert_int_equal(compact_scales(&weight), 3);
    assert_true(fabs((double)scales[0] - 0.02) < 1e-8 && fabs((double)scales[1] - 10 / 127.0) < 1e-8);
    assert_memory_equal(q, ((int8_t[]){50, -127, 0, -127, 1, 0}), 6);
    assert_true(scales[2] == 0);
    compact_expand_int8(&weight, q, scales, back);
    assert_true(fabs((double)back[3] + 2.54) < 1e-6 && back[2] == 0 &&
                fabs((double)back[4] - 10 / 127.0) < 1e-7);
    compact_int8(&table, x, q, scales); /* for each row */
    assert_int_equal(compact_scales(&table), 2);
    assert_memory_equal(q, ((int8_t[]){13, -127, 0, -127, 2, 0}), 6);
    compact_expand_int8(&table, q, scales, back);
    assert_true(fabs((double)back[0] - 130 / 127.0) < 1e-6);
}

static void test_bf16_by_hand(void **state) {
    (void)state;
    static const real x[5] = {1, (real)1.00390625, (real)-1.005, (real)3.4e38, 0};
    static const uint16_t expected[5] = {0x3f80, 0x3f81, 0xbf81, 0x7f7f, 0};
    uint16_t halves[5];
    real back[5];
    Param weight = param(1, 5, PACK_AFFINE);
    compact_bf16(&weight, x, halves);
    assert_memory_equal(halves, expected, sizeof expected);
    compact_expand_bf16(&weight, halves, back);
    assert_true(back[0] == 1 && back[1] == (real)1.0078125 && isfinite((double)back[3]));
}

/* Numbers that were rounded here are packed as the kernels pack floats: the same product, bit by bit, with
 * every instruction set. */
static void check_packing(const Kernels *k, int K, int N, bool transposed) {
    enum { M = 5 };
    Param p = transposed ? param(N, K, PACK_OUTPUT) : param(K, N, PACK_AFFINE);
    size_t bytes = k->weights[FORMAT_INT8].size(K, N);
    real *w = some_numbers(param_size(&p)), *x = some_numbers((size_t)(M * K));
    real *scales = mem_alloc((size_t)N, sizeof *scales), *y[2];
    int8_t *q = mem_alloc(param_size(&p), 1);
    void *packed[2], *scratch = mem_aligned(k->scratch, 1);
    compact_int8(&p, w, q, scales);
    for (int i = 0; i < 2; i++) {
        packed[i] = mem_aligned(bytes, 1);
        y[i] = mem_alloc((size_t)(M * N), sizeof **y);
    }
    k->weights[FORMAT_INT8].pack(K, N, w, transposed, 0, N, packed[0]);
    k->pack_int8(K, N, q, scales, transposed, packed[1]);
    for (int i = 0; i < 2; i++)
        k->weights[FORMAT_INT8].multiply(M, N, K, x, K, packed[i], y[i], N, false, scratch);
    assert_memory_equal(y[0], y[1], (size_t)(M * N) * sizeof **y);
    for (int i = 0; i < 2; i++) mem_free(packed[i]), mem_free(y[i]);
    mem_free(scratch), mem_free(q), mem_free(scales), mem_free(w), mem_free(x);
}

static void test_packing(void **state) {
    (void)state;
    static const int SIZES[][2] = {{1, 1}, {3, 5}, {64, 32}, {65, 33}, {130, 47}, {16, 96}, {200, 64}};
    const Kernels *k;
    for (int t = 0; (k = kern_table(t)) != NULL; t++)
        for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
            for (int transposed = 0; transposed < 2; transposed++)
                check_packing(k, SIZES[i][0], SIZES[i][1], transposed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_int8_by_hand),
        cmocka_unit_test(test_bf16_by_hand),
        cmocka_unit_test(test_packing),
    };
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
