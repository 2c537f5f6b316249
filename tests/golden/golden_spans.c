/* golden_spans.c - see golden_spans.h. */
#include "golden/golden_spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { MAX_ROWS = 16 };

Spans *golden_spans(Reference *reference, Tape *tape, int batch, int queries, int keys) {
    int first[MAX_ROWS], length[MAX_ROWS], rows = batch * queries;
    Field lens = {0};
    assert_true(rows <= MAX_ROWS);
    if (reference_has(reference, "in", "valid_lens")) {
        lens = reference_field(reference, "in", "valid_lens");
        assert_int_equal(lens.count, lens.rank == 1 ? batch : rows);
    }
    for (int r = 0; r < rows; r++) {
        first[r] = r / queries * keys;
        length[r] = keys;
        if (lens.count) length[r] = (int)lens.data[lens.rank == 1 ? r / queries : r];
    }
    return spans_new(tape, first, length, rows);
}

Field golden_inside(Reference *reference, const char *section, const char *name, const Spans *spans,
                    int heads, Outside outside) {
    Field field = reference_field(reference, section, name),
          packed = reference_blank(reference, name, heads, spans->total);
    int batch = field.shape[0], keys = field.shape[field.rank - 1], queries = field.shape[field.rank - 2];
    assert_int_equal(batch * queries, spans->rows);
    assert_int_equal(field.count, spans->rows * heads * keys);
    for (int h = 0; h < heads; h++)
        for (int r = 0; r < spans->rows; r++) {
            int b = r / queries, q = r % queries;
            const double *from = field.data + (size_t)(((b * heads + h) * queries + q) * keys);
            double *to = packed.data + h * spans->total + spans->start[r];
            for (int k = 0; k < keys; k++)
                if (k < spans->length[r])
                    to[k] = from[k];
                else if (outside == ZERO_OUTSIDE)
                    assert_true(from[k] == 0);
        }
    return packed;
}

Tensor *golden_input(Reference *reference, Tape *tape, const char *name) {
    Field field = reference_field(reference, "in", name);
    assert_int_equal(field.rank, 3);
    Tensor *x = tape_tensor(tape, field.shape[0] * field.shape[1], field.shape[2]);
    reference_copy(&field, x->data, tensor_size(x));
    return x;
}

void golden_gradient(Reference *reference, const char *name, const Tensor *x) {
    Field field = reference_field(reference, "grad", name);
    reference_check(&field, x->grad, tensor_size(x), REFERENCE_NINE_DIGITS);
}

void golden_output(Reference *reference, Tensor *y) {
    Field out = reference_field(reference, "out", "out"), d_out = reference_field(reference, "in", "d_out");
    reference_check(&out, y->data, tensor_size(y), REFERENCE_NINE_DIGITS);
    reference_copy(&d_out, tensor_gradient(y), tensor_size(y));
}
