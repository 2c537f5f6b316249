/* optimizer.c - reduce, clip, update, average: as plain loops do, for any number of threads;
 * schedules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "kern/kern.h"
#include "train/optimizer.h"

enum { SHARDS = 3, UPDATES = 4 };

/* Larger than one chunk of the passes (32,768 numbers), and not a multiple of a vector. */
static ParamSet *make_params(void) {
    ParamSet *params = params_new();
    params_add(params, "first", 123, 411, INIT_NORMAL, 1, PANELS_AFFINE);
    params_add(params, "second", 1, 7, INIT_ONE, 1, PANELS_NONE);
    params_add(params, "third", 200, 101, INIT_UNIFORM, 0.5, PANELS_OUTPUT);
    params_initialize(params, 3);
    return params;
}

static void fill_gradients(const ParamSet *params, real *const *grads, int update, double scale) {
    for (int s = 0; s < SHARDS; s++)
        for (int i = 0; i < params->count; i++) {
            const Param *p = params->items[i];
            Rng rng = rng_new(rng_key(9, (uint64_t)update, (uint64_t)s, (uint64_t)i));
            for (size_t j = 0; j < (size_t)p->rows * (size_t)p->columns; j++)
                grads[s][p->offset + j] = (real)(scale * (rng_uniform(&rng) - 0.5));
        }
}

typedef struct {
    ParamSet *params;
    Workers *workers;
    Optimizer *optimizer;
    real *grads[SHARDS];
} Bench;

static const SumNode LEAVES[SHARDS] = {{0, 0}, {0, 1}, {0, 2}};

static Bench bench_new(int threads, bool average) {
    Bench bench = {.params = make_params(), .workers = workers_new(threads)};
    bench.optimizer = optimizer_new(bench.params, bench.workers, WEIGHT_BF16X3, average);
    for (int s = 0; s < SHARDS; s++) bench.grads[s] = params_block(bench.params);
    return bench;
}
static void bench_free(Bench *bench) {
    for (int s = 0; s < SHARDS; s++) mem_free(bench->grads[s]);
    optimizer_free(bench->optimizer);
    workers_free(bench->workers);
    params_free(bench->params);
}

static const TrainOptions OPTIONS = {
    .beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-8, .clip = 1, .weight_decay = 0.1};

static Status update(Bench *b, const TrainOptions *options, double *norm) {
    const PartialSums grads = {SHARDS, SHARDS, LEAVES, b->grads};
    return optimizer_update(b->optimizer, &grads, options, 0.01, 0.25, norm);
}

static void test_against_plain_loops(void **state) {
    (void)state;
    Bench b = bench_new(2, true);
    size_t n = b.params->size;
    double *p = mem_alloc(5 * n, sizeof *p), *m = p + n, *v = m + n, *average = v + n, *g = average + n;
    for (size_t i = 0; i < n; i++) p[i] = average[i] = (double)b.params->data[i];
    for (int t = 1; t <= UPDATES; t++) {
        fill_gradients(b.params, b.grads, t, t == 2 ? 1e-4 : 1); /* one of them needs no clipping */
        double square = 0, norm;
        for (size_t i = 0; i < n; i++) {
            g[i] = 0;
            for (int s = 0; s < SHARDS; s++) g[i] += (double)b.grads[s][i];
            square += g[i] * g[i];
        }
        double scale = sqrt(square) > 1 ? 1 / (sqrt(square) + 1e-6) : 1;
        assert_true((t == 2) == (scale == 1));
        assert_int_equal(update(&b, &OPTIONS, &norm), STATUS_OK);
        assert_true(fabs(norm - sqrt(square)) <= 1e-5 * norm);
        for (size_t i = 0; i < n; i++) {
            m[i] = 0.9 * m[i] + 0.1 * scale * g[i];
            v[i] = 0.98 * v[i] + 0.02 * scale * g[i] * scale * g[i];
            p[i] -= 0.01 * m[i] / (1 - pow(0.9, t)) / (sqrt(v[i] / (1 - pow(0.98, t))) + 1e-8) +
                    0.01 * 0.1 * p[i];
            average[i] += 0.25 * (p[i] - average[i]);
            assert_true(fabs((double)b.params->data[i] - p[i]) <= 1e-4);
            assert_true(fabs((double)b.optimizer->average[i] - average[i]) <= 1e-4);
        }
        for (int s = 0; s < SHARDS; s++)
            for (size_t i = 0; i < n; i++) assert_true(b.grads[s][i] == 0);
    }
    assert_int_equal(b.optimizer->updates, UPDATES);
    mem_free(p);
    bench_free(&b);
}

