/* test_gradient_model.c - the gradient of the whole model's loss for every parameter, by finite differences.
 *
 * Dropout masks are functions of a key, so they do not change while a weight is varied.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "gradient_check.h"
#include "kern/kern.h"
#include "unit/model_variants.h"

#define DROPOUTS                                                                                             \
    "model.dropout_embedding=0.3 model.dropout_layers=0.3 model.dropout_encoder=0.2 "                        \
    "model.dropout_output=0.3 model.dropout_attention=0.25 model.word_dropout=0.15 model.dropout_state=0.2"

#define NO_DROPOUTS                                                                                          \
    "model.dropout_embedding=0 model.dropout_layers=0 model.dropout_encoder=0 model.dropout_output=0"

typedef struct {
    Seq2Seq *model;
    Tape *tape;
    TrainingBatch batch;
    double smoothing, scale;
    bool packed;
} Run;

static double loss_on(Run *run, Tape *tape) {
    tape_reset(tape);
    if (run->packed) params_pack_all(seq2seq_params(run->model));
    BatchLoss loss = seq2seq_loss(run->model, tape, &run->batch, run->smoothing, run->scale);
    assert_int_equal(loss.tokens, 17 * seq2seq_directions(run->model));
    if (run->smoothing == 0) assert_true(loss.loss == loss.likelihood);
    return run->scale * loss.loss;
}

static double evaluate(void *context) {
    Run *run = context;
    return loss_on(run, run->tape);
}

/* A bias of all keys adds the same to all scores of a query, which the softmax takes out again. */
static bool is_lost(const Param *p) { return strstr(p->name, ".key.bias"); }

static void check_params(Run *run, const char *name, const real *gradients) {
    const ParamSet *params = seq2seq_params(run->model);
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        size_t size = (size_t)p->rows * (size_t)p->columns;
        Gradient gradient = {p->name, param_data(params, p),   size, gradients + p->offset,
                             size,    .may_vanish = is_lost(p)};
        const char *fault = gradient_fault(&gradient, evaluate, run);
        if (fault) fail_msg("%s: %s", name, fault);
    }
}

/* A ReLU has no derivative at 0: half of the units get positive inputs, half negative ones. */
static void avoid_kinks(ParamSet *params) {
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        if (!strstr(p->name, ".inner.bias")) continue;
        for (int c = 0; c < p->columns; c++) param_data(params, p)[c] = c % 2 ? (real)-4 : (real)4;
    }
}

/* Where tanh is almost linear, the softmax cancels the effect of the query; larger weights avoid that. */
static void enlarge_scores(ParamSet *params) {
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        if (!strstr(p->name, "decoder.attention.") || p->rows == 1) continue;
        for (int j = 0; j < p->rows * p->columns; j++) param_data(params, p)[j] *= 8;
    }
}

/* `training`: dropout and the other options of training, or NULL. */
static void check_variant(const ModelVariant *variant, const char *training) {
    Run run = {.model = variant_new(variant, training, 3),
               .batch = variant_batch(training ? 77 : 0),
               .smoothing = training ? 0.1 : 0,
               .scale = 0.2,
               .packed = training != NULL};
    ParamSet *params = seq2seq_params(run.model);
    params->packs_backward = true;
    avoid_kinks(params);
    enlarge_scores(params);
    run.tape = tape_new(params, false);
    Tape *tape = tape_new(params, true);
    tape->grads = params_block(params);
    double recorded = loss_on(&run, tape);
    tape_backward(tape);
    assert_true(recorded == evaluate(&run)); /* recording does not change the result */
    check_params(&run, variant->name, tape->grads);
    mem_free(tape->grads);
    tape_free(tape);
    tape_free(run.tape);
    seq2seq_free(run.model);
}

static void test_plain(void **state) { check_variant(*state, NULL); }
static void test_dropout(void **state) { check_variant(*state, DROPOUTS); }
static void test_two_decoders(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++)
        check_variant(&MODEL_VARIANTS[i], DROPOUTS " model.decoder.bidirectional=true");
}

/* Dropout changes the loss, and another key gives another loss. */
static void test_dropout_is_active(void **state) {
    (void)state;
    double loss[4];
    for (int i = 0; i < 4; i++) {
        static const uint64_t KEYS[] = {0, 77, 78, 77};
        Run run = {.model = variant_new(&MODEL_VARIANTS[0], DROPOUTS, 3),
                   .batch = variant_batch(KEYS[i]),
                   .scale = 1};
        run.tape = tape_new(seq2seq_params(run.model), false);
        loss[i] = evaluate(&run);
        tape_free(run.tape);
        seq2seq_free(run.model);
    }
    assert_true(loss[0] != loss[1] && loss[1] != loss[2] && loss[1] == loss[3]);
}

int main(void) {
    const ModelVariant *all = MODEL_VARIANTS;
    int variants = 0;
    while (all[variants].name) variants++;
    kern_select();
    struct CMUnitTest tests[2 * variants + 2], *test = tests;
    *test++ = (struct CMUnitTest)cmocka_unit_test(test_dropout_is_active);
    *test++ = (struct CMUnitTest)cmocka_unit_test(test_two_decoders);
    for (const ModelVariant *v = all; v->name; v++) {
        *test++ = (struct CMUnitTest){v->name, test_plain, NULL, NULL, (void *)(uintptr_t)v};
        *test++ =
            (struct CMUnitTest){"the same with dropout", test_dropout, NULL, NULL, (void *)(uintptr_t)v};
    }
    return cmocka_run_group_tests_name("gradients of models", tests, NULL, NULL);
}
