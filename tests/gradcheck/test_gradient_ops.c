/* test_gradient_ops.c - gradients of every row of the op table, in double precision, by finite differences.
 *
 * Backward functions add to gradients, so the gradient blocks do not start at zero here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "gradient_check.h"
#include "layers/attention.h"
#include "kern/kern.h"
#include "op_cases.h"

typedef struct {
    OpBench bench;
    Tape *tape;  /* for evaluation */
    real *d_out; /* gradient of the result; the checked function is sum(out * d_out) */
    bool packed;
} Run;

static Tensor *run_graph(Run *run, Tape *tape) {
    tape_reset(tape);
    tape->training = (run->bench.item->flags & CASE_TRAINING) != 0;
    tape->dropout_key = 99;
    run->bench.next = 0;
    if (run->packed) params_pack_all(run->bench.params);
    Tensor *out = run->bench.item->run(tape, &run->bench);
    assert_int_equal(run->bench.next, run->bench.leaves);
    return out;
}

static double evaluate(void *context) {
    Run *run = context;
    const Tensor *out = run_graph(run, run->tape);
    double sum = 0;
    for (size_t i = 0; i < tensor_size(out); i++) sum += out->data[i] * run->d_out[i];
    return sum;
}

static void check(Run *run, Gradient gradient) {
    const char *fault = gradient_fault(&gradient, evaluate, run);
    if (fault) fail_msg("%s%s: %s", run->bench.item->name, run->packed ? " (packed)" : "", fault);
}

/* The start value of every gradient. */
static real beginning(size_t i) { return (real)(0.25 * (double)(i % 7) - 0.5); }
static void begin(real *gradient, size_t count) {
    for (size_t i = 0; i < count; i++) gradient[i] = beginning(i);
}
static real *without_beginning(const real *gradient, size_t count) {
    real *own = mem_alloc(count, sizeof *own);
    for (size_t i = 0; i < count; i++) own[i] = gradient[i] - beginning(i);
    return own;
}

static bool has_node(const Tape *tape, OpId op) {
    for (const Node *node = tape->last; node; node = node->previous)
        if (node->op == op) return true;
    return false;
}

static void check_leaves(Run *run, real *const *gradients) {
    OpBench *bench = &run->bench;
    for (int i = 0; i < bench->leaves; i++) {
        char name[] = "leaf 0";
        name[5] = (char)('0' + i);
        check(run, (Gradient){name, bench->leaf[i].values, bench->leaf[i].size, gradients[i],
                              bench->leaf[i].size, (bench->item->flags & CASE_MAY_VANISH) != 0});
    }
}

static void check_params(Run *run, const real *gradients) {
    const ParamSet *params = run->bench.params;
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        size_t size = (size_t)p->rows * (size_t)p->columns;
        check(run, (Gradient){p->name, param_data(params, p), size, gradients + p->offset, size,
                              (run->bench.item->flags & CASE_SPARE_PARAMS) != 0});
    }
}

/* Records a run with gradients that do not start at zero. A first run has created the leaves. */
static void record(Run *run, real **leaf_gradients, real **param_gradients) {
    OpBench *bench = &run->bench;
    real *block = params_block(bench->params);
    begin(block, bench->params->size);
    Tape *tape = tape_new(bench->params, true);
    tape->grads = block;
    run_graph(run, tape); /* the arena has its final size: the same addresses, uninitialized memory */
    begin(block, bench->params->size);
    const Tensor *out = run_graph(run, tape);
    assert_true(has_node(tape, bench->item->op));
    for (int i = 0; i < bench->leaves; i++) {
        Tensor *leaf = bench->leaf[i].tensor;
        for (size_t j = 0; j < tensor_size(leaf); j++) tensor_gradient(leaf)[j] += beginning(j);
    }
    for (size_t i = 0; i < tensor_size(out); i++) tensor_gradient(out)[i] += run->d_out[i];
    tape_backward(tape);
    assert_null(tape->last);
    for (int i = 0; i < bench->leaves; i++)
        leaf_gradients[i] = without_beginning(bench->leaf[i].tensor->grad, bench->leaf[i].size);
    *param_gradients = without_beginning(block, bench->params->size);
    tape_free(tape);
    mem_free(block);
}