static void test_threads(void **state) {
    (void)state;
    real *expected = NULL, *expected_average = NULL;
    for (int threads = 1; threads <= 4; threads++) {
        Bench b = bench_new(threads, true);
        double norm;
        for (int t = 1; t <= UPDATES; t++) {
            fill_gradients(b.params, b.grads, t, 1);
            assert_int_equal(update(&b, &OPTIONS, &norm), STATUS_OK);
        }
        size_t bytes = b.params->size * sizeof(real);
        if (!expected) {
            expected = params_block(b.params);
            expected_average = params_block(b.params);
            memcpy(expected, b.params->data, bytes);
            memcpy(expected_average, b.optimizer->average, bytes);
        }
        assert_memory_equal(b.params->data, expected, bytes);
        assert_memory_equal(b.optimizer->average, expected_average, bytes);
        bench_free(&b);
    }
    mem_free(expected);
    mem_free(expected_average);
}

/* The message names the parameter and the update, and no weight changes. */
static void test_gradient_that_is_not_finite(void **state) {
    (void)state;
    static const double POISON[] = {NAN, INFINITY, -INFINITY, 3e38};
    static const char *const NAMES[] = {"first", "second", "third"};
    for (int poison = 0; poison < 4; poison++)
        for (int name = 0; name < 3; name++) {
            Bench b = bench_new(2, true);
            double norm;
            fill_gradients(b.params, b.grads, 1, 1);
            assert_int_equal(update(&b, &OPTIONS, &norm), STATUS_OK);
            size_t bytes = b.params->size * sizeof(real);
            real *before = params_block(b.params);
            memcpy(before, b.params->data, bytes);
            const Param *p = params_find(b.params, NAMES[name]);
            b.grads[2][p->offset + 6] = (real)POISON[poison];
            assert_int_equal(update(&b, &OPTIONS, &norm), STATUS_DIVERGED);
            assert_non_null(strstr(status_message(), "update 2"));
            assert_non_null(strstr(status_message(), poison < 3 ? NAMES[name] : "norm"));
            assert_memory_equal(b.params->data, before, bytes);
            assert_int_equal(b.optimizer->updates, 1);
            mem_free(before);
            bench_free(&b);
        }
}

/* Detects a weight or an average that is not finite, in the first and in the last number. */
static void test_weights_that_are_not_finite(void **state) {
    (void)state;
    Bench b = bench_new(1, true);
    assert_int_equal(optimizer_check(b.optimizer), STATUS_OK);
    real *const blocks[] = {b.params->data, b.optimizer->average};
    const Param *third = params_find(b.params, "third");
    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < 200 * 101; j += 200 * 101 - 1) {
            real *x = &blocks[i][third->offset + j], old = *x;
            *x = i ? (real)NAN : (real)INFINITY;
            assert_int_equal(optimizer_check(b.optimizer), STATUS_DIVERGED);
            assert_non_null(strstr(status_message(), "'third'"));
            *x = old;
        }
    bench_free(&b);
}

/* Clipping 0 means none; without an average there is none; the packed copies are renewed. */
static void test_variants(void **state) {
    (void)state;
    Bench b = bench_new(1, false);
    const Param *first = params_find(b.params, "first");
    size_t packed_size = kern->weights[b.params->format].size(first->rows, first->columns);
    assert_non_null(first->packed);
    assert_non_null(first->packed_transpose);
    void *stale = mem_alloc(packed_size, 1);
    memcpy(stale, first->packed, packed_size);
    assert_null(b.optimizer->average);
    double norm;
    TrainOptions options = OPTIONS;
    options.clip = 0;
    fill_gradients(b.params, b.grads, 1, 1);
    assert_int_equal(update(&b, &options, &norm), STATUS_OK);
    assert_true(norm > 1);
    /* Adam's first step does not depend on the size of the gradient: the moment shows the clipping. */
    double largest = 0;
    for (size_t i = 0; i < b.params->size; i++) largest = fmax(largest, fabs((double)b.optimizer->m[i]));
    assert_true(largest > 0.1);
    assert_memory_not_equal(first->packed, stale, packed_size);
    optimizer_swap_average(b.optimizer); /* no effect without an average */
    mem_free(stale);
    bench_free(&b);
}

