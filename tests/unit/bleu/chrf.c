/* chrf.c - counts and scores of chrF and chrF++ against sacreBLEU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "bleu/chrf.h"
#include "unit/bleu_cases.h"

static ChrfOptions options_of(const Json *c) {
    return (ChrfOptions){.char_order = (int)case_number(c, "char_order"),
                         .word_order = (int)case_number(c, "word_order"),
                         .beta = (int)case_number(c, "beta"),
                         .lowercase = case_flag(c, "lowercase"),
                         .whitespace = case_flag(c, "whitespace"),
                         .eps_smoothing = case_flag(c, "eps_smoothing")};
}

static void segments_agree(void **state) {
    (void)state;
    int number = 0;
    for (const Json *c = json_first(bleu_cases("chrf", 200)); c; c = json_after(c)) {
        ChrfOptions options = options_of(c);
        case_segment_agrees((ConfiguredMetric){&METRIC_CHRF, &options}, c, number++);
    }
}

static void counting_keeps_no_memory(void **state) {
    (void)state;
    ChrfOptions options = CHRF_DEFAULTS;
    options.word_order = 2;
    case_counts_alike((ConfiguredMetric){&METRIC_CHRF, &options}, "chrf", 200);
}

static void absent_references_do_not_count(void **state) {
    (void)state;
    ChrfOptions options = {.char_order = 2, .beta = 2};
    StrView references[2] = {{NULL, 0}, SV("abx")};
    double row[6], expected[6] = {3, 3, 2, 2, 2, 1};
    case_count((ConfiguredMetric){&METRIC_CHRF, &options}, SV("abc"), references, 2, row);
    assert_memory_equal(row, expected, sizeof row);
}

static void long_text_is_counted(void **state) {
    (void)state;
    ChrfOptions options = CHRF_DEFAULTS;
    StrBuf text = {0};
    for (int i = 0; i < 50000; i++) strbuf_format(&text, "%d ", i % 977);
    StrView view = strbuf_view(&text);
    double row[18];
    case_count((ConfiguredMetric){&METRIC_CHRF, &options}, view, &view, 1, row);
    for (int i = 0; i < 18; i++) assert_true(row[i] == row[0] - i / 3);
    strbuf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_agree),
        cmocka_unit_test(counting_keeps_no_memory),
        cmocka_unit_test(absent_references_do_not_count),
        cmocka_unit_test(long_text_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, bleu_cases_free);
}