static void check_case(const OpCase *item, bool packed) {
    Run run = {.bench = {.item = item, .params = params_new(), .rng = rng_new(11)}, .packed = packed};
    if (item->declare) item->declare(run.bench.params);
    params_allocate(run.bench.params);
    params_initialize(run.bench.params, 5);
    for (size_t i = 0; i < run.bench.params->size; i++) /* biases and gains get random values, too */
        run.bench.params->data[i] += (real)(0.1 * (double)(i % 5) - 0.2);
    run.bench.params->packs_backward = true;
    run.tape = tape_new(run.bench.params, false);

    tape_reset(run.tape);
    run.bench.next = 0;
    run.tape->training = (item->flags & CASE_TRAINING) != 0;
    size_t size = tensor_size(item->run(run.tape, &run.bench)); /* creates the leaves */
    run.d_out = mem_alloc(size, sizeof *run.d_out);
    for (size_t i = 0; i < size; i++)
        run.d_out[i] = item->flags & CASE_LOSS ? 1 : (real)(2 * rng_uniform(&run.bench.rng) - 1);

    real *leaves[BENCH_LEAVES], *params;
    record(&run, leaves, &params);
    check_leaves(&run, leaves);
    check_params(&run, params);

    for (int i = 0; i < run.bench.leaves; i++) {
        mem_free(leaves[i]);
        mem_free(run.bench.leaf[i].values);
    }
    mem_free(params);
    mem_free(run.d_out);
    tape_free(run.tape);
    params_free(run.bench.params);
}

typedef struct {
    OpCase item; /* its name is the name of the test */
    int score;
    char name[64];
} TestCase;

static void test_case(void **state) {
    const TestCase *test = *state;
    bench_score = test->score;
    check_case(&test->item, false);
    if (test->item.declare) check_case(&test->item, true);
}

static void test_every_row(void **state) {
    (void)state;
    const char *fault = op_rows_fault(OPS, OP_COUNT, OP_CASES);
    if (fault) fail_msg("%s", fault);
}

/* Without training, dropout does nothing and adds no node. */
static void test_dropout_when_not_training(void **state) {
    (void)state;
    static const uint32_t KEYS[] = {1, 2};
    ParamSet *params = params_new();
    params_allocate(params);
    Tape *tape = tape_new(params, true);
    Tensor *x = tape_tensor_zeroed(tape, 2, 3);
    assert_ptr_equal(op_dropout(tape, x, 0.5, 1, KEYS), x);
    tape->training = true;
    assert_ptr_equal(op_dropout(tape, x, 0, 1, KEYS), x);
    assert_null(tape->last);
    assert_ptr_not_equal(op_dropout(tape, x, 0.5, 1, KEYS), x);
    tape_free(tape);
    params_free(params);
}

/* These scores do not depend on the query. */
static bool asks_nothing(const AttentionScore *score) {
    return strcmp(score->name, "sum") == 0 || strcmp(score->name, "none") == 0;
}

/* Adds the tests of a case to `list` unless NULL; returns their number. */
static int add_tests(const OpCase *item, TestCase *list) {
    bool repeated = item->flags & CASE_EVERY_SCORE;
    int count = repeated ? ATTENTION_SCORE_COUNT : 1;
    for (int i = 0; i < count && list; i++) {
        TestCase *test = &list[i];
        *test = (TestCase){.item = *item, .score = i};
        snprintf(test->name, sizeof test->name, "%s%s%s", item->name, repeated ? ", " : "",
                 repeated ? ATTENTION_SCORES[i].name : "");
        test->item.name = test->name;
        if (repeated && asks_nothing(&ATTENTION_SCORES[i])) test->item.flags |= CASE_MAY_VANISH;
    }
    return count;
}

int main(void) {
    int count = 0;
    for (int t = 0; OP_CASES[t]; t++)
        for (const OpCase *item = OP_CASES[t]; item->name; item++) count += add_tests(item, NULL);
    TestCase *cases = mem_alloc((size_t)count, sizeof *cases), *next = cases;
    for (int t = 0; OP_CASES[t]; t++)
        for (const OpCase *item = OP_CASES[t]; item->name; item++) next += add_tests(item, next);
    kern_select();
    struct CMUnitTest tests[count + 2], *test = tests;
    *test++ = (struct CMUnitTest)cmocka_unit_test(test_every_row);
    *test++ = (struct CMUnitTest)cmocka_unit_test(test_dropout_when_not_training);
    for (int i = 0; i < count; i++)
        *test++ = (struct CMUnitTest){cases[i].name, test_case, NULL, NULL, &cases[i]};
    int failed = cmocka_run_group_tests_name("gradients of ops", tests, NULL, NULL);
    mem_free(cases);
    return failed;
}
