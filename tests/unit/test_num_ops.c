/* test_num_ops.c - what ops compute: selections, joins and means exactly; the loss in several blocks of rows. Gradient checks
 * see only that forward and backward belong together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/rng.h"
#include "num/kern.h"
#include "num/ops.h"

static ParamSet *params;
static Tape *tape;
static const Param *table, *output, *bias;
enum { TOKENS = 6, WIDTH = 5, CLASSES = 9 };

static int set_up(void **state) {
    (void)state;
    kern_select();
    params = params_new();
    table = params_add(params, "table", TOKENS, WIDTH, INIT_NORMAL, 1, PACK_NONE);
    output = params_add(params, "output", CLASSES, WIDTH, INIT_NORMAL, 1, PACK_OUTPUT);
    bias = params_add(params, "bias", 1, CLASSES, INIT_NORMAL, 1, PACK_NONE);
    params_initialize(params, 1);
    tape = tape_new(params, false);
    return 0;
}
static int tear_down(void **state) {
    (void)state;
    tape_free(tape);
    params_free(params);
    return 0;
}

static Tensor *numbers(int rows, int columns, uint64_t seed) {
    Tensor *x = tape_tensor(tape, rows, columns);
    Rng rng = rng_new(seed);
    for (size_t i = 0; i < tensor_size(x); i++) x->data[i] = (real)(2 * rng_uniform(&rng) - 1);
    return x;
}

static void assert_row(const Tensor *x, int row, const real *expected, int from, int columns) {
    assert_memory_equal(tensor_row(x, row) + from, expected, (size_t)columns * sizeof(real));
}

static void test_selections(void **state) {
    (void)state;
    static const int INDEX[] = {3, -1, 0, 3};
    static const real NOTHING[WIDTH] = {0};
    Tensor *x = numbers(4, WIDTH, 1);
    Tensor *gathered = op_gather(tape, x, INDEX, 4), *embedded = op_embedding(tape, table, INDEX, 4);
    for (int r = 0; r < 4; r++) {
        assert_row(gathered, r, INDEX[r] < 0 ? NOTHING : tensor_row(x, INDEX[r]), 0, WIDTH);
        assert_row(embedded, r, INDEX[r] < 0 ? NOTHING : param_data(params, table) + INDEX[r] * WIDTH, 0,
                   WIDTH);
    }
    Tensor *y = numbers(4, 3, 2), *both = op_concat(tape, x, y);
    assert_int_equal(both->columns, WIDTH + 3);
    for (int r = 0; r < 4; r++) {
        assert_row(both, r, tensor_row(x, r), 0, WIDTH);
        assert_row(both, r, tensor_row(y, r), WIDTH, 3);
    }
    Tensor *sum = op_add(tape, x, gathered);
    for (size_t i = 0; i < tensor_size(x); i++) assert_true(sum->data[i] == x->data[i] + gathered->data[i]);
}

static void test_means(void **state) {
    (void)state;
    static const int START[] = {0, 1, 4, 6};
    Tensor *x = numbers(6, WIDTH, 3), *means = op_segment_mean(tape, x, START, 3);
    for (int s = 0; s < 3; s++)
        for (int c = 0; c < WIDTH; c++) {
            double mean = 0;
            for (int r = START[s]; r < START[s + 1]; r++)
                mean += (double)tensor_row(x, r)[c] / (START[s + 1] - START[s]);
            assert_true(fabs((double)tensor_row(means, s)[c] - mean) <= 1e-6);
        }
}

/* Each row sees its own span only: other keys and values may be anything. */
static void test_spans(void **state) {
    (void)state;
    static const int FIRST[] = {2, 0, 5}, LENGTH[] = {3, 2, 0};
    const Spans *spans = spans_new(tape, FIRST, LENGTH, 3);
    assert_int_equal(spans->total, 5);
    Tensor *scores = numbers(1, 5, 4), *values = numbers(6, WIDTH, 5);
    memset(tensor_row(values, 5), 0xFF, WIDTH * sizeof(real)); /* NaN */
    Tensor *weights = op_masked_softmax(tape, scores, spans),
           *context = op_context(tape, weights, values, spans);
    for (int r = 0, k = 0; r < 3; k += LENGTH[r++]) {
        double total = 0, sum = 0;
        for (int i = 0; i < LENGTH[r]; i++) total += exp((double)scores->data[k + i]);
        for (int c = 0; c < WIDTH; c++) {
            double expected = 0;
            for (int i = 0; i < LENGTH[r]; i++)
                expected +=
                    exp((double)scores->data[k + i]) / total * (double)tensor_row(values, FIRST[r] + i)[c];
            assert_true(fabs((double)tensor_row(context, r)[c] - expected) <= 1e-6);
        }
        for (int i = 0; i < LENGTH[r]; i++) sum += (double)weights->data[k + i];
        if (LENGTH[r]) assert_true(fabs(sum - 1) <= 1e-6);
    }
}

