/* golden_intra.c - attention to earlier outputs: all steps at once with gradients, and step by step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/mem.h"
#include "golden/golden_cases.h"
#include "golden/golden_spans.h"
#include "layers/intra_attention.h"

enum { B = 3, STEPS = 5, SIZE = 6 };

/* Ours is [outputs, inputs] of theirs: h_t . (k W) with k = h_i. */
static Attention read_attention(Reference *reference, ParamSet *params) {
    Attention attention = intra_attention_new(params, "self", SIZE);
    const Param *p = params_find(params, "self.key.weight");
    Field w = reference_field(reference, "in", "W");
    assert_non_null(p);
    assert_int_equal(params->count, 1);
    params_allocate(params);
    Field ours = reference_transposed(reference, &w, 0, SIZE, SIZE);
    reference_copy(&ours, param_data(params, p), (size_t)SIZE * SIZE);
    return attention;
}

static void check_all(Reference *reference, const ParamSet *params, const Attention *attention) {
    static const int LENGTHS[B] = {STEPS, STEPS, STEPS};
    Tape *tape = tape_new(params, true);
    tape->grads = params_block(params);
    Tensor *outputs = golden_input(reference, tape, "outputs");
    const Sequences *sequences = sequences_new(tape, LENGTHS, B, NULL, 0);
    golden_output(reference,
                  intra_attention_all(tape, attention, outputs, sequences, (AttentionDropout){.p = 0}));
    tape_backward(tape);
    golden_gradient(reference, "outputs", outputs);
    Field w = reference_field(reference, "grad", "W"),
          ours = reference_transposed(reference, &w, 0, SIZE, SIZE);
    reference_check(&ours, tape->grads, (size_t)SIZE * SIZE, REFERENCE_NINE_DIGITS);
    mem_free(tape->grads);
    tape_free(tape);
}

static void check_steps(Reference *reference, const ParamSet *params, const Attention *attention) {
    Tape *tape = tape_new(params, false);
    Field h = reference_field(reference, "in", "outputs"), out = reference_field(reference, "out", "out");
    KvCache cache = {0};
    for (int t = 0; t < STEPS; t++) {
        Tensor *output = tape_tensor(tape, B, SIZE);
        for (int i = 0; i < B * SIZE; i++)
            output->data[i] = (real)h.data[(i / SIZE * STEPS + t) * SIZE + i % SIZE];
        Tensor *context = intra_attention_step(tape, tape, attention, output, &cache);
        assert_int_equal(cache.steps, t + 1);
        for (int b = 0; b < B; b++) {
            Field row = {"out", 1, {SIZE}, SIZE, out.data + (b * STEPS + t) * SIZE};
            reference_check(&row, tensor_row(context, b), SIZE, REFERENCE_NINE_DIGITS);
        }
    }
    tape_free(tape);
}

void golden_intra(void **state) {
    (void)state;
    Reference *reference = reference_open("intra_attention", "outputs");
    ParamSet *params = params_new();
    Attention attention = read_attention(reference, params);
    check_all(reference, params, &attention);
    params_pack_all(params);
    check_steps(reference, params, &attention);
    params_free(params);
    reference_close(reference);
}
