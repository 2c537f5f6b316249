/* weights_read.c - weights larger than a window of the file: all are read, and damage near the end is
 * detected; weights too large for 8 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "models/safetensors.h"
#include "models/weights_read.h"
#include "kern/kern.h"
#include "unit/text_fixture.h"

enum { TENSORS = 5, ROWS = 1100, COLUMNS = 1000 }; /* 4.4 MB each: one in a window */

static const char *const NAMES[TENSORS] = {"a", "b", "c", "d", "e"};

static ParamSet *declare(void) {
    ParamSet *params = params_new();
    for (int i = 0; i < TENSORS; i++)
        params_add(params, NAMES[i], ROWS, COLUMNS, INIT_ZERO, 0, i % 2 ? PANELS_AFFINE : PANELS_NONE);
    return params;
}

static real number(int tensor, size_t at) { return (real)((int)((at * 31 + (size_t)tensor) % 1009) - 504); }

/* A file of such weights; value `at` of tensor `wrong` is NaN. */
static void write_file(int wrong, size_t at) {
    SafeTensor tensors[TENSORS];
    real *data[TENSORS];
    for (int i = 0; i < TENSORS; i++) {
        size_t size = (size_t)ROWS * COLUMNS;
        data[i] = mem_alloc(size, sizeof *data[i]);
        for (size_t j = 0; j < size; j++) data[i][j] = number(i, j);
        if (i == wrong) data[i][at] = (real)NAN;
        tensors[i] = (SafeTensor){.name = NAMES[i],
                                  .dtype = sizeof(real) == 4 ? "F32" : "F64",
                                  .rank = 2,
                                  .shape = {ROWS, COLUMNS},
                                  .data = data[i],
                                  .bytes = size * sizeof(real)};
    }
    assert_int_equal(safetensors_write_unchecked(fixture_path("weights"), tensors, TENSORS, NULL, 0),
                     STATUS_OK);
    for (int i = 0; i < TENSORS; i++) mem_free(data[i]);
}

static void windows_follow_each_other(void **state) {
    (void)state;
    SafeFile *file;
    write_file(-1, 0);
    ParamSet *params = declare();
    assert_int_equal(safetensors_open_header(&file, fixture_path("weights")), STATUS_OK);
    if (weights_read(file, 0, WEIGHT_FLOAT32, params, WEIGHT_FLOAT32, false) != STATUS_OK)
        fail_msg("%s", status_message());
    safetensors_close(file);
    for (int i = 0; i < TENSORS; i++)
        for (size_t j = 0; j < (size_t)ROWS * COLUMNS; j++)
            if (param_data(params, params->items[i])[j] != number(i, j)) fail_msg("%s %zu", NAMES[i], j);
    params_free(params);
}

static Status read_cut(off_t length) {
    SafeFile *file;
    ParamSet *params = declare();
    assert_int_equal(safetensors_open_header(&file, fixture_path("weights")), STATUS_OK);
    if (length > 0) assert_int_equal(truncate(fixture_path("weights"), length), 0);
    Status status = weights_read(file, 0, WEIGHT_FLOAT32, params, WEIGHT_FLOAT32, true);
    safetensors_close(file);
    params_free(params);
    return status;
}

static void damage_far_behind_is_found(void **state) {
    (void)state;
    write_file(4, 777);
    assert_int_equal(read_cut(0), STATUS_DATA);
    assert_non_null(strstr(status_message(), "'e'"));
    write_file(-1, 0);
    for (int tensors = 0; tensors < TENSORS; tensors++) { /* the file is truncated during the read */
        write_file(-1, 0);
        assert_int_equal(read_cut(1000 + (off_t)tensors * ROWS * COLUMNS * (off_t)sizeof(real)), STATUS_DATA);
        assert_non_null(strstr(status_message(), "became shorter"));
    }
}

static void sums_in_8_bits_have_a_depth(void **state) {
    (void)state;
    static const struct {
        int rows, columns;
        PanelUse panel_use;
        Status expected;
    } CASES[] = {{KERN_INT8_MAX_K, 2, PANELS_AFFINE, STATUS_OK},
                 {KERN_INT8_MAX_K + 1, 2, PANELS_AFFINE, STATUS_DATA},
                 {2, KERN_INT8_MAX_K, PANELS_OUTPUT, STATUS_OK},
                 {2, KERN_INT8_MAX_K + 1, PANELS_OUTPUT, STATUS_DATA},
                 {KERN_INT8_MAX_K + 1, 2, PANELS_NONE, STATUS_OK}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ParamSet *params = params_new();
        params_add(params, "deep", CASES[i].rows, CASES[i].columns, INIT_ZERO, 0, CASES[i].panel_use);
        assert_int_equal(weights_check_depth(params, WEIGHT_INT8), CASES[i].expected);
        assert_int_equal(weights_check_depth(params, WEIGHT_BF16), STATUS_OK);
        params_free(params);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_follow_each_other),
        cmocka_unit_test(damage_far_behind_is_found),
        cmocka_unit_test(sums_in_8_bits_have_a_depth),
    };
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
