/* resampling.c - numpy's random numbers and means; intervals and p-values against sacreBLEU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/mem.h"
#include "bleu/bleu.h"
#include "bleu/chrf.h"
#include "bleu/mean.h"
#include "bleu/resampling.h"
#include "bleu/ter.h"
#include "bleu/tokenizers.h"
#include "unit/bleu_cases.h"

static Pcg64 seeded(const Json *c) {
    double words[8];
    uint32_t entropy[8];
    size_t count = case_numbers(c, "words", words, 8);
    for (size_t i = 0; i < count; i++) entropy[i] = (uint32_t)words[i];
    return pcg64_seed(entropy, count);
}

static void random_numbers_are_numpys(void **state) {
    (void)state;
    for (const Json *c = json_first(bleu_cases("generator", 5)); c; c = json_after(c)) {
        double expected[100];
        const Json *lists = json_get(c, "indices");
        int sizes = 0;
        for (const Json *list = json_first(lists); list; list = json_after(list), sizes++) {
            Pcg64 generator = seeded(c);
            uint32_t n = (uint32_t)strtoul(json_key(list), NULL, 10);
            size_t count = case_numbers(lists, json_key(list), expected, 100);
            assert_int_equal(count, 40);
            for (size_t i = 0; i < count; i++)
                if (pcg64_index(&generator, n) != expected[i]) fail_msg("choice(%u), number %zu", n, i);
        }
        assert_int_equal(sizes, 5);
        Pcg64 generator = seeded(c);
        Pcg64Bits bits = {0};
        size_t count = case_numbers(c, "bits", expected, 100);
        assert_int_equal(count, 70);
        for (size_t i = 0; i < count; i++)
            if (pcg64_bit(&generator, &bits) != (expected[i] != 0)) fail_msg("bit %zu", i);
    }
}

static void means_agree(void **state) {
    (void)state;
    double values[1000], single[1000];
    for (const Json *c = json_first(bleu_cases("mean", 10)); c; c = json_after(c)) {
        size_t count = case_numbers(c, "values", values, 1000);
        assert_int_equal(count, (size_t)case_number(c, "count"));
        for (size_t i = 0; i < count; i++) single[i] = (double)(float)values[i];
        assert_true(mean_numpy(values, count, false) == case_number(c, "mean"));
        assert_true(mean_numpy(single, count, true) == case_number(c, "mean_single"));
        assert_true(mean_exact(values, count, false) == case_number(c, "exact"));
        assert_true(mean_exact(single, count, true) == case_number(c, "exact_single"));
    }
}

/* Scores in the arithmetic of resampled sums are the same to the last bit, or nearly: the libm may differ. */
static void arithmetic_agrees(void **state) {
    (void)state;
    int number = 0;
    for (const Json *c = json_first(bleu_cases("arithmetic", 80)); c; c = json_after(c), number++) {
        double sums[METRIC_MAX_WIDTH], single, whole;
        size_t width = case_numbers(c, "sums", sums, METRIC_MAX_WIDTH);
        if (sv_equal(case_text(c, "metric"), SV("bleu"))) {
            BleuOptions options = {.effective_order = case_flag(c, "effective_order")};
            options.smoothing = case_choice(case_text(c, "smoothing"), BLEU_SMOOTHING_CHOICES);
            bool given = json_type(json_get(c, "smooth_value")) == JSON_NUMBER;
            options.smooth_value = given ? case_number(c, "smooth_value") : -1;
            assert_int_equal(width, BLEU_WIDTH);
            single = METRIC_BLEU.score(&options, sums, METRIC_SINGLE).value;
            whole = METRIC_BLEU.score(&options, sums, METRIC_WHOLE).value;
        } else {
            ChrfOptions options = {.char_order = 3, .beta = (int)case_number(c, "beta")};
            options.eps_smoothing = case_flag(c, "eps_smoothing");
            assert_int_equal(width, METRIC_CHRF.width(&options));
            single = METRIC_CHRF.score(&options, sums, METRIC_SINGLE).value;
            whole = METRIC_CHRF.score(&options, sums, METRIC_WHOLE).value;
        }
        if (!(fabs(single - case_number(c, "single")) <= 1e-12 * fabs(single)))
            fail_msg("case %d, single precision: %.17g", number, single);
        if (!(fabs(whole - case_number(c, "whole")) <= 1e-12 * fabs(whole)))
            fail_msg("case %d, whole numbers: %.17g", number, whole);
    }
}

