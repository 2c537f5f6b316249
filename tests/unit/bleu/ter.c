/* ter.c - edits and scores of TER against sacreBLEU. */
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
        case_segment_agrees((ConfiguredMetric){&METRIC_TER, &options}, c, number++);
    }
}

static void counting_keeps_no_memory(void **state) {
    (void)state;
    TerOptions options = {.normalized = true};
    case_counts_alike((ConfiguredMetric){&METRIC_TER, &options}, "ter", 400);
}

static void absent_references_do_not_count(void **state) {
    (void)state;
    TerOptions options = {.case_sensitive = false};
    StrView references[3] = {{NULL, 0}, SV("a b x d e"), SV("a b")};
    double row[2];
    case_count((ConfiguredMetric){&METRIC_TER, &options}, SV("a b c"), references, 3, row);
    assert_true(row[0] == 1 && row[1] == 3.5);
}

static void check_edits(const TerOptions *options, StrView hypothesis, StrView reference, double edits,
                        double words) {
    double row[2];
    case_count((ConfiguredMetric){&METRIC_TER, options}, hypothesis, &reference, 1, row);
    assert_true(row[0] == edits && row[1] == words);
}

/* Moving the second half to the front is one edit, however long it is up to the limit of ten words. */
static void a_shift_is_one_edit(void **state) {
    (void)state;
    TerOptions options = {.case_sensitive = false};
    check_edits(&options, SV("e f g h a b c d"), SV("a b c d e f g h"), 1, 8);
    /* "c a" goes to the end, and one of "b b" is wrong */
    check_edits(&options, SV("c a b b"), SV("b a c a"), 2, 4);
}

/* As sacreBLEU does it: ",.5" is two words, of which the second time three are made. */
static void references_are_tokenized_twice(void **state) {
    (void)state;
    TerOptions options = {.normalized = true};
    check_edits(&options, SV("x ,.5"), SV("x ,.5"), 2, 4);
    check_edits(&options, SV("x , . 5"), SV("x ,.5"), 0, 4);
}

/* The reference has `more` words before the common part, the hypothesis has `more` words after it: insertions
 * and deletions. The beam of sacreBLEU finds them for 24 words; for 25 it substitutes all words. */
static void the_way_is_near_the_diagonal(void **state) {
    (void)state;
    enum { COMMON = 30 };
    TerOptions options = {.case_sensitive = false};
    for (int more = 24; more <= 25; more++) {
        StrBuf hypothesis = {0}, reference = {0};
        for (int i = 0; i < more; i++) strbuf_format(&reference, "x%d ", i);
        for (int i = 0; i < COMMON; i++) strbuf_format(&reference, "w%d ", i);
        for (int i = 0; i < COMMON; i++) strbuf_format(&hypothesis, "w%d ", i);
        for (int i = 0; i < more; i++) strbuf_format(&hypothesis, "y%d ", i);
        check_edits(&options, strbuf_view(&hypothesis), strbuf_view(&reference),
                    more == 24 ? 2 * more : COMMON + more, COMMON + more);
        strbuf_free(&hypothesis);
        strbuf_free(&reference);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_agree),
        cmocka_unit_test(counting_keeps_no_memory),
        cmocka_unit_test(absent_references_do_not_count),
        cmocka_unit_test(a_shift_is_one_edit),
        cmocka_unit_test(references_are_tokenized_twice),
        cmocka_unit_test(the_way_is_near_the_diagonal),
    };
    return cmocka_run_group_tests(tests, NULL, bleu_cases_free);
}
