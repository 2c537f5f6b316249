/* heads.c - leaving out one head of a Transformer: what is left is a model whose head has no
 * values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "models/heads.h"
#include "unit/model_variants.h"

enum { HEADS = 2, ENCODER_LAYERS = 1, DECODER_LAYERS = 2 };

static const ModelVariant TRANSFORMER = {
    "transformer", "model.encoder.style=self_attention model.decoder.style=transformer "
                   "model.attention=scaled_dot model.heads=2 model.encoder.layers=1 model.decoder.layers=2"};
static const ModelVariant RECURRENT = {"recurrent", ""};

static double likelihood(const Seq2Seq *model) {
    TrainingBatch batch = variant_batch(0);
    Tape *tape = tape_new(seq2seq_params(model), false);
    BatchLoss loss = seq2seq_loss(model, tape, &batch, 0, 1);
    tape_free(tape);
    return loss.likelihood;
}

/* The columns of the values' projection that make this head's values become 0. */
static void forget_values(const Seq2Seq *model, const ModelHead *head) {
    ParamSet *params = seq2seq_params(model);
    StrBuf name = {0};
    strbuf_format(&name, "%.*s.value.weight", SV_ARG(head->attention));
    const Param *value = params_find(params, strbuf_text(&name));
    assert_non_null(value);
    int width = value->columns / HEADS;
    for (int r = 0; r < value->rows; r++)
        memset(param_data(params, value) + (size_t)r * (size_t)value->columns + head->number * width, 0,
               (size_t)width * sizeof(real));
    params_pack_all(params);
    strbuf_free(&name);
}

static void test_silence(void **state) {
    (void)state;
    Seq2Seq *model = variant_new(&TRANSFORMER, NULL, 4);
    params_pack_all(seq2seq_params(model));
    int count;
    ModelHead *heads = model_heads(model, &count);
    assert_int_equal(count, HEADS * (ENCODER_LAYERS + 2 * DECODER_LAYERS));
    real *kept = mem_alloc(model_head_size(model, heads), sizeof *kept);
    double whole = likelihood(model);
    for (int h = 0; h < count; h++) {
        model_head_silence(model, &heads[h], kept);
        double without = likelihood(model);
        model_head_restore(model, &heads[h], kept);
        assert_true(likelihood(model) == whole);
        assert_true(fabs(without - whole) > 1e-6);

        Seq2Seq *other = variant_new(&TRANSFORMER, NULL, 4);
        int others;
        ModelHead *same = model_heads(other, &others);
        forget_values(other, &same[h]);
        if (fabs(likelihood(other) - without) > 1e-5 * fabs(without))
            fail_msg("head %d of %.*s: %g without its values, %g without it", heads[h].number + 1,
                     SV_ARG(heads[h].attention), likelihood(other), without);
        mem_free(same);
        seq2seq_free(other);
    }
    mem_free(kept);
    mem_free(heads);
    seq2seq_free(model);
}

static void test_none(void **state) {
    (void)state;
    Seq2Seq *model = variant_new(&RECURRENT, NULL, 4);
    int count;
    assert_null(model_heads(model, &count));
    assert_int_equal(count, 0);
    seq2seq_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_silence), cmocka_unit_test(test_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
