/* test_models_variants.c - the variants that the other tests go through are all that it takes: every two
 * choices meet, and each of them makes a difference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/mem.h"
#include "layers/attention.h"
#include "num/kern.h"
#include "unit/variant_cover.h"

enum { MOST_VALUES = 32, DRAWS = 200000 };
typedef bool Meetings[COVER_FACTORS][MOST_VALUES][COVER_FACTORS][MOST_VALUES];

static bool present(const Choice *choice, int f, int g) {
    return choice->value[f] != COVER_ABSENT && choice->value[g] != COVER_ABSENT;
}

/* Whatever pair can be drawn is there. */
static void test_pairs(void **state) {
    (void)state;
    static Meetings there, possible;
    int count, pairs = 0, allowed = 0;
    const Choice *choices = cover_choices(&count);
    assert_in_range(count, 40, 199);
    for (int i = 0; i < count; i++)
        for (int f = 0; f < COVER_FACTORS; f++)
            for (int g = 0; g < f; g++)
                if (present(&choices[i], f, g)) there[f][choices[i].value[f]][g][choices[i].value[g]] = true;
    Rng rng = rng_new(12345);
    for (int i = 0; i < DRAWS; i++) {
        Choice choice;
        if (!cover_draw(&rng, NULL, &choice)) continue;
        allowed++;
        for (int f = 0; f < COVER_FACTORS; f++)
            for (int g = 0; g < f; g++) {
                if (!present(&choice, f, g)) continue;
                int v = choice.value[f], w = choice.value[g];
                if (!there[f][v][g][w])
                    fail_msg("%s (%d) and %s (%d) do not meet", cover_key(f), v, cover_key(g), w);
                pairs += !possible[f][v][g][w];
                possible[f][v][g][w] = true;
            }
    }
    assert_true(allowed > DRAWS / 20);
    assert_true(pairs > 700);
    for (int f = 0; f < COVER_FACTORS; f++)
        for (int v = 0; v < cover_values(f); v++) {
            bool met = false;
            for (int g = 0; g < f; g++)
                for (int w = 0; w < cover_values(g); w++) met |= possible[f][v][g][w];
            for (int g = f + 1; g < COVER_FACTORS; g++)
                for (int w = 0; w < cover_values(g); w++) met |= possible[g][w][f][v];
            if (!met) fail_msg("%s: value %d does not occur", cover_key(f), v);
        }
}

/* Every switch of the model is a factor, with every score. */
static void test_factors(void **state) {
    (void)state;
    Config config;
    OptionTable tables[6];
    config_init(&config);
    config_tables(&config, tables);
    int switches = 0;
    for (const Option *row = tables[2].rows; row->key; row++) {
        if (row->type != OPT_CHOICE && row->type != OPT_BOOL) continue;
        if (strcmp(row->key, "model.size") == 0) continue; /* chooses other options */
        /* the order of target tokens, not what is done with them: test_models_directions.c */
        if (strcmp(row->key, "model.decoder.right_to_left") == 0) continue;
        if (strcmp(row->key, "model.decoder.bidirectional") == 0) continue;
        int found = -1;
        for (int f = 0; f < COVER_FACTORS; f++)
            if (strcmp(cover_key(f), row->key) == 0) found = f;
        if (found < 0) fail_msg("%s is not varied", row->key);
        if (strcmp(row->key, "model.attention") == 0)
            assert_int_equal(cover_values(found), ATTENTION_SCORE_COUNT);
        switches++;
    }
    assert_true(switches >= 13);
    config_free(&config);
}

/* ---- no choice is without effect ---- */

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
static bool product(const char *setting) {
    return strcmp(setting, "model.attention=dot") == 0 ||
           strcmp(setting, "model.attention=scaled_dot") == 0 ||
           strcmp(setting, "model.attention=general") == 0;
}

/* Another value in place of `own`: does it make another model? Only that of an absent factor may not. False
 * if it is not allowed. */
static bool check_effect(const ModelVariant *variant, double loss, const char *own, const char *other) {
    if (!variant_allowed(variant, other) || (product(own) && product(other))) return false;
    bool same = loss_of(variant, other) == loss, absent = !*own;
    if (same != absent) fail_msg("%s: %s has %s effect", variant->name, other, same ? "no" : "an");
    return true;
}

static void test_effect(void **state) {
    (void)state;
    int count, effects = 0, absences = 0;
    const Choice *choices = cover_choices(&count);
    StrBuf settings = {0}, own = {0}, other = {0};
    for (int i = 0; i < count; i++) {
        strbuf_clear(&settings);
        cover_settings(&choices[i], &settings);
        ModelVariant variant = {strbuf_text(&settings), strbuf_text(&settings)};
        double loss = loss_of(&variant, NULL);
        for (int f = 0; f < COVER_FACTORS; f++) {
            int value = choices[i].value[f];
            strbuf_clear(&own);
            if (value != COVER_ABSENT) cover_setting(f, value, &own);
            for (int v = 0; v < cover_values(f); v++) {
                strbuf_clear(&other);
                cover_setting(f, v, &other);
                if (v == value || !check_effect(&variant, loss, strbuf_text(&own), strbuf_text(&other)))
                    continue;
                *(value == COVER_ABSENT ? &absences : &effects) += 1;
            }
        }
    }
    assert_true(effects > 1000);
    assert_true(absences > 300);
    strbuf_free(&settings);
    strbuf_free(&own);
    strbuf_free(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_effect),
    };
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
