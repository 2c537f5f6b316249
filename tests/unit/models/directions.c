/* directions.c - decoding directions: a right-to-left model is a left-to-right model of reversed targets; a
 * model of two decoders is two models that share all weights except the decoders'.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "kern/kern.h"
#include "unit/model_variants.h"

enum { B = VARIANT_SENTENCES, MOST = 8 };
#define BOTH     "model.decoder.bidirectional=true"
#define BACK     "model.decoder.right_to_left=true"
#define DROPOUTS " model.dropout_embedding=0.3 model.dropout_output=0.3 model.word_dropout=0.15"
#define NO_DROPOUTS                                                                                          \
    " model.dropout_embedding=0 model.dropout_layers=0 model.dropout_encoder=0 model.dropout_output=0"

/* The same targets reversed; `ids` has space for them. */
static TrainingBatch reverse_targets(TrainingBatch batch, Tokens targets[B], int ids[B][MOST]) {
    for (int b = 0; b < B; b++) {
        int length = batch.target[b].length;
        memcpy(ids[b], batch.target[b].ids, (size_t)length * sizeof *ids[b]);
        tokens_reverse(ids[b], length);
        targets[b] = (Tokens){ids[b], length};
    }
    batch.target = targets;
    return batch;
}

static void test_right_to_left(void **state) {
    (void)state;
    Tokens targets[B];
    int ids[B][MOST];
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++)
        for (uint64_t key = 0; key < 2; key++) {
            Seq2Seq *forth = variant_new(v, NULL, 5), *back = variant_new(v, BACK, 5);
            TrainingBatch batch = variant_batch(key), other = reverse_targets(batch, targets, ids);
            params_pack_all(seq2seq_params(forth));
            params_pack_all(seq2seq_params(back));
            Tape *tape = tape_new(seq2seq_params(forth), false);
            double usual = seq2seq_loss(forth, tape, &batch, 0, 1).loss;
            double expected = seq2seq_loss(forth, tape, &other, 0, 1).loss;
            tape->params = seq2seq_params(back);
            assert_true(seq2seq_loss(back, tape, &batch, 0, 1).loss == expected && expected != usual);
            tape_free(tape);
            seq2seq_free(forth);
            seq2seq_free(back);
        }
}

/* Loss and gradient of one model; the gradient is to be released. */
typedef struct {
    BatchLoss loss;
    real *gradient;
} Passed;

static Passed pass(const Seq2Seq *model, const TrainingBatch *batch) {
    Tape *tape = tape_new(seq2seq_params(model), true);
    Passed passed = {.gradient = params_block(seq2seq_params(model))};
    tape->grads = passed.gradient;
    passed.loss = seq2seq_loss(model, tape, batch, 0.1, 0.5);
    tape_backward(tape);
    tape_free(tape);
    return passed;
}

static void assert_near(const char *name, const real *gradient, const Param *p, double expected, int i) {
    double is = (double)gradient[p->offset + (size_t)i];
    if (!(fabs(is - expected) <= 1e-5 * (1 + fabs(expected))))
        fail_msg("%s: %s[%d] has the gradient %.9g instead of %.9g", name, p->name, i, is, expected);
}

/* Parameters of one decoder have the gradient of that decoder alone, the others the sum. */
static void check_gradients(const char *name, const Seq2Seq *both, Seq2Seq *const one[2],
                            const Passed passed[3]) {
    const ParamSet *params = seq2seq_params(both);
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        bool second = strncmp(p->name, "decoder.backward.", 17) == 0;
        bool shared = strncmp(p->name, "decoder.", 8) != 0;
        char alone[128];
        snprintf(alone, sizeof alone, "%s%s", second ? "decoder." : "", p->name + (second ? 17 : 0));
        const Param *other = params_find(seq2seq_params(one[0]), alone);
        assert_non_null(other);
        for (int j = 0; j < p->rows * p->columns; j++) {
            size_t at = other->offset + (size_t)j;
            double expected = shared ? (double)passed[0].gradient[at] + (double)passed[1].gradient[at]
                                     : (double)passed[second].gradient[at];
            assert_near(name, passed[2].gradient, p, expected, j);
        }
    }
}

static void test_two_in_one(void **state) {
    (void)state;
    TrainingBatch batch = variant_batch(3);
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++) {
        Seq2Seq *both = variant_new(v, BOTH NO_DROPOUTS, 6),
                *one[2] = {variant_new(v, NO_DROPOUTS, 7), variant_new(v, BACK NO_DROPOUTS, 7)};
        Passed passed[3];
        params_pack_all(seq2seq_params(both));
        for (int d = 0; d < 2; d++) {
            variant_take_decoder(one[d], both, d);
            params_pack_all(seq2seq_params(one[d]));
            passed[d] = pass(one[d], &batch);
        }
        passed[2] = pass(both, &batch);
        assert_int_equal(seq2seq_directions(both), 2);
        assert_int_equal(passed[2].loss.tokens, 2 * passed[0].loss.tokens);
        assert_true(fabs(passed[2].loss.loss - passed[0].loss.loss - passed[1].loss.loss) <= 1e-5);
        assert_true(fabs(passed[0].loss.loss - passed[1].loss.loss) > 1e-4);
        check_gradients(v->name, both, one, passed);
        for (int i = 0; i < 3; i++) mem_free(passed[i].gradient);
        for (int d = 0; d < 2; d++) seq2seq_free(one[d]);
        seq2seq_free(both);
    }
}

