/* variants.c - the variants of the other tests have every choice of every model option, and each of their
 * settings has an effect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "kern/kern.h"
#include "unit/model_variants.h"

/* Without the order of target tokens (tests/unit/models/directions.c) and options that choose other
 * options. */
static bool is_varied(const char *key) {
    return strcmp(key, "model.decoder.right_to_left") != 0 &&
           strcmp(key, "model.decoder.bidirectional") != 0 && strcmp(key, "model.size") != 0;
}

static int value_of(const Option *row, const ModelOptions *options) {
    const char *field = (const char *)options + row->offset;
    return row->type == OPT_BOOL ? *(const bool *)field : *(const int *)(const void *)field;
}

static bool has_variant(const Option *row, int value) {
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++) {
        Seq2Seq *model = variant_new(v, NULL, 1);
        bool found = value_of(row, &seq2seq_config(model)->model) == value;
        seq2seq_free(model);
        if (found) return true;
    }
    return false;
}

static StrView choices_of(const Option *row) {
    return row->type == OPT_BOOL ? SV("false|true") : sv(row->choices);
}

static void test_choices(void **state) {
    (void)state;
    int choices = 0;
    for (const Option *row = MODEL_OPTIONS; row->key; row++) {
        if ((row->type != OPT_CHOICE && row->type != OPT_BOOL) || !is_varied(row->key)) continue;
        StrView rest = choices_of(row), choice;
        for (int value = 0; sv_next(&rest, '|', &choice); value++, choices++)
            if (!has_variant(row, value))
                fail_msg("no variant has %s=%.*s", row->key, (int)choice.length, choice.data);
    }
    assert_in_range(choices, 30, 200);
}

/* ---- no setting is without effect ---- */

static double loss_of(const ModelVariant *variant, const char *more) {
    Seq2Seq *model = variant_new(variant, more, 4);
    TrainingBatch batch = variant_batch(0);
    params_pack_all(seq2seq_params(model));
    Tape *tape = tape_new(seq2seq_params(model), false);
    double loss = seq2seq_loss(model, tape, &batch, 0, 1).loss;
    tape_free(tape);
    seq2seq_free(model);
    return loss;
}

/* Where keys are mapped to the size of queries, the product with mapped keys is the general score, and a
 * scaled product begins as the same function: the general score's map begins smaller by just that factor. */
static bool is_product(StrView value) {
    return sv_equal(value, SV("dot")) || sv_equal(value, SV("scaled_dot")) || sv_equal(value, SV("general"));
}

static const Option *find_row(StrView key) {
    const Option *row = MODEL_OPTIONS;
    while (row->key && !sv_equal(sv(row->key), key)) row++;
    assert_non_null(row->key);
    return row;
}

/* Tries other values than `own`: each allowed value must change the loss. Returns their number. */
static int check_setting(const ModelVariant *variant, double loss, const Option *row, StrView own) {
    StrView rest = row->type == OPT_INT    ? SV("1|2|3|4|5|6")
                   : row->type == OPT_REAL ? SV("0.01|0.5")
                                           : choices_of(row),
            other;
    int allowed = 0;
    while (sv_next(&rest, '|', &other)) {
        char more[96];
        if (sv_equal(other, own) || (is_product(own) && is_product(other))) continue;
        snprintf(more, sizeof more, "%s=%.*s", row->key, (int)other.length, other.data);
        if (!variant_allowed(variant, more)) continue;
        if (loss_of(variant, more) == loss) fail_msg("%s: %s has no effect", variant->name, more);
        allowed++;
    }
    return allowed;
}

static void test_effect(void **state) {
    (void)state;
    int effects = 0;
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++) {
        double loss = loss_of(v, NULL);
        StrView rest = sv(v->settings), value, key;
        while (sv_next(&rest, ' ', &value)) {
            sv_next(&value, '=', &key);
            effects += check_setting(v, loss, find_row(key), value);
        }
    }
    assert_true(effects > 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choices), cmocka_unit_test(test_effect)};
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
