/* ops.c - results of ops: selections, joins and means exactly; the loss in several blocks of rows.
 * (Gradient checks only test that backward matches forward.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "autograd/activations.h"
#include "unit/tape_fixture.h"

static const Param *table, *output, *bias;
enum { TOKENS = 6, WIDTH = 5, CLASSES = 9 };

static int set_up(void **state) {
    (void)state;
    params = params_new();
    table = params_add(params, "table", TOKENS, WIDTH, INIT_NORMAL, 1, PANELS_NONE);
    output = params_add(params, "output", CLASSES, WIDTH, INIT_NORMAL, 1, PANELS_OUTPUT);
    bias = params_add(params, "bias", 1, CLASSES, INIT_NORMAL, 1, PANELS_NONE);
    tape_set_up();
    return 0;
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

static void test_pointwise(void **state) {
    (void)state;
    Tensor *x = numbers(3, 8, 4), *scaled = op_scale(tape, x, -2), *gated = op_glu(tape, x),
           *positive = op_relu(tape, op_scale(tape, x, 1), 0, 0, NULL),
           *sum = op_residual(tape, x, scaled, 0, 0, NULL);
    assert_int_equal(gated->rows, 3);
    assert_int_equal(gated->columns, 4);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 8; c++) {
            real number = tensor_row(x, r)[c];
            assert_true(tensor_row(positive, r)[c] == (number > 0 ? number : 0));
            assert_true(tensor_row(sum, r)[c] == -number);
            assert_true(tensor_row(scaled, r)[c] == -2 * number);
            if (c >= 4) continue;
            double gate = 1 / (1 + exp(-(double)tensor_row(x, r)[c + 4]));
            assert_true(fabs((double)tensor_row(gated, r)[c] - (double)number * gate) <= 1e-6);
        }
}

/* Unit rows and squares; a row of zeros stays one, and so does a row whose square is too small to be a
 * number. */
static void test_lengths(void **state) {
    (void)state;
    Tensor *x = numbers(4, WIDTH, 5);
    for (int c = 0; c < WIDTH; c++) tensor_row(x, 1)[c] = 0, tensor_row(x, 2)[c] = (real)1e-30;
    Tensor *unit = op_unit_rows(tape, x), *half = op_half_square(tape, x);
    assert_int_equal(half->columns, 1);
    for (int r = 0; r < 4; r++) {
        double square = 0;
        for (int c = 0; c < WIDTH; c++) square += pow((double)tensor_row(x, r)[c], 2);
        assert_true(fabs((double)half->data[r] + square / 2) <= 1e-6);
        for (int c = 0; c < WIDTH; c++) {
            double expected = r == 1 || r == 2 ? 0 : (double)tensor_row(x, r)[c] / sqrt(square);
            assert_true(fabs((double)tensor_row(unit, r)[c] - expected) <= 1e-6);
        }
    }
}

/* A forget gate that is open keeps the memory; an output gate that is closed hides it. */
static void test_lstm(void **state) {
    (void)state;
    enum { H = 2 };
    static const real GATES[4] = {-30, 30, 1, -30}; /* i, f, g, o */
    Tensor *gx = tape_tensor(tape, 2, 4 * H), *gh = tape_tensor_zeroed(tape, 2, 4 * H), *c = numbers(2, H, 6);
    for (int q = 0; q < 4; q++)
        for (int i = 0; i < H; i++) {
            tensor_row(gx, 0)[q * H + i] = GATES[q];
            tensor_row(gx, 1)[q * H + i] = -GATES[q];
        }
    Tensor *next, *h = op_lstm(tape, gx, gh, c, &next);
    for (int i = 0; i < H; i++) {
        assert_true(fabs((double)(tensor_row(next, 0)[i] - tensor_row(c, 0)[i])) <= 1e-6);
        assert_true(fabs((double)tensor_row(h, 0)[i]) <= 1e-6);
        assert_true(fabs((double)tensor_row(next, 1)[i] - tanh(-1)) <= 1e-6);
        assert_true(fabs((double)tensor_row(h, 1)[i] - tanh(tanh(-1))) <= 1e-6);
    }
}

/* The gradient of any range of rows is zero at first, then holds the sums. The first user of a range may
 * set it. */