/* The directions of a sentence have different masks: with the same ones, two decoders of the same weights and
 * a target that reads the same either way would have the same loss. */
static void test_masks(void **state) {
    (void)state;
    static const int SAME[] = {5, 7, 5};
    TrainingBatch batch = variant_batch(3);
    Tokens targets[B];
    for (int b = 0; b < B; b++) targets[b] = (Tokens){SAME, 3};
    batch.target = targets;
    for (int dropout = 0; dropout < 2; dropout++) {
        const char *more = dropout ? DROPOUTS : NO_DROPOUTS;
        StrBuf with = {0};
        strbuf_format(&with, "%s%s", BOTH, more);
        Seq2Seq *both = variant_new(&MODEL_VARIANTS[0], strbuf_text(&with), 8),
                *one = variant_new(&MODEL_VARIANTS[0], more, 8);
        variant_take_decoder(one, both, true);
        for (int i = 0; i < seq2seq_params(one)->count; i++) {
            const Param *p = seq2seq_params(one)->items[i];
            const Param *to = params_find(seq2seq_params(both), p->name);
            memcpy(param_data(seq2seq_params(both), to), param_data(seq2seq_params(one), p),
                   (size_t)p->rows * (size_t)p->columns * sizeof(real));
        }
        Passed two = pass(both, &batch), single = pass(one, &batch);
        assert_true((fabs(two.loss.loss - 2 * single.loss.loss) > 1e-3) == dropout);
        mem_free(two.gradient);
        mem_free(single.gradient);
        strbuf_free(&with);
        seq2seq_free(both);
        seq2seq_free(one);
    }
}

/* Each decoder gives the same bits as a model of that decoder alone. */
static void test_steps(void **state) {
    (void)state;
    static const int ROWS[B] = {0, 1, 2, 3, 4},
                     TOKENS[2][B] = {{VOCAB_BOS, VOCAB_BOS, VOCAB_BOS, VOCAB_BOS, VOCAB_BOS},
                                     {4, 5, 6, 7, 8}};
    TrainingBatch batch = variant_batch(0);
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++) {
        Seq2Seq *both = variant_new(v, BOTH, 6);
        params_pack_all(seq2seq_params(both));
        for (int d = 0; d < 2; d++) {
            Seq2Seq *one = variant_new(v, d ? BACK : NULL, 7);
            variant_take_decoder(one, both, d);
            params_pack_all(seq2seq_params(one));
            Tape *tapes[] = {tape_new(seq2seq_params(both), false), tape_new(seq2seq_params(one), false),
                             tape_new(seq2seq_params(both), false), tape_new(seq2seq_params(both), false)};
            Encoded *encoded = seq2seq_encode(both, tapes[0], NULL, batch.source, B, d),
                    *alone = seq2seq_encode(one, tapes[1], NULL, batch.source, B, d),
                    *chunks = seq2seq_encode(both, tapes[2], tapes[3], batch.source, B, d);
            DecoderState s[] = {seq2seq_start(encoded), seq2seq_start(alone), seq2seq_start(chunks)};
            const StepContext steps[] = {{tapes[0], encoded, B, ROWS, &s[0], NULL, NULL},
                                         {tapes[1], alone, B, ROWS, &s[1], NULL, NULL},
                                         {tapes[2], chunks, B, ROWS, &s[2], NULL, NULL}};
            for (int t = 0; t < 2; t++) {
                Tensor *x = seq2seq_step(both, &steps[0], TOKENS[t]);
                Tensor *y = seq2seq_step(one, &steps[1], TOKENS[t]);
                Tensor *z = seq2seq_step(both, &steps[2], TOKENS[t]);
                assert_memory_equal(x->data, y->data, tensor_size(x) * sizeof(real));
                assert_memory_equal(x->data, z->data, tensor_size(x) * sizeof(real));
            }
            for (int i = 0; i < 4; i++) tape_free(tapes[i]);
            seq2seq_free(one);
        }
        seq2seq_free(both);
    }
}

int main(void) {
    kern_select();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_right_to_left),
                                       cmocka_unit_test(test_two_in_one), cmocka_unit_test(test_masks),
                                       cmocka_unit_test(test_steps)};
    return cmocka_run_group_tests_name("directions", tests, NULL, NULL);
}