static void test_swap(void **state) {
    (void)state;
    Bench b = bench_new(2, true);
    double norm;
    fill_gradients(b.params, b.grads, 1, 1);
    assert_int_equal(update(&b, &OPTIONS, &norm), STATUS_OK);
    const Param *first = params_find(b.params, "first");
    const WeightProduct *product = &kern->weights[b.params->format];
    size_t size = product->size(first->rows, first->columns);
    real *weights = b.params->data, *average = b.optimizer->average;
    void *of_weights = mem_aligned(size, 1), *of_average = mem_aligned(size, 1);
    product->pack(first->rows, first->columns, weights + first->offset, false, 0, first->columns, of_weights);
    product->pack(first->rows, first->columns, average + first->offset, false, 0, first->columns, of_average);
    assert_memory_not_equal(of_weights, of_average, size);
    assert_memory_equal(first->packed, of_weights, size);
    optimizer_swap_average(b.optimizer);
    assert_ptr_equal(b.params->data, average);
    assert_memory_equal(first->packed, of_average, size);
    optimizer_swap_average(b.optimizer);
    assert_ptr_equal(b.params->data, weights);
    assert_ptr_equal(b.optimizer->average, average);
    assert_memory_equal(first->packed, of_weights, size);
    mem_free(of_weights);
    mem_free(of_average);
    bench_free(&b);
}

/* ---- schedules ---- */

static bool near(double a, double b) { return fabs(a - b) <= 1e-12; }

static void test_schedules(void **state) {
    (void)state;
    TrainOptions o = {.learning_rate = 0.2, .warmup = 100, .decay_factor = 0.5};
    static const int KINDS[] = {SCHEDULE_CONSTANT, SCHEDULE_INVERSE_SQRT, SCHEDULE_PLATEAU, SCHEDULE_LINEAR};
    for (int i = 0; i < 4; i++) { /* the same warm-up in all schedules, up to the full rate */
        o.schedule = KINDS[i];
        assert_true(near(optimizer_learning_rate(&o, 1, 0, 0), 0.002));
        assert_true(near(optimizer_learning_rate(&o, 50, 0, 0), 0.1));
        assert_true(near(optimizer_learning_rate(&o, 100, 0, 0), 0.2));
        o.warmup = 0;
        assert_true(near(optimizer_learning_rate(&o, 1, 0, 0), 0.2));
        o.warmup = 100;
    }
    o.schedule = SCHEDULE_CONSTANT;
    assert_true(near(optimizer_learning_rate(&o, 100000, 0.9, 5), 0.2));
    o.schedule = SCHEDULE_INVERSE_SQRT;
    assert_true(near(optimizer_learning_rate(&o, 400, 0.9, 5), 0.1));
    assert_true(near(optimizer_learning_rate(&o, 10000, 0.9, 5), 0.02));
    o.schedule = SCHEDULE_PLATEAU;
    assert_true(near(optimizer_learning_rate(&o, 400, 0.9, 0), 0.2));
    assert_true(near(optimizer_learning_rate(&o, 400, 0.9, 3), 0.025));
    o.schedule = SCHEDULE_LINEAR;
    for (int update = 100; update <= 1000; update++) /* of 1000: all of it at first, then equal steps to 0 */
        assert_true(
            near(optimizer_learning_rate(&o, update, (update - 1) / 1000.0, 3), 0.2 * (1001 - update) / 901));
    assert_true(near(optimizer_learning_rate(&o, 400, 0, 0), 0.2)); /* a training without an end */
    assert_true(near(optimizer_learning_rate(&o, 400, 1, 0), 0));
    assert_true(near(optimizer_learning_rate(&o, 400, 1.5, 0), 0));
    o.warmup = 0;
    assert_true(near(optimizer_learning_rate(&o, 400, 0.25, 3), 0.15));
}

static void test_averaging(void **state) {
    (void)state;
    TrainOptions o = {.average = 0.01};
    assert_true(near(optimizer_average_rate(&o, 0), 0.9));
    assert_true(near(optimizer_average_rate(&o, 8), 0.5));
    assert_true(near(optimizer_average_rate(&o, 100000), 0.01));
    for (long t = 1; t < 2000; t++)
        assert_true(optimizer_average_rate(&o, t) <= optimizer_average_rate(&o, t - 1));
    o.average = 0;
    assert_true(optimizer_average_rate(&o, 5) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_plain_loops),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_gradient_that_is_not_finite),
        cmocka_unit_test(test_weights_that_are_not_finite),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_swap),
        cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_averaging),
    };
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
