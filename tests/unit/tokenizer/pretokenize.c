/* pretokenize.c - where text is cut. Cases: tests/cases/tokenize.case */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tokenizer/pretokenize.h"
#include "unit/cases.h"

static void collect(void *context, StrView token) {
    StrBuf *out = context;
    assert_true(token.length > 0);
    if (out->length > 0) strbuf_add_char(out, '|');
    strbuf_add(out, token);
}

typedef void (*SplitFunction)(StrView text, TokenSink sink, void *context);

static void run(const CaseSection *section, StrView input, StrBuf *got) {
    StrView kind = case_option(section, "split");
    assert_true(sv_equal(kind, SV("words")) || sv_equal(kind, SV("runs")) || sv_equal(kind, SV("spaced")));
    SplitFunction tokenize = kind.data[0] == 'w'   ? tokenize_words
                             : kind.data[0] == 'r' ? tokenize_runs
                                                   : tokenize_spaced;
    tokenize(input, collect, got);
}

static void test_cases(void **state) {
    (void)state;
    cases_run("tests/cases/tokenize.case", "split", run);
}

static void test_nothing(void **state) {
    (void)state;
    static const SplitFunction all[] = {tokenize_words, tokenize_runs, tokenize_spaced};
    static const StrView blank[] = {{NULL, 0}, {"", 0}, {" ", 1}, {" \t \r", 4}, {"\xC2\x85", 2}};
    StrBuf out = {0};
    for (size_t t = 0; t < 3; t++)
        for (size_t i = 0; i < 5; i++) all[t](blank[i], collect, &out);
    tokenize_words(SV("\xC2\xA0\xE2\x80\xAF"), collect, &out);
    assert_int_equal(out.length, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
