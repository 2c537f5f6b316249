/* test_ter.c - edits and scores of TER against sacreBLEU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "bleu/ter.h"
#include "unit/bleu_cases.h"

static TerOptions options_of(const Json *c) {
    return (TerOptions){.case_sensitive = case_flag(c, "case_sensitive"),
                        .asian_support = case_flag(c, "asian_support"),
                        .no_punct = case_flag(c, "no_punct"),
                        .normalized = case_flag(c, "normalized")};
}

static void segments_agree(void **state) {
    (void)state;
    int number = 0;
    for (const Json *c = json_first(bleu_cases("ter", 400)); c; c = json_after(c)) {
        TerOptions options = options_of(c);
        case_segment_agrees((ChosenMetric){&METRIC_TER, &options}, c, number++);
    }
}

static void counting_keeps_no_memory(void **state) {
    (void)state;
    TerOptions options = {.normalized = true};
    case_counts_alike((ChosenMetric){&METRIC_TER, &options}, "ter", 400);
}

static void absent_references_do_not_count(void **state) {
    (void)state;
    TerOptions options = {.case_sensitive = false};
    StrView references[3] = {{NULL, 0}, SV("a b x d e"), SV("a b")};
    double row[2];
    case_count((ChosenMetric){&METRIC_TER, &options}, SV("a b c"), references, 3, row);
    assert_true(row[0] == 1 && row[1] == 3.5);
}

/* Moving the second half to the front is one edit, however long it is up to the limit of ten words. */
static void a_shift_is_one_edit(void **state) {
    (void)state;
    TerOptions options = {.case_sensitive = false};
    StrView reference = SV("a b c d e f g h");
    double row[2];
    case_count((ChosenMetric){&METRIC_TER, &options}, SV("e f g h a b c d"), &reference, 1, row);
    assert_true(row[0] == 1 && row[1] == 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_agree),
        cmocka_unit_test(counting_keeps_no_memory),
        cmocka_unit_test(absent_references_do_not_count),
        cmocka_unit_test(a_shift_is_one_edit),
    };
    return cmocka_run_group_tests(tests, NULL, bleu_cases_free);
}
