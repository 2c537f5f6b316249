/* golden_loss.c - cross-entropy with label smoothing, and its gradient. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/mem.h"
#include "golden/golden_cases.h"
#include "golden/reference.h"
#include "autograd/ops.h"

enum { ROWS = 6, CLASSES = 7 };

/* Padding does not exist here: rows whose target is 0 are left out. */
static int real_rows(const Field *targets, int rows[ROWS], int labels[ROWS]) {
    int count = 0;
    for (int r = 0; r < ROWS; r++)
        if (targets->data[r] != 0) {
            rows[count] = r;
            labels[count++] = (int)targets->data[r];
        }
    return count;
}

static void check_case(const char *name, double smoothing) {
    Reference *reference = reference_open("cross_entropy", name);
    Field logits = reference_field(reference, "in", "logits"),
          targets = reference_field(reference, "in", "targets");
    Field d_out = reference_field(reference, "in", "d_out"), out = reference_field(reference, "out", "out");
    Field d_logits = reference_field(reference, "grad", "logits");
    int rows[ROWS], labels[ROWS], count = real_rows(&targets, rows, labels);
    assert_int_equal(d_logits.count, ROWS * CLASSES);
    assert_true(count > 0 && count < ROWS);

    /* With the unit matrix as output layer the logits are its input. */
    ParamSet *params = params_new();
    const Param *w = params_add(params, "w", CLASSES, CLASSES, INIT_ZERO, 0, PANELS_NONE);
    params_allocate(params);
    for (int i = 0; i < CLASSES; i++) param_data(params, w)[i * CLASSES + i] = 1;
    Tape *tape = tape_new(params, true);
    tape->grads = params_block(params);
    Tensor *x = tape_tensor(tape, count, CLASSES);
    for (int r = 0; r < count; r++)
        for (int c = 0; c < CLASSES; c++) tensor_row(x, r)[c] = (real)logits.data[rows[r] * CLASSES + c];
    CrossEntropy result = {0};
    const LossOptions options = {w, NULL, smoothing, d_out.data[0] / count};
    Tensor *y = op_cross_entropy(tape, x, labels, &options, &result);
    tape_backward(tape);

    real mean = (real)(result.loss / count), scaled = (real)(mean * (real)d_out.data[0]);
    reference_check(&out, &mean, 1, REFERENCE_NINE_DIGITS);
    Field scaled_out = {"scaled loss", 1, {1}, 1, (double[]){out.data[0] * d_out.data[0]}};
    reference_check(&scaled_out, y->data, 1, REFERENCE_NINE_DIGITS);
    reference_check(&scaled_out, &scaled, 1, REFERENCE_NINE_DIGITS);
    real gradient[ROWS * CLASSES] = {0};
    for (int r = 0; r < count; r++)
        for (int c = 0; c < CLASSES; c++) gradient[rows[r] * CLASSES + c] = tensor_grad_row(x, r)[c];
    reference_check(&d_logits, gradient, ROWS * CLASSES, REFERENCE_NINE_DIGITS);
    mem_free(tape->grads);
    tape_free(tape);
    params_free(params);
    reference_close(reference);
}

void golden_cross_entropy(void **state) {
    (void)state;
    check_case("smoothing_0", 0);
    check_case("smoothing_0.1", 0.1);
}
