/* golden_attention.c - masked softmax with its gradient: no lengths, one for each sentence, one for each
 * query. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "golden/golden_cases.h"
#include "golden/golden_spans.h"

static void check_softmax(const char *name) {
    enum { BATCH = 2, QUERIES = 2, KEYS = 4 };
    Reference *reference = reference_open("masked_softmax", name);
    ParamSet *params = params_new();
    params_allocate(params);
    Tape *tape = tape_new(params, true);
    Spans *spans = golden_spans(reference, tape, BATCH, QUERIES, KEYS);
    Tensor *x = tape_tensor(tape, 1, spans->total);
    Field in = golden_inside(reference, "in", "x", spans, 1, ANYTHING_OUTSIDE);
    reference_copy(&in, x->data, tensor_size(x));
    Tensor *y = op_masked_softmax(tape, x, spans);
    Field out = golden_inside(reference, "out", "out", spans, 1, ZERO_OUTSIDE);
    reference_check(&out, y->data, tensor_size(y), REFERENCE_NINE_DIGITS);
    Field d_out = golden_inside(reference, "in", "d_out", spans, 1, ANYTHING_OUTSIDE);
    reference_copy(&d_out, tensor_gradient(y), tensor_size(y));
    tape_backward(tape);
    Field dx = golden_inside(reference, "grad", "x", spans, 1, ZERO_OUTSIDE);
    reference_check(&dx, x->grad, tensor_size(x), REFERENCE_NINE_DIGITS);
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
