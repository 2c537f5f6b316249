/* golden_attention.c - masked softmax and additive attention with their gradients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/mem.h"
#include "golden/golden_cases.h"
#include "golden/reference.h"
#include "layers/attention.h"

enum { MOST_ROWS = 16 };

/* Rows b * queries + q look at the keys of sentence b: all of them, the first valid_lens[b], or the first
 * valid_lens[b, q]. */
static Spans *read_spans(Reference *reference, Tape *tape, int batch, int queries, int keys) {
    int first[MOST_ROWS], length[MOST_ROWS], rows = batch * queries;
    Field lens = {0};
    assert_true(rows <= MOST_ROWS);
    if (reference_has(reference, "in", "valid_lens")) lens = reference_field(reference, "in", "valid_lens");
    for (int r = 0; r < rows; r++) {
        first[r] = r / queries * keys;
        length[r] = keys;
        if (lens.count) length[r] = (int)lens.data[lens.rank == 1 ? r / queries : r];
    }
    return spans_new(tape, first, length, rows);
}

/* The numbers of a [rows, keys] field that lie inside the spans; those outside must be 0 if `masked`. */
static Field inside(Reference *reference, const Field *field, const Spans *spans, int keys, bool masked) {
    Field packed = reference_blank(reference, field->name, 1, spans->total);
    double *to = packed.data;
    assert_int_equal(field->count, spans->rows * keys);
    for (int r = 0; r < spans->rows; r++)
        for (int k = 0; k < keys; k++) {
            double x = field->data[r * keys + k];
            if (k < spans->length[r])
                *to++ = x;
            else if (masked)
                assert_true(x == 0);
        }
    assert_ptr_equal(to, packed.data + spans->total);
    return packed;
}

static Field read_inside(Reference *reference, const char *section, const char *name, const Spans *spans,
                         int keys, bool masked) {
    Field field = reference_field(reference, section, name);
    return inside(reference, &field, spans, keys, masked);
}

static void check(const Field *expected, const Tensor *x, const real *actual) {
    reference_check(expected, actual, tensor_size(x), REFERENCE_NINE_DIGITS);
}

static void check_softmax(const char *name) {
    enum { BATCH = 2, QUERIES = 2, KEYS = 4 };
    Reference *reference = reference_open("masked_softmax", name);
    ParamSet *params = params_new();
    params_allocate(params);
    Tape *tape = tape_new(params, true);
    Spans *spans = read_spans(reference, tape, BATCH, QUERIES, KEYS);
    Tensor *x = tape_tensor(tape, 1, spans->total);
    Field in = read_inside(reference, "in", "x", spans, KEYS, false);
    reference_copy(&in, x->data, tensor_size(x));
    Tensor *y = op_masked_softmax(tape, x, spans);
    Field out = read_inside(reference, "out", "out", spans, KEYS, true);
    check(&out, y, y->data);
    Field d_out = read_inside(reference, "in", "d_out", spans, KEYS, false);
    reference_copy(&d_out, y->grad, tensor_size(y));
    tape_backward(tape);
    Field dx = read_inside(reference, "grad", "x", spans, KEYS, true);
    check(&dx, x, x->grad);
    tape_free(tape);
    params_free(params);
    reference_close(reference);
}

void golden_masked_softmax(void **state) {
    (void)state;
    check_softmax("none");
    check_softmax("valid_lens_1d");
    check_softmax("valid_lens_2d");
}

/* ---- additive attention ---- */

static Tensor *read_tensor(Reference *reference, Tape *tape, const char *name) {
    Field field = reference_field(reference, "in", name);
    assert_int_equal(field.rank, 3);
    Tensor *x = tape_tensor(tape, field.shape[0] * field.shape[1], field.shape[2]);
    reference_copy(&field, x->data, tensor_size(x));
    return x;
}

/* Our weights are [inputs, outputs]. */
static const char *const WEIGHTS[][2] = {{"attention.query.weight", "W_q"}, {"attention.key.weight", "W_k"}};

static Attention read_attention(Reference *reference, ParamSet *params) {
    Field W_q = reference_field(reference, "in", "W_q"), W_k = reference_field(reference, "in", "W_k"),
          w_v = reference_field(reference, "in", "w_v");
    Attention attention = attention_new(params, "attention", 0, W_q.shape[1], W_k.shape[1], (int)w_v.count);
    assert_string_equal(attention.score->name, "additive");
    params_allocate(params);
    for (int i = 0; i < 2; i++) {
        const Param *p = params_find(params, WEIGHTS[i][0]);
        Field field = reference_field(reference, "in", WEIGHTS[i][1]);
        reference_copy_transposed(&field, 0, param_data(params, p), p->rows, p->columns);
    }
    reference_copy(&w_v, param_data(params, attention.v), (size_t)attention.v->columns);
    return attention;
}

static void check_gradient(Reference *reference, const char *name, const Tensor *x) {
    Field field = reference_field(reference, "grad", name);
    check(&field, x, x->grad);
}

static void check_weight_gradients(Reference *reference, const ParamSet *params, const real *grads) {
    for (int i = 0; i < 2; i++) {
        const Param *p = params_find(params, WEIGHTS[i][0]);
        Field field = reference_field(reference, "grad", WEIGHTS[i][1]);
        Field turned = reference_transposed(reference, &field, 0, p->rows, p->columns);
        reference_check(&turned, grads + p->offset, turned.count, REFERENCE_NINE_DIGITS);
    }
    Field dv = reference_field(reference, "grad", "w_v");
    reference_check(&dv, grads + params_find(params, "attention.v")->offset, dv.count, REFERENCE_NINE_DIGITS);
}

static void check_attention(const char *name, int batch, int queries, int keys) {
    Reference *reference = reference_open("additive_attention", name);
    ParamSet *params = params_new();
    Attention attention = read_attention(reference, params);
    Tape *tape = tape_new(params, true);
    tape->grads = params_block(params);
    Tensor *query = read_tensor(reference, tape, "queries"), *key = read_tensor(reference, tape, "keys"),
           *value = read_tensor(reference, tape, "values"), *weights;
    Spans *spans = read_spans(reference, tape, batch, queries, keys);
    Tensor *y = attention_context(tape, &attention, query, attention_keys(tape, &attention, key), value,
                                  spans, &weights);
    Field expected = read_inside(reference, "out", "weights", spans, keys, true);
    check(&expected, weights, weights->data);
    Field out = reference_field(reference, "out", "out"), d_out = reference_field(reference, "in", "d_out");
    check(&out, y, y->data);
    reference_copy(&d_out, y->grad, tensor_size(y));
    tape_backward(tape);
    check_gradient(reference, "queries", query);
    check_gradient(reference, "keys", key);
    check_gradient(reference, "values", value);
    check_weight_gradients(reference, params, tape->grads);
    mem_free(tape->grads);
    tape_free(tape);
    params_free(params);
    reference_close(reference);
}

void golden_additive_attention(void **state) {
    (void)state;
    check_attention("chapter_shapes", 2, 1, 10);
    check_attention("three_queries_2d_lens", 2, 3, 5);
}
