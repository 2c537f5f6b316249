/* params.c - parameters: layout, initial values by name, packed copies; tapes used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "kern/kern.h"
#include "autograd/ops.h"
#include "unit/model_variants.h"

static const struct {
    const char *name;
    int rows, columns;
    Init init;
    double scale;
} SHAPES[] = {{"a.weight", 30, 50, INIT_GLOROT, 0},  {"a.bias", 1, 50, INIT_ZERO, 0},
              {"gain", 1, 7, INIT_ONE, 0},           {"table", 200, 33, INIT_NORMAL, 0.25},
              {"b.weight", 30, 50, INIT_GLOROT, 0},  {"u", 90, 11, INIT_UNIFORM, 2},
              {"sharpness", 3, 5, INIT_CONSTANT, 8}, {"gates", 2, 12, INIT_FORGET, 0}};
enum { COUNT = sizeof SHAPES / sizeof *SHAPES };

/* In the order of the list, or against it. */
static ParamSet *make(uint64_t seed, bool reversed) {
    ParamSet *params = params_new();
    for (int i = 0; i < COUNT; i++) {
        int s = reversed ? COUNT - 1 - i : i;
        params_add(params, SHAPES[s].name, SHAPES[s].rows, SHAPES[s].columns, SHAPES[s].init, SHAPES[s].scale,
                   PANELS_NONE);
    }
    params_allocate(params);
    params_initialize(params, seed);
    return params;
}

static size_t size_of(const Param *p) { return (size_t)p->rows * (size_t)p->columns; }

static void test_layout(void **state) {
    (void)state;
    ParamSet *params = make(1, false);
    size_t end = 0;
    assert_int_equal(params->count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        const Param *p = params_find(params, SHAPES[i].name);
        assert_non_null(p);
        assert_ptr_equal(p, params->items[i]);
        assert_int_equal(p->offset % 16, 0);
        assert_true(p->offset >= end);
        end = p->offset + size_of(p);
        for (size_t gap = end; gap < (end + 15) / 16 * 16; gap++) assert_true(params->data[gap] == 0);
    }
    assert_true(params->size >= end);
    assert_int_equal((uintptr_t)params->data % 64, 0);
    assert_null(params_find(params, "a"));
    assert_null(params_find(params, "a.weight2"));
    real *block = params_block(params);
    for (size_t i = 0; i < params->size; i++) assert_true(block[i] == 0);
    mem_free(block);
    params_free(params);
}

static void test_initial_values_by_name(void **state) {
    (void)state;
    ParamSet *one = make(5, false), *two = make(5, true), *other = make(6, false);
    for (int i = 0; i < COUNT; i++) {
        const Param *p = params_find(one, SHAPES[i].name), *q = params_find(two, SHAPES[i].name);
        size_t bytes = size_of(p) * sizeof(real);
        assert_memory_equal(param_data(one, p), param_data(two, q), bytes);
        Init init = SHAPES[i].init;
        bool constant = init == INIT_ZERO || init == INIT_ONE || init == INIT_CONSTANT || init == INIT_FORGET;
        bool same = memcmp(param_data(one, p), param_data(other, p), bytes) == 0;
        assert_true(same == constant);
    }
    const Param *a = params_find(one, "a.weight"), *b = params_find(one, "b.weight");
    assert_memory_not_equal(param_data(one, a), param_data(one, b), size_of(a) * sizeof(real));
    params_free(one);
    params_free(two);
    params_free(other);
}

static void test_distributions(void **state) {
    (void)state;
    ParamSet *params = make(9, false);
    for (int i = 0; i < COUNT; i++) {
        const Param *p = params->items[i];
        const real *x = param_data(params, p);
        double n = (double)size_of(p), mean = 0, square = 0, largest = 0;
        for (size_t j = 0; j < size_of(p); j++) {
            mean += (double)x[j] / n;
            square += (double)x[j] * (double)x[j] / n;
            largest = fmax(largest, fabs((double)x[j]));
        }
        double limit = p->init == INIT_GLOROT ? sqrt(6.0 / (p->rows + p->columns)) : p->scale;
        if (p->init == INIT_ZERO) assert_true(largest == 0);
        if (p->init == INIT_ONE)
            assert_true(fabs(mean - 1) < 1e-12 && fabs(square - 1) < 1e-12 && largest == 1);
        for (size_t j = 0; j < size_of(p); j++) {
            if (p->init == INIT_CONSTANT) assert_true(x[j] == 8);
            if (p->init == INIT_FORGET) assert_true(x[j] == (j % 12 >= 3 && j % 12 < 6 ? 1 : 0));
        }
        if (p->init == INIT_GLOROT || p->init == INIT_UNIFORM) {
            assert_true(largest <= limit * 1.000001 && largest > 0.95 * limit);
            assert_true(fabs(square - limit * limit / 3) < 0.1 * limit * limit);
            assert_true(fabs(mean) < 0.1 * limit);
        }
        if (p->init == INIT_NORMAL) {
            assert_true(fabs(sqrt(square) - limit) < 0.03 * limit && fabs(mean) < 0.05 * limit);
            assert_true(largest > 3 * limit && largest < 6 * limit);
        }
    }
    params_free(params);
}

