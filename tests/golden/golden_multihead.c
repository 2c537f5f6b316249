/* golden_multihead.c - five heads over different queries, keys and values, with the gradients of all inputs
 * and weights. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/mem.h"
#include "golden/golden_cases.h"
#include "golden/golden_spans.h"
#include "layers/multihead.h"

enum { BATCH = 2, QUERIES = 3, KEYS = 4, HEADS = 5, SIZE = 20 };

/* PyTorch's weights are [outputs, inputs], ours [inputs, outputs]. */
static const char *const WEIGHTS[][2] = {{"attention.query.weight", "W_q"},
                                         {"attention.key.weight", "W_k"},
                                         {"attention.value.weight", "W_v"},
                                         {"attention.output.weight", "W_o"}};
enum { WEIGHT_COUNT = sizeof WEIGHTS / sizeof *WEIGHTS };

static void check(bool packed) {
    Reference *reference = reference_open("multi_head_attention", "five_heads");
    ParamSet *params = params_new();
    Multihead multihead = multihead_new(params, "attention", SIZE, SIZE, HEADS, 0, false);
    params_allocate(params);
    assert_int_equal(params->count, WEIGHT_COUNT);
    for (int i = 0; i < WEIGHT_COUNT; i++) {
        const Param *p = params_find(params, WEIGHTS[i][0]);
        Field field = reference_field(reference, "in", WEIGHTS[i][1]);
        reference_copy_transposed(&field, 0, param_data(params, p), p->rows, p->columns);
    }
    params->packs_backward = true;
    if (packed) params_pack_all(params);
    Tape *tape = tape_new(params, true);
    tape->grads = params_block(params);
    Tensor *x = golden_input(reference, tape, "queries"), *keys = golden_input(reference, tape, "keys"),
           *values = golden_input(reference, tape, "values"), *weights;
    KeysValues kv = {.keys = multihead_project(tape, &multihead, keys).keys,
                     .values = multihead_project(tape, &multihead, values).values};
    Spans *spans = golden_spans(reference, tape, BATCH, QUERIES, KEYS);
    Tensor *y = multihead_attend(tape, &multihead, x, &kv, spans, NULL, (AttentionDropout){.p = 0}, &weights);
    Field expected = golden_inside(reference, "out", "weights", spans, HEADS, ZERO_OUTSIDE);
    reference_check(&expected, weights->data, tensor_size(weights), REFERENCE_NINE_DIGITS);
    golden_output(reference, y);
    tape_backward(tape);
    golden_gradient(reference, "queries", x);
    golden_gradient(reference, "keys", keys);
    golden_gradient(reference, "values", values);
    for (int i = 0; i < WEIGHT_COUNT; i++) {
        const Param *p = params_find(params, WEIGHTS[i][0]);
        Field field = reference_field(reference, "grad", WEIGHTS[i][1]);
        Field turned = reference_transposed(reference, &field, 0, p->rows, p->columns);
        reference_check(&turned, tape->grads + p->offset, turned.count, REFERENCE_NINE_DIGITS);
    }
    mem_free(tape->grads);
    tape_free(tape);
    params_free(params);
    reference_close(reference);
}

void golden_multihead(void **state) {
    (void)state;
    check(false);
    check(true);
}
