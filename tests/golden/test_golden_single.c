/* test_golden_single.c - PyTorch's values in single precision, as the program computes; and Adam, which has
 * no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/mem.h"
#include "golden/golden_cases.h"
#include "golden/reference.h"
#include "kern/kern.h"
#include "train/optimizer.h"

static const char *numbered(const char *name, int step) {
    static char text[32];
    snprintf(text, sizeof text, "%s%d", name, step);
    return text;
}

/* Two shards with half of the gradient each: the numbers are multiples of 1/64, so halves are exact. */
static void read_gradients(Reference *reference, const Param *p, const char *name, real *const *grads) {
    Field field = reference_field(reference, "in", name);
    assert_int_equal(field.count, p->rows * p->columns);
    for (size_t i = 0; i < field.count; i++)
        for (int shard = 0; shard < 2; shard++) grads[shard][p->offset + i] = (real)(field.data[i] / 2);
}

static void check_adam(const char *name, bool clipped) {
    static const Tolerance TOLERANCE = {1e-6, 1e-7};
    Reference *reference = reference_open("adam", name);
    ParamSet *params = params_new();
    const Param *a = params_add(params, "a", 1, 5, INIT_ZERO, 0, PANELS_NONE),
                *b = params_add(params, "b", 2, 3, INIT_ZERO, 0, PANELS_NONE);
    params_allocate(params);
    Field a0 = reference_field(reference, "in", "a"), b0 = reference_field(reference, "in", "b");
    reference_copy(&a0, param_data(params, a), 5);
    reference_copy(&b0, param_data(params, b), 6);
    Workers *workers = workers_new(1);
    Optimizer *optimizer = optimizer_new(params, workers, WEIGHT_BF16X3, false);
    real *grads[2] = {params_block(params), params_block(params)};
    const SumNode nodes[2] = {{0, 0}, {0, 1}};
    const PartialSums sum = {2, 2, nodes, grads};
    const TrainOptions options = {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .clip = 1};
    for (int t = 1; t <= 3; t++) {
        read_gradients(reference, a, numbered("grad_a", t), grads);
        read_gradients(reference, b, numbered("grad_b", t), grads);
        double norm;
        assert_int_equal(optimizer_update(optimizer, &sum, &options, 0.005, 0, &norm), STATUS_OK);
        assert_true(clipped ? norm > 1 : norm < 1);
        real single = (real)norm;
        Field expected = reference_field(reference, "out", numbered("norm", t));
        reference_check(&expected, &single, 1, TOLERANCE);
        expected = reference_field(reference, "out", numbered("a", t));
        reference_check(&expected, param_data(params, a), 5, TOLERANCE);
        expected = reference_field(reference, "out", numbered("b", t));
        reference_check(&expected, param_data(params, b), 6, TOLERANCE);
        for (size_t i = 0; i < params->size; i++) assert_true(grads[0][i] == 0 && grads[1][i] == 0);
    }
    mem_free(grads[0]);
    mem_free(grads[1]);
    optimizer_free(optimizer);
    workers_free(workers);
    params_free(params);
    reference_close(reference);
}

static void golden_adam(void **state) {
    (void)state;
    check_adam("clipped", true);
    check_adam("not_clipped", false);
}

int main(void) {
    const struct CMUnitTest tests[] = {GOLDEN_CASES, cmocka_unit_test(golden_adam)};
    kern_select();
    return cmocka_run_group_tests_name("golden values, single precision", tests, NULL, NULL);
}
