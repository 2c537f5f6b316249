/* mbr.c - the translation that agrees best with all others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include "base/mem.h"
#include "bleu/bleu.h"
#include "bleu/chrf.h"
#include "postprocess/mbr.h"

enum { COUNT = 5 };
static const char *const TEXTS[COUNT] = {"a dog runs over the green grass", "two cats are asleep in a bed",
                                         "the dog runs on green grass", "a dog runs on the green grass",
                                         "a dog is running on the grass"};
static const double SCORES[COUNT] = {-1.5, -1, -2, -2.25, -3};

static Translation found(int count) {
    Translation t = {.count = count, .chunks = 1};
    t.items = mem_alloc((size_t)count, sizeof *t.items);
    for (int i = 0; i < count; i++) {
        t.items[i].score = SCORES[i];
        strbuf_add(&t.items[i].text, sv(TEXTS[i]));
    }
    return t;
}

static double pair_score(MbrScore score, const char *hypothesis, const char *reference) {
    StrView h = sv(hypothesis), r = sv(reference);
    return score == MBR_CHRF ? chrf_corpus_simple(&h, &r, 1, false)
                             : bleu_corpus_simple(&h, &r, 1, 0, false); /* all are longer than four words */
}

static double plain_gain(MbrScore score, double scale, const char *text) {
    double sum = 0, weights = 0;
    for (int j = 0; j < COUNT; j++) {
        sum += exp(scale * SCORES[j]) * pair_score(score, text, TEXTS[j]);
        weights += exp(scale * SCORES[j]);
    }
    return sum / weights;
}

static void test_order(void **state) {
    (void)state;
    for (MbrScore score = MBR_CHRF; score <= MBR_BLEU; score++)
        for (double scale = 0; scale <= 3; scale += 1) {
            Translation t = found(COUNT);
            double sum = 0;
            mbr_rerank(&t, score, scale);
            for (int i = 0; i < COUNT; i++) {
                double gain = plain_gain(score, scale, strbuf_text(&t.items[i].text));
                sum += t.items[i].score;
                if (i)
                    assert_true(plain_gain(score, scale, strbuf_text(&t.items[i - 1].text)) >= gain - 1e-9);
            }
            assert_true(fabs(sum - (-9.75)) < 1e-9); /* each item occurs once, with its score */
            if (scale == 0) assert_string_equal(strbuf_text(&t.items[0].text), TEXTS[3]);
            if (scale == 0) assert_string_equal(strbuf_text(&t.items[COUNT - 1].text), TEXTS[1]);
            translation_free(&t);
        }
}

/* A first item that is almost certain stays first. */
static void test_certain(void **state) {
    (void)state;
    Translation t = found(COUNT);
    t.items[1].score = -1;
    for (int i = 0; i < COUNT; i++)
        if (i != 1) t.items[i].score = -5000;
    mbr_rerank(&t, MBR_CHRF, 1);
    assert_string_equal(strbuf_text(&t.items[0].text), TEXTS[1]);
    translation_free(&t);
}

static void test_left_alone(void **state) {
    (void)state;
    Translation none = found(COUNT), one = found(1), constrained = found(COUNT), unmet = found(COUNT);
    mbr_rerank(&none, MBR_NONE, 1);
    assert_string_equal(strbuf_text(&none.items[0].text), TEXTS[0]);
    mbr_rerank(&one, MBR_BLEU, 1);
    assert_string_equal(strbuf_text(&one.items[0].text), TEXTS[0]);
    strlist_add(&constrained.constraints_met, SV("dog"));
    mbr_rerank(&constrained, MBR_BLEU, 0);
    assert_string_equal(strbuf_text(&constrained.items[0].text), TEXTS[0]);
    strlist_add(&unmet.constraints_unmet, SV("dog"));
    mbr_rerank(&unmet, MBR_BLEU, 0);
    assert_string_equal(strbuf_text(&unmet.items[0].text), TEXTS[0]);
    translation_free(&unmet);
    translation_free(&none);
    translation_free(&one);
    translation_free(&constrained);
}

/* BLEU of sentences of two words; equal items keep the order of the search. */
static void test_short(void **state) {
    (void)state;
    static const char *const SHORT[] = {"x y", "a b", "a b", "a b"};
    static const int ORDER[] = {1, 2, 3, 0};
    for (MbrScore score = MBR_CHRF; score <= MBR_BLEU; score++) {
        Translation t = found(4);
        for (int i = 0; i < 4; i++) {
            strbuf_clear(&t.items[i].text);
            strbuf_add(&t.items[i].text, sv(SHORT[i]));
        }
        mbr_rerank(&t, score, 0);
        for (int i = 0; i < 4; i++) assert_true(t.items[i].score == SCORES[ORDER[i]]);
        translation_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_certain),
                                       cmocka_unit_test(test_left_alone), cmocka_unit_test(test_short)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