static void test_gradients_begin(void **state) {
    (void)state;
    Tape *recording = tape_new(params, true);
    Tensor *x = tape_tensor(recording, 6, 4), *y = tape_reshape(recording, x, 8, 3),
           *sharing = tape_tensor_sharing(recording, x), *row[6];
    for (int i = 0; i < 24; i++) x->grad[i] = (real)NAN;
    for (int r = 0; r < 6; r++) row[r] = tape_rows(recording, x, r, 1);
    assert_true(tensor_gradient_is_zero(x) && tensor_gradient_is_zero(row[2]));
    tensor_gradient(row[2])[1] += 5;
    assert_false(tensor_gradient_is_zero(x) || tensor_gradient_is_zero(row[2]));
    bool is_zero;
    for (int r = 4; r >= 1; r -= 3) { /* after row 3 and before row 2 */
        assert_true(tensor_gradient_is_zero(row[r]));
        real *d = tensor_gradient_begin(row[r], &is_zero);
        assert_true(is_zero && d == x->grad + 4 * r);
        for (int i = 0; i < 4; i++) d[i] = (real)r;
    }
    assert_false(tensor_gradient_is_zero(row[3])); /* between two rows that are not zero */
    tensor_gradient_begin(row[1], &is_zero);
    assert_false(is_zero);
    for (int i = 0; i < 4; i++) assert_true(isnan(x->grad[i]) && isnan(x->grad[20 + i])); /* unused rows */
    const Tensor *all[] = {x, y, sharing};
    for (int t = 0; t < 3; t++) {
        const real *d = tensor_gradient_begin(all[t], &is_zero);
        assert_false(is_zero);
        for (int i = 0; i < 24; i++)
            assert_true(d[i] == (i == 9 ? 5 : i / 4 == 1 || i / 4 == 4 ? (real)(i / 4) : 0));
    }
    Tensor *whole = tape_tensor(recording, 2, 3);
    tensor_gradient_begin(whole, &is_zero);
    assert_true(is_zero && !tensor_gradient_is_zero(whole));
    assert_null(tensor_gradient(tape_rows(tape, numbers(4, 6, 7), 0, 2)));
    tape_free(recording);
}

/* Another shape is the same memory; without recording there is no gradient. */
static void test_shapes(void **state) {
    (void)state;
    Tensor *x = numbers(4, 6, 7), *y = tape_reshape(tape, x, 8, 3);
    assert_ptr_equal(y->data, x->data);
    assert_null(y->grad);
    assert_int_equal(y->rows, 8);
    assert_int_equal(y->columns, 3);
    Tape *recording = tape_new(params, true);
    x = tape_tensor(recording, 4, 6);
    y = tape_reshape(recording, x, 2, 12);
    assert_non_null(y->grad);
    assert_ptr_equal(y->grad, x->grad);
    tape_free(recording);
}

/* Slices are adjacent in the buffer of their sequence; other tensors are not, whatever their
 * rows. */
static void test_steps(void **state) {
    (void)state;
    enum { STEPS = 3, ROWS = 2 };
    Tensor *first = NULL, *own;
    tape_sequence_begin(tape, STEPS * ROWS);
    for (int t = 0; t < STEPS; t++) {
        tape_step_begin(tape, t * ROWS, ROWS);
        own = tape_tensor(tape, ROWS, WIDTH);
        Tensor *slice = tape_step_tensor(tape, ROWS, WIDTH);
        if (!t) first = slice;
        assert_ptr_equal(slice->data, tensor_row(first, t * ROWS));
        assert_true(own->data < first->data || own->data >= tensor_row(first, STEPS * ROWS));
        tape_step_end(tape);
    }
    Tensor *whole = tape_all_steps(tape, first);
    assert_ptr_equal(whole->data, first->data);
    assert_int_equal(whole->rows, STEPS * ROWS);
    assert_int_equal(tape_step_tensor(tape, 1, WIDTH)->rows,
                     1); /* a range between steps is an ordinary tensor */
    tape_sequence_end(tape);
}

