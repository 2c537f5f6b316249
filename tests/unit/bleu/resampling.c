/* resampling.c - intervals and p-values agree with sacreBLEU's as far as chance allows; seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include "base/mem.h"
#include "bleu/bleu.h"
#include "bleu/chrf.h"
#include "bleu/resampling.h"
#include "bleu/ter.h"
#include "bleu/bleu_tokenizers.h"
#include "unit/bleu_cases.h"

/* Statistics of the first `most` lines of one system against ref.txt. */
static Statistics count_system(const char *name, size_t most, ConfiguredMetric metric) {
    StrBuf texts[2] = {{0}, {0}};
    size_t count, reference_count;
    StrView *hypotheses = case_lines(name, &count, &texts[0]);
    const StrView *references = case_lines("ref.txt", &reference_count, &texts[1]);
    assert_int_equal(count, reference_count);
    assert_true(most <= count);
    Statistics statistics = statistics_count(metric, hypotheses, most, &references, 1);
    mem_free(hypotheses);
    mem_free((StrView *)references);
    strbuf_free(&texts[0]);
    strbuf_free(&texts[1]);
    return statistics;
}

/* Both numbers are estimates of the same quantity, each with this standard error. The difference has sqrt(2)
 * times that error, and is five times as large once in a million and a half. */
static void check_estimate(const Json *c, const char *key, double actual, double standard_error) {
    double expected = case_number(c, key), most = 5 * sqrt(2) * standard_error;
    if (!(fabs(actual - expected) <= most))
        fail_msg("%s: %.17g is not within %g of %.17g", key, actual, most, expected);
}

/* Of N resampled scores with deviation s, a mean has the standard error s / sqrt(N). A quantile q has
 * sqrt(q (1 - q) / N) / f, where f is the density there; of the normal distribution's quantiles of 2.5 and
 * 97.5 %, half the difference has 1.86 s / sqrt(N). */
static void check_interval(const Json *c, const char *mean, const char *half_width, Interval interval) {
    double unit = case_number(c, half_width) / 1.96 / sqrt(case_number(c, "samples"));
    check_estimate(c, mean, interval.mean, unit);
    check_estimate(c, half_width, interval.half_width, 1.86 * unit);
}

static void check_case(const Json *c, const Statistics *first, const Statistics *second) {
    enum { SEED = 12345 };
    int samples = (int)case_number(c, "samples");
    Interval alone = resampling_interval(second, SEED, samples), paired;
    if (!case_agrees(case_number(c, "score"), statistics_score(second)))
        fail_msg("score: %.17g", statistics_score(second));
    check_interval(c, "mean", "half_width", alone);
    check_interval(c, "baseline_mean", "baseline_half_width", resampling_interval(first, SEED, samples));
    double p = resampling_paired_bootstrap(first, second, SEED, samples, &paired),
           expected = case_number(c, "p");
    check_estimate(c, "p", p, sqrt(expected * (1 - expected) / samples));
    assert_true(paired.mean == alone.mean && paired.half_width == alone.half_width);
}

static void estimates_agree(void **state) {
    (void)state;
    int seen[3] = {0, 0, 0};
    for (const Json *c = json_first(bleu_cases("resampling", 6)); c; c = json_after(c)) {
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
        ConfiguredMetric metric = {METRICS[kind], options[kind]};
        size_t lines = (size_t)case_number(c, "lines");
        Statistics first = count_system("sys_a.txt", lines, metric);
        Statistics second = count_system("sys_b.txt", lines, metric);
        check_case(c, &first, &second);
        statistics_free(&first);
        statistics_free(&second);
        seen[kind]++;
    }
    assert_true(seen[0] >= 3 && seen[1] >= 2 && seen[2] >= 1);
}

/* A system against itself: both have the same resamples, so no resample differs. */
static void pairs_are_resampled_together(void **state) {
    (void)state;
    enum { SAMPLES = 99 };
    ChrfOptions options = CHRF_DEFAULTS;
    Statistics system = count_system("sys_a.txt", 150, (ConfiguredMetric){&METRIC_CHRF, &options});
    Interval interval;
    double p = resampling_paired_bootstrap(&system, &system, 1, SAMPLES, &interval);
    assert_true(p == 1. / (SAMPLES + 1));
    statistics_free(&system);
}

static void the_seed_decides(void **state) {
    (void)state;
    ChrfOptions options = CHRF_DEFAULTS;
    Statistics system = count_system("sys_a.txt", 150, (ConfiguredMetric){&METRIC_CHRF, &options});
    Interval one = resampling_interval(&system, 1, 100), again = resampling_interval(&system, 1, 100);
    assert_memory_equal(&one, &again, sizeof one);
    assert_true(resampling_interval(&system, 2, 100).mean != one.mean);
    statistics_free(&system);
}

static void seeds_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text, *shown;
        uint64_t number;
    } CASES[] = {{NULL, "12345", 12345},
                 {"0042", "0042", 42},
                 {"18446744073709551615", "18446744073709551615", UINT64_MAX},
                 {"18446744073709551619", "18446744073709551619", 3}};
    Seed seed, other;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        assert_int_equal(seed_read(&seed, CASES[i].text), STATUS_OK);
        assert_string_equal(seed.text, CASES[i].shown);
        assert_true(seed.number == CASES[i].number);
    }
    assert_int_equal(seed_read(&seed, "None"), STATUS_OK);
    assert_int_equal(seed_read(&other, "none"), STATUS_OK);
    assert_string_equal(seed.text, "none");
    assert_true(seed.number != other.number);
    static const char *const BAD[] = {
        "", "-1", "1.5", "12x",
        "12345678901234567890123456789012345678901234567890123456789012345678901234567890"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_int_equal(seed_read(&seed, BAD[i]), STATUS_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_agree),
        cmocka_unit_test(pairs_are_resampled_together),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(seeds_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, bleu_cases_free);
}