/* Statistics of one system against ref.txt. */
static Statistics count_system(const char *name, ChosenMetric metric) {
    StrBuf texts[2] = {{0}, {0}};
    size_t count, reference_count;
    StrView *hypotheses = case_lines(name, &count, &texts[0]);
    const StrView *references = case_lines("ref.txt", &reference_count, &texts[1]);
    assert_int_equal(count, reference_count);
    Statistics statistics = statistics_count(metric, hypotheses, count, &references, 1);
    mem_free(hypotheses);
    mem_free((StrView *)references);
    strbuf_free(&texts[0]);
    strbuf_free(&texts[1]);
    return statistics;
}

static void check(const Json *object, const char *key, double actual) {
    if (!case_agrees(case_number(object, key), actual))
        fail_msg("%s: %.17g, not %.17g", key, actual, case_number(object, key));
}

static void check_case(const Json *c, const Statistics *first, const Statistics *second) {
    const uint32_t seed = 12345;
    Pcg64 generator = pcg64_seed(&seed, 1);
    int samples = (int)case_number(c, "samples");
    Interval interval = resampling_interval(second, generator, samples, mean_exact);
    check(c, "score", statistics_score(second));
    check(c, "mean", interval.mean);
    check(c, "half_width", interval.half_width);

    const Json *paired = json_get(c, "bs"), *randomized = json_get(c, "ar");
    check(paired, "p", resampling_paired_bootstrap(first, second, generator, samples, &interval));
    check(paired, "mean", interval.mean);
    check(paired, "half_width", interval.half_width);
    interval = resampling_interval(first, generator, samples, mean_numpy);
    check(paired, "baseline_mean", interval.mean);
    check(paired, "baseline_half_width", interval.half_width);
    check(randomized, "p", resampling_randomized(first, second, generator, (int)case_number(c, "trials")));
}

static void tests_agree(void **state) {
    (void)state;
    int seen[3] = {0, 0, 0};
    for (const Json *c = json_first(bleu_cases("resampling", 4)); c; c = json_after(c)) {
        const Json *given = json_get(c, "options");
        BleuOptions bleu = {.tokenizer = case_choice(SV("13a"), BLEU_TOKENIZER_CHOICES)};
        ChrfOptions chrf = CHRF_DEFAULTS;
        TerOptions ter = {.case_sensitive = false};
        bool is_bleu = sv_equal(case_text(c, "metric"), SV("bleu"));
        if (is_bleu && json_count(given) > 0) {
            assert_true(sv_equal(case_text(given, "smooth_method"), SV("add-k")));
            bleu.smoothing = BLEU_SMOOTH_ADD_K;
            bleu.smooth_value = case_number(given, "smooth_value");
        } else if (json_count(given) > 0) {
            chrf.word_order = (int)case_number(given, "word_order");
            chrf.eps_smoothing = case_flag(given, "eps_smoothing");
        }
        const void *options[] = {&bleu, &chrf, &ter};
        int kind = case_choice(case_text(c, "metric"), METRIC_CHOICES);
        ChosenMetric metric = {METRICS[kind], options[kind]};
        Statistics first = count_system("sys_a.txt", metric), second = count_system("sys_b.txt", metric);
        check_case(c, &first, &second);
        statistics_free(&first);
        statistics_free(&second);
        seen[kind]++;
    }
    assert_true(seen[0] >= 2 && seen[1] >= 2 && seen[2] >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_numbers_are_numpys),
        cmocka_unit_test(means_agree),
        cmocka_unit_test(arithmetic_agrees),
        cmocka_unit_test(tests_agree),
    };
    return cmocka_run_group_tests(tests, NULL, bleu_cases_free);
}