/* Masks depend on the row's key and the stream, not on the row's position. */
static void test_dropout(void **state) {
    (void)state;
    static const uint32_t KEYS[] = {5, 9, 5}, TURNED[] = {9, 5, 9};
    enum { N = 40 };
    tape->training = true;
    tape->dropout_key = 3;
    Tensor *ones = tape_tensor(tape, 3, N);
    for (size_t i = 0; i < tensor_size(ones); i++) ones->data[i] = 1;
    Tensor *a = op_dropout(tape, ones, 0.5, 1, KEYS), *b = op_dropout(tape, ones, 0.5, 1, TURNED),
           *other_stream = op_dropout(tape, ones, 0.5, 2, KEYS);
    assert_row(a, 0, tensor_row(a, 2), 0, N);
    assert_row(a, 0, tensor_row(b, 1), 0, N);
    assert_row(a, 1, tensor_row(b, 0), 0, N);
    assert_memory_not_equal(tensor_row(a, 0), tensor_row(a, 1), N * sizeof(real));
    assert_memory_not_equal(tensor_row(a, 0), tensor_row(other_stream, 0), N * sizeof(real));
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

/* With fewer, exactly as many, and more rows than a block (256), packed and not packed. */
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
            CrossEntropy result = {0};
            const LossOptions options = {output, bias, .label_smoothing = 0.2, .scale = 0.5};
            Tensor *y = op_cross_entropy(tape, x, targets, &options, &result);
            assert_true(fabs(result.loss - loss) <= 1e-6 * loss);
            assert_true(fabs(result.likelihood - likelihood) <= 1e-6 * likelihood);
            assert_true(fabs((double)y->data[0] - 0.5 * loss) <= 1e-6 * loss);
        }
    }
}

/* Grows by one key each step: all rows are there, and the op seldom copies them. */
static void test_notes(void **state) {
    (void)state;
    enum { STEPS = 300, MOVES = 40 };
    Activations activations = {0};
    Tensor *x = numbers(STEPS, STEPS, 3);
    const real *last = NULL;
    int moves = 0;
    tape->activations = &activations;
    for (int t = 0; t < STEPS; t++) {
        int first = 0, length = t + 1;
        Tensor row = {.rows = 1, .columns = length, .data = tensor_row(x, t)};
        record_activation_spans(tape, "a", "weights", &row, &(Spans){1, length, &first, &length, &first}, 0);
        moves += activations.items[0].data != last;
        last = activations.items[0].data;
    }
    tape->activations = NULL;
    const Activation *all = activations_find(&activations, "a.weights");
    assert_int_equal(all->rows, STEPS);
    assert_int_equal(all->columns, STEPS);
    for (int t = 0; t < STEPS; t++)
        for (int s = 0; s < STEPS; s++)
            assert_true(activation_row(all, 0, t)[s] == (s <= t ? tensor_row(x, t)[s] : 0));
    assert_in_range(moves, 1, MOVES);
    activations_free(&activations);
}

/* The example above ops.h: d tanh(z) = 1 - tanh(z)^2, so dW = x^T (1 - y^2) and db is the column sum. */
static void test_example(void **state) {
    (void)state;
    ParamSet *own = params_new();
    const Param *W = params_add(own, "W", 3, 2, INIT_GLOROT, 0, PANELS_AFFINE);
    const Param *b = params_add(own, "b", 1, 2, INIT_ZERO, 0, PANELS_NONE);
    params_initialize(own, 1);
    Tape *recording = tape_new(own, true);
    recording->grads = mem_alloc(own->size, sizeof(real));
    Tensor *x = tape_tensor_filled(recording, 4, 3, 0.5);
    Tensor *y = op_tanh(recording, op_affine(recording, x, W, b, NULL, false));
    for (size_t i = 0; i < tensor_size(y); i++) tensor_gradient(y)[i] = 1;
    tape_backward(recording);
    for (int n = 0; n < 2; n++) {
        double slope = 0;
        for (int r = 0; r < 4; r++) slope += 1 - pow(tensor_row(y, r)[n], 2);
        assert_true(slope > 0);
        assert_true(fabs(recording->grads[b->offset + (size_t)n] - slope) < 1e-5);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(recording->grads[W->offset + (size_t)(2 * k + n)] - 0.5 * slope) < 1e-5);
    }
    mem_free(recording->grads);
    tape_free(recording);
    params_free(own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selections), cmocka_unit_test(test_means),
        cmocka_unit_test(test_pointwise),  cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_lstm),       cmocka_unit_test(test_gradients_begin),
        cmocka_unit_test(test_shapes),     cmocka_unit_test(test_steps),
        cmocka_unit_test(test_dropout),    cmocka_unit_test(test_loss),
        cmocka_unit_test(test_notes),      cmocka_unit_test(test_example),
    };
    return cmocka_run_group_tests(tests, set_up, tape_tear_down);
}
