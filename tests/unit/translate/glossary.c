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
#include "translate/translator.h"
#include "unit/cases.h"
#include "unit/copy_model.h"
#include "unit/text_fixture.h"

static const TextOptions TEXT = {.normalize = NORMALIZE_NFC, .lowercase = true};

static Status read_files(Glossary **glossary, const char *first, const char *second) {
    char *paths[] = {(char *)(uintptr_t)first, (char *)(uintptr_t)second};
    return glossary_read(glossary, &(StrList){paths, second ? 2 : 1}, &TEXT);
}

/* The targets that are found, with | behind each. */
static void run_found(const CaseSection *section, StrView input, StrBuf *got) {
    static const char FIRST[] = "dog\tchien\ncat\t chat \tmore\n\nhound\tchien\nHot dog\tsaucisse\n";
    static const char SECOND[] = "Dog\tloup\nbird\toiseau\nbig  black\tmerle\n";
    StrView most = case_option(section, "most");
    Glossary *glossary;
    GlossaryTerm terms[9];
    const char *path = fixture_write("glossary", FIRST, strlen(FIRST)),
               *more = fixture_write("more", SECOND, strlen(SECOND));
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
    cases_run("tests/cases/glossary_terms.case", "most", run_found);
}

/* Translations by the model of copy_model.h. */
static void run_translated(const CaseSection *section, StrView input, StrBuf *got) {
    StrBuf words = {0}, pairs = {0}, synonyms = {0}, file = {0};
    StrView terms = case_option(section, "terms"), term, source;
    strbuf_add(&words, case_option(section, "words"));
    strbuf_add(&pairs, case_option(section, "translations"));
    strbuf_add(&synonyms, case_option(section, "synonyms"));
    while (sv_next_word(&terms, &term)) {
        sv_next(&term, '=', &source);
        strbuf_format(&file, "%.*s\t%.*s\n", SV_ARG(source), SV_ARG(term));
    }
    for (size_t i = 0; i < file.length; i++)
        if (file.data[i] == '_') file.data[i] = ' ';
    Seq2Seq *model = copy_model_new(&(CopyModelOptions){.words = strbuf_text(&words),
                                                        .translations = strbuf_text(&pairs),
                                                        .synonyms = strbuf_text(&synonyms)});
    const Seq2Seq *models = model;
    TranslatorOptions options = {
        .search = {.decode = seq2seq_config(model)->decode, .n_best = 1, .attention = true}, .quiet = true};
    Glossary *glossary = NULL;
    if (file.length) {
        const char *path = fixture_write("terms", file.data, file.length);
        assert_int_equal(read_files(&glossary, path, NULL), STATUS_OK);
        options.glossary = glossary;
    }
    StrBuf prefix = {0};
    strbuf_add(&prefix, case_option(section, "prefix"));
    LineConstraints constraints = {.prefix = prefix.length ? strbuf_view(&prefix) : SV("")};
    Workers *workers = workers_new(1);
    Translator *translator;
    Translation out = {0};
    assert_int_equal(translator_new(&translator, &models, 1, &options, workers), STATUS_OK);
    translator_run(translator, &input, &constraints, 1, 1, &out);
    strbuf_add(got, strbuf_view(&out.items[0].text));
    translation_free(&out);
    translator_free(translator);
    workers_free(workers);
    seq2seq_free(model);
    glossary_free(glossary);
    strbuf_free(&prefix);
    strbuf_free(&words);
    strbuf_free(&pairs);
    strbuf_free(&synonyms);
    strbuf_free(&file);
}

#define KEYS "words translations synonyms terms prefix"

static void test_translated(void **state) {
    (void)state;
    cases_run("tests/cases/glossary.case", KEYS, run_translated);
}

static void test_prefix(void **state) {
    (void)state;
    cases_run("tests/cases/prefix.case", KEYS, run_translated);
}

static void test_copied(void **state) {
    (void)state;
    cases_run("tests/cases/copied.case", KEYS, run_translated);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found), cmocka_unit_test(test_translated),
                                       cmocka_unit_test(test_prefix), cmocka_unit_test(test_copied),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
