/* glossary.c - the terms in a text, and invalid glossaries; lines translated with terms and prefixes.
 * Cases: tests/cases/glossary_terms.case, glossary.case, prefix.case, copied.case */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/unicode.h"
#include "kern/kern.h"
#include "translate/glossary.h"
#include "unit/copy_cases.h"
#include "unit/text_fixture.h"

static const TextOptions TEXT = {.normalize = NORMALIZE_NFC, .lowercase = true};

static Status read_files(Glossary **glossary, const char *first, const char *second) {
    char *paths[] = {(char *)(uintptr_t)first, (char *)(uintptr_t)second};
    return glossary_read(glossary, &(StrList){paths, second ? 2 : 1}, &TEXT, SV("en"), SV("fr"));
}

/* The targets that are found, with | behind each. */
static void run_found(const CaseSection *section, StrView input, StrBuf *got) {
    static const char FIRST[] = "dog\tchien\ncat\t chat \tmore\n\nhound\tchien\nHot dog\tsaucisse\n";
    static const char SECOND[] = "English\tfra\nen\tdans\nDog\tloup\n_Bird\toiseau\nbig  black\tmerle\n",
                      FORMS[] = "en\tfr\tforms\nremote file\tfichier\n";
    StrView most = case_option(section, "most");
    Glossary *glossary;
    GlossaryTerm terms[9];
    const char *path = fixture_write("glossary", FIRST, strlen(FIRST)),
               *more = case_option(section, "forms").length > 0
                           ? fixture_write("forms", FORMS, strlen(FORMS))
                           : fixture_write("more", SECOND, strlen(SECOND));
    assert_int_equal(read_files(&glossary, path, more), STATUS_OK);
    int count = glossary_find(glossary, input, terms, 0, most.length ? most.data[0] - '0' : 9);
    for (int t = 0; t < count; t++) {
        strbuf_add(got, terms[t].target);
        strbuf_add_char(got, '|');
    }
    glossary_free(glossary);
}

static void test_found(void **state) {
    (void)state;
    cases_run("tests/cases/glossary_terms.case", "most forms", run_found);
}

static void test_translated(void **state) {
    (void)state;
    cases_run("tests/cases/glossary.case", COPY_CASE_KEYS, copy_case_run);
}

static void test_prefix(void **state) {
    (void)state;
    cases_run("tests/cases/prefix.case", COPY_CASE_KEYS, copy_case_run);
}

static void test_placeholders(void **state) {
    (void)state;
    cases_run("tests/cases/placeholders.case", COPY_CASE_KEYS, copy_case_run);
}

static void test_copied(void **state) {
    (void)state;
    cases_run("tests/cases/copied.case", COPY_CASE_KEYS, copy_case_run);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
        size_t bytes;
    } CASES[] = {
        {"go\tva\ngo va\n", "line 2: not SOURCE TAB TARGET", 12},
        {"\tva\n", "line 1: not SOURCE TAB TARGET", 4},
        {"go\t \n", "line 1: not SOURCE TAB TARGET", 5},
        {"go\t\xFF\n", "line 1: not UTF-8", 5},
        {"go\tva\nhi\tsa\0lut\n", "line 2: a NUL byte", 15},
        {"\n\n", "has no terms", 2},
        {"\x1F\x8B\x08", "the gzip data is cut off", 3},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Glossary *glossary;
        const char *path = fixture_write("glossary", CASES[i].text, CASES[i].bytes);
        assert_int_equal(read_files(&glossary, path, NULL), STATUS_DATA);
        assert_null(glossary);
        if (!strstr(status_message(), CASES[i].message))
            fail_msg("no '%s' in '%s'", CASES[i].message, status_message());
    }
}

int main(void) {
    kern_select();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found),        cmocka_unit_test(test_translated),
                                       cmocka_unit_test(test_prefix),       cmocka_unit_test(test_copied),
                                       cmocka_unit_test(test_placeholders), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
