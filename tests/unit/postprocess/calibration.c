/* calibration.c - fits a logistic curve to words, writes and reads it as JSON. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/mem.h"
#include "base/rng.h"
#include "postprocess/calibration.h"
#include "kern/kern.h"
#include "unit/tiny_model.h"

/* Words whose logits are spread evenly over -3..3 and right as often as the curve says. */
static CalibrationWords make_words(int count, double slope, double offset) {
    CalibrationWords words = {.count = (size_t)count};
    Rng rng = rng_new(5);
    words.logits = mem_alloc(words.count, sizeof *words.logits);
    words.right = mem_alloc(words.count, sizeof *words.right);
    for (int i = 0; i < count; i++) {
        double x = words.logits[i] = 6 * rng_uniform(&rng) - 3;
        words.right[i] = rng_uniform(&rng) < 1 / (1 + exp(-(slope * x + offset)));
    }
    return words;
}

static void test_curve_is_found(void **state) {
    (void)state;
    CalibrationWords words = make_words(20000, 0.7, -0.4);
    Calibration c = calibration_fit(&words);
    assert_int_equal(c.words, 20000);
    assert_true(fabs(c.slope - 0.7) < 0.05 && fabs(c.offset + 0.4) < 0.05);
    assert_null(words.logits);
}

/* All right, all wrong, one word, no word: no calibration. A falling curve: the share of right words. */
static void test_odd_words(void **state) {
    (void)state;
    static const double odd[][2] = {{0, 100}, {0, -100}, {-1, 0}};
    for (int i = 0; i < 3; i++) {
        for (int count = 0; count <= 200; count = count ? count * 200 : 1) {
            CalibrationWords words = make_words(count, odd[i][0], odd[i][1]);
            Calibration c = calibration_fit(&words);
            assert_true(isfinite(c.slope) && isfinite(c.offset) && c.slope >= 0);
            assert_int_equal(c.words, i == 2 && count == 200 ? count : 0);
            assert_true(c.slope == 0 && (c.words > 0 || c.offset == 0));
        }
    }
}

/* The number of words of each logit, right or wrong. */
static Calibration fit_two(int many, double x, bool right, int others, double y) {
    CalibrationWords words = {.count = (size_t)(many + others)};
    words.logits = mem_alloc(words.count, sizeof *words.logits);
    words.right = mem_alloc(words.count, sizeof *words.right);
    for (int i = 0; i < many + others; i++) {
        words.logits[i] = i < many ? x : y;
        words.right[i] = i < many ? right : !right;
    }
    return calibration_fit(&words);
}

/* Platt's targets, (right + 1) / (right + 2) and 1 / (wrong + 2), if p separates right from wrong; the share
 * of right words, (right + 1) / (words + 2), if it does not; ten of each kind are enough. */
static void test_two_logits(void **state) {
    (void)state;
    Calibration c = fit_two(10, 1, true, 10, -1);
    assert_true(fabs(c.slope - log(11)) < 1e-4 && fabs(c.offset) < 1e-4);
    c = fit_two(30, -1, true, 10, 1);
    assert_true(c.slope == 0 && fabs(c.offset - log(31.0 / 11)) < 1e-9);
    assert_int_equal(fit_two(10, 1, true, 30, -1).words, 40);
    assert_int_equal(fit_two(9, 1, true, 30, -1).words, 0);
    assert_int_equal(fit_two(9, -1, false, 30, 1).words, 0);
}

/* A word of the reference makes one word right, at any position. */
static void test_words_of_reference(void **state) {
    (void)state;
    enum { A = VOCAB_SPECIALS, B, C };
    static const bool RIGHT[] = {false, true, true, false};
    int found_ids[] = {C, A, B, A}, reference[] = {B, A};
    float scores[] = {logf(0.5f), logf(0.2f), logf(0.5f), logf(0.5f), 0};
    Hypothesis found = {.ids = found_ids, .length = 4, .steps = 5, .token_scores = scores};
    Seq2Seq *model = tiny_model_new(5, 1);
    CalibrationWords words = {0};
    calibration_add(&words, seq2seq_target(model), &found, (Tokens){reference, 2});
    assert_int_equal(words.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(words.right[i], RIGHT[i]);
        assert_true(fabs(words.logits[i] - (i == 1 ? log(0.25) : 0)) < 1e-6);
    }
    calibration_fit(&words);
    seq2seq_free(model);
}

static void test_json(void **state) {
    (void)state;
    Calibration c = {0.1, -2.0 / 3, 77}, back;
    StrBuf text = {0};
    strbuf_add(&text, SV("{\"update\": 3, \"calibration\": "));
    calibration_write_json(&c, &text);
    strbuf_add_char(&text, '}');
    back = calibration_read(strbuf_view(&text));
    assert_true(back.slope == c.slope && back.offset == c.offset && back.words == c.words);
    static const char *const none[] = {"",
                                       "3",
                                       "{}",
                                       "{\"calibration\": 3}",
                                       "{\"calibration\": {\"slope\": 1}}",
                                       "{\"calibration\": {\"slope\": 1, \"offset\": \"2\", \"words\": 3}}",
                                       "{\"calibration\": {\"slope\": 1, \"offset\": 2, \"words\": -3}}"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(calibration_read(sv(none[i])).words, 0);
    strbuf_free(&text);
}

static void test_confidence(void **state) {
    (void)state;
    float scores[4] = {logf(0.5f), logf(0.125f), logf(0.9f), logf(0.8f)};
    int word[3] = {0, 0, 1}, ids[3] = {4, 5, 6};
    TranslationItem item = {
        .ids = ids, .length = 3, .steps = 4, .word = word, .words = 2, .token_scores = scores};
    double words[2];
    assert_true(fabs(calibration_confidence(&(Calibration){0}, &item, words) -
                     pow(0.5 * 0.125 * 0.9 * 0.8, 0.25)) < 1e-6);
    assert_true(fabs(words[0] - 0.25) < 1e-6 && fabs(words[1] - 0.9) < 1e-6);
    Calibration c = {2, 0.5, 10};
    double first = 1 / (1 + exp(-(2 * log(0.25 / 0.75) + 0.5))), second = 1 / (1 + exp(-(2 * log(9) + 0.5)));
    assert_true(fabs(calibration_confidence(&c, &item, words) - (first + second) / 2) < 1e-5);
    assert_true(fabs(words[0] - first) < 1e-5 && fabs(words[1] - second) < 1e-5);
    /* No word is certain or impossible; without words there is no confidence. */
    scores[0] = scores[1] = 0;
    scores[2] = -200;
    c = (Calibration){1, 0, 10};
    calibration_confidence(&c, &item, words);
    assert_true(fabs(words[0] - (1 - 1e-6)) < 1e-9 && fabs(words[1] - 1e-6) < 1e-9);
    TranslationItem none = {.steps = 1, .token_scores = scores};
    assert_true(calibration_confidence(&c, &none, words) == 0);
}

int main(void) {
    kern_select();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curve_is_found), cmocka_unit_test(test_odd_words),
        cmocka_unit_test(test_two_logits),     cmocka_unit_test(test_words_of_reference),
        cmocka_unit_test(test_json),           cmocka_unit_test(test_confidence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