/* Packed copies give the same products, and only the declared ones are made. */
static void test_packing(void **state) {
    (void)state;
    enum { ROWS = 3, IN = 37, OUT = 70 };
    for (int backward = 0; backward < 2; backward++) {
        ParamSet *params = params_new();
        Param *affine = params_add(params, "affine", IN, OUT, INIT_GLOROT, 0, PANELS_AFFINE);
        Param *output = params_add(params, "output", OUT, IN, INIT_GLOROT, 0, PANELS_OUTPUT);
        Param *table = params_add(params, "table", 5, 5, INIT_NORMAL, 1, PANELS_NONE);
        params_allocate(params);
        params_initialize(params, 3);
        params->packs_backward = backward;
        Tape *tape = tape_new(params, false);
        Tensor *x = tape_tensor(tape, ROWS, IN);
        for (size_t i = 0; i < tensor_size(x); i++) x->data[i] = (real)(0.01 * (double)(i % 50) - 0.2);
        Tensor *plain[2] = {op_affine(tape, x, affine, NULL, NULL, false),
                            op_affine(tape, x, output, NULL, NULL, true)};
        params_pack_all(params);
        assert_true(affine->packed && output->packed_transpose);
        assert_true((affine->packed_transpose != NULL) == backward && (output->packed != NULL) == backward);
        assert_true(!table->packed && !table->packed_transpose);
        Tensor *packed[2] = {op_affine(tape, x, affine, NULL, NULL, false),
                             op_affine(tape, x, output, NULL, NULL, true)};
        for (int t = 0; t < 2; t++)
            for (size_t i = 0; i < tensor_size(plain[t]); i++)
                assert_true(fabs((double)(plain[t]->data[i] - packed[t]->data[i])) <= 1e-6);
        param_data(params, affine)[0] += 1; /* a stale copy is renewed */
        params_pack_all(params);
        Tensor *renewed = op_affine(tape, x, affine, NULL, NULL, false);
        assert_true(fabs((double)(renewed->data[0] - packed[0]->data[0] - x->data[0])) <= 1e-6);
        tape_free(tape);
        params_free(params);
    }
}

/* Several threads make the same copies as one call for each parameter. */
static void test_packing_by_workers(void **state) {
    (void)state;
    enum { IN = 300, OUT = 1100 };
    ParamSet *params = params_new();
    params_add(params, "affine", IN, OUT, INIT_GLOROT, 0, PANELS_AFFINE);
    params_add(params, "output", OUT, IN, INIT_GLOROT, 0, PANELS_OUTPUT);
    params_initialize(params, 5);
    params->packs_backward = true;
    Workers *workers = workers_new(3);
    params_pack_parallel(params, workers);
    const WeightProduct *product = &kern->weights[params->format];
    for (int i = 0; i < 2 * params->count; i++) {
        const Param *p = params->items[i / 2];
        int K = i % 2 ? p->columns : p->rows, N = i % 2 ? p->rows : p->columns;
        size_t size = product->size(K, N);
        void *whole = mem_aligned(size, 1);
        product->pack(K, N, param_data(params, p), i % 2, 0, N, whole);
        assert_memory_equal(i % 2 ? p->packed_transpose : p->packed, whole, size);
        mem_free(whole);
    }
    workers_free(workers);
    params_free(params);
}

/* ---- tapes ---- */

static double run(const Seq2Seq *model, Tape *tape, uint64_t key, real *grads) {
    memset(grads, 0, seq2seq_params(model)->size * sizeof(real));
    tape_reset(tape);
    tape->grads = grads;
    TrainingBatch batch = variant_batch(key);
    double loss = seq2seq_loss(model, tape, &batch, 0.1, 0.1).loss;
    tape_backward(tape);
    return loss;
}

/* A tape that is used again, for the same or another graph, gives the same bytes as a new one. */
static void test_tape_reuse(void **state) {
    (void)state;
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++) {
        Seq2Seq *model = variant_new(v, "model.dropout_embedding=0.3 model.dropout_output=0.3", 2);
        ParamSet *params = seq2seq_params(model);
        params->packs_backward = true;
        params_pack_all(params);
        real *first = params_block(params), *later = params_block(params);
        Tape *tape = tape_new(params, true);
        double loss = run(model, tape, 5, first);
        for (int i = 0; i < 3; i++) {
            assert_true(run(model, tape, 5, later) == loss);
            assert_memory_equal(first, later, params->size * sizeof(real));
            assert_true(run(model, tape, 6, later) != loss);
        }
        size_t used = arena_used(tape->arena);
        tape_reset(tape);
        assert_int_equal(arena_used(tape->arena), 0);
        assert_null(tape->last);
        run(model, tape, 6, later);
        assert_int_equal(arena_used(tape->arena), used);
        mem_free(first);
        mem_free(later);
        tape_free(tape);
        seq2seq_free(model);
    }
}

/* Gradients are added to the block: two runs give twice the gradient. */
static void test_gradients_add_up(void **state) {
    (void)state;
    Seq2Seq *model = variant_new(&MODEL_VARIANTS[0], NULL, 2);
    ParamSet *params = seq2seq_params(model);
    Tape *tape = tape_new(params, true);
    real *once = params_block(params), *twice = params_block(params);
    run(model, tape, 0, once);
    run(model, tape, 0, twice);
    TrainingBatch batch = variant_batch(0);
    tape_reset(tape);
    seq2seq_loss(model, tape, &batch, 0.1, 0.1);
    tape_backward(tape);
    for (size_t i = 0; i < params->size; i++)
        assert_true(fabs((double)(twice[i] - 2 * once[i])) <= 1e-6 * fmax(1, fabs((double)twice[i])));
    mem_free(once);
    mem_free(twice);
    tape_free(tape);
    seq2seq_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_initial_values_by_name),
        cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_packing),
        cmocka_unit_test(test_packing_by_workers),
        cmocka_unit_test(test_tape_reuse),
        cmocka_unit_test(test_gradients_add_up),
    };
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