/* Masks follow the row's key and the site, not the row's place. */
static void test_dropout(void **state) {
    (void)state;
    static const uint32_t KEYS[] = {5, 9, 5}, TURNED[] = {9, 5, 9};
    enum { N = 40 };
    tape->training = true;
    tape->dropout_key = 3;
    Tensor *ones = tape_tensor(tape, 3, N);
    for (size_t i = 0; i < tensor_size(ones); i++) ones->data[i] = 1;
    Tensor *a = op_dropout(tape, ones, 0.5, 1, KEYS), *b = op_dropout(tape, ones, 0.5, 1, TURNED),
           *other_site = op_dropout(tape, ones, 0.5, 2, KEYS);
    assert_row(a, 0, tensor_row(a, 2), 0, N);
    assert_row(a, 0, tensor_row(b, 1), 0, N);
    assert_row(a, 1, tensor_row(b, 0), 0, N);
    assert_memory_not_equal(tensor_row(a, 0), tensor_row(a, 1), N * sizeof(real));
    assert_memory_not_equal(tensor_row(a, 0), tensor_row(other_site, 0), N * sizeof(real));
    tape->dropout_key = 4;
    Tensor *other_key = op_dropout(tape, ones, 0.5, 1, KEYS);
    assert_memory_not_equal(tensor_row(a, 0), tensor_row(other_key, 0), N * sizeof(real));
    tape->training = false;
}

static double row_loss(const real *x, int target, double smoothing, double *nll) {
    double logits[CLASSES], total = 0, mean = 0;
    for (int v = 0; v < CLASSES; v++) {
        logits[v] = (double)param_data(params, bias)[v];
        for (int i = 0; i < WIDTH; i++)
            logits[v] += (double)x[i] * (double)param_data(params, output)[v * WIDTH + i];
        total += exp(logits[v]);
        mean += logits[v] / CLASSES;
    }
    *nll = log(total) - logits[target];
    return (1 - smoothing) * *nll + smoothing * (log(total) - mean);
}

/* With fewer, exactly as many, and more rows than one block has (256), packed and not. */
static void test_loss(void **state) {
    (void)state;
    static const int ROWS[] = {1, 255, 256, 257, 600};
    for (int packed = 0; packed < 2; packed++) {
        if (packed) params_pack_all(params);
        for (int c = 0; c < 5; c++) {
            Tensor *x = numbers(ROWS[c], WIDTH, 6);
            int *targets = tape_alloc(tape, (size_t)ROWS[c] * sizeof *targets);
            double loss = 0, likelihood = 0, nll;
            for (int r = 0; r < ROWS[c]; r++) {
                targets[r] = r * 7 % CLASSES;
                loss += row_loss(tensor_row(x, r), targets[r], 0.2, &nll);
                likelihood += nll;
            }
            CrossEntropy result;
            Tensor *y = op_cross_entropy(tape, x, output, bias, targets, 0.2, 0.5, &result);
            assert_true(fabs(result.loss - loss) <= 1e-6 * loss);
            assert_true(fabs(result.likelihood - likelihood) <= 1e-6 * likelihood);
            assert_true(fabs((double)y->data[0] - 0.5 * loss) <= 1e-6 * loss);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selections), cmocka_unit_test(test_means), cmocka_unit_test(test_spans),
        cmocka_unit_test(test_dropout),    cmocka_unit_test(test_loss),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
