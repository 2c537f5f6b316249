/* columns.c - which columns of a table are read, and why. Cases: tests/cases/columns.case */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "data/columns.h"
#include "unit/cases.h"

#define WRITE(name, text) fixture_write(name, text, sizeof(text) - 1)

/* "-,en,fr en>fr": the names of the columns, and the direction. */
static void check_columns(const Columns *columns, const char *expected) {
    StrBuf shown = {0};
    columns_format(columns, &shown);
    strbuf_format(&shown, " %.*s>%.*s", SV_ARG(columns->source_name), SV_ARG(columns->target_name));
    assert_string_equal(strbuf_text(&shown), expected);
    strbuf_free(&shown);
}

/* ---- headers ---- */

static void run_header(const CaseSection *section, StrView input, StrBuf *got) {
    StrView target = case_option(section, "languages"), source = {0};
    Columns columns;
    bool named = target.length > 0 && sv_next(&target, ' ', &source);
    bool found = named ? columns_from_header_of(input, source, target, &columns)
                       : columns_from_header(input, source, target, &columns);
    if (!found) {
        strbuf_add(got, SV("none"));
        return;
    }
    columns_format(&columns, got);
    strbuf_format(got, " %.*s>%.*s", SV_ARG(columns.source_name), SV_ARG(columns.target_name));
    if (!named) assert_int_equal(columns.reason, COLUMNS_HEADER);
}

static void test_cases(void **state) {
    (void)state;
    cases_run("tests/cases/columns.case", "languages", run_header);
}

static void these_languages(void **state) {
    (void)state;
    Columns columns;
    assert_false(columns_from_header((StrView){0}, (StrView){0}, (StrView){0}, &columns));
    assert_false(
        columns_from_header_of(SV("\tkey\ten"), SV(""), SV("en"), &columns)); /* an unknown language */
    /* Other languages are taken as they come, and regions do not turn the direction round. */
    assert_true(columns_from_header(SV("it\tes"), SV("en"), SV("de"), &columns));
    check_columns(&columns, "it,es it>es");
    assert_true(columns_from_header(SV("de\ten-US"), SV("en-GB"), SV("de"), &columns));
    check_columns(&columns, "de,en en>de");
}

/* ---- choosing ---- */

#define EN_DE      .model_source = {"en", 2}, .model_target = {"de", 2}
#define LINE(text) .first_line = {text, sizeof(text) - 1}

static void choices(void **state) {
    (void)state;
    static const struct {
        ColumnHints hints;
        ColumnsReason reason;
        const char *columns;
    } CHOICES[] = {
        {{.path = "a", LINE("Go.\tLos.")}, COLUMNS_DEFAULT, "source,target source>target"},
        {{.path = "a", LINE("Go.\tLos."), EN_DE}, COLUMNS_MODEL, "en,de en>de"},
        {{.path = "a", LINE("Go.\tLos."), EN_DE, .languages = "fr-de"}, COLUMNS_LANGUAGES, "fr,de fr>de"},
        {{.path = "a", LINE("x\tde\ten")}, COLUMNS_HEADER, "-,de,en de>en"},
        {{.path = "a", LINE("fr\tde\ten"), EN_DE}, COLUMNS_HEADER, "-,de,en en>de"},
        {{.path = "a", LINE("x\tde\ten"), EN_DE, .languages = "de-en"}, COLUMNS_HEADER, "-,de,en de>en"},
        {{.path = "a", LINE("x\tde\ten"), .languages = "fr-it"}, COLUMNS_LANGUAGES, "fr,it fr>it"},
        {{.path = "a", LINE("x\tde\ten"), .names = "fr,-,it"}, COLUMNS_NAMES, "fr,-,it fr>it"},
        {{.path = "a", .languages = "it-fr", .names = "fr,-,it"}, COLUMNS_NAMES, "fr,-,it it>fr"},
        {{.path = "a.{}", .languages = "it-fr", .names = "en,de"}, COLUMNS_LANGUAGES, "it,fr it>fr"},
    };
    Columns columns;
    for (size_t i = 0; i < sizeof CHOICES / sizeof *CHOICES; i++) {
        assert_int_equal(columns_choose(&CHOICES[i].hints, &columns), STATUS_OK);
        assert_int_equal(columns.reason, CHOICES[i].reason);
        check_columns(&columns, CHOICES[i].columns);
    }
    assert_int_equal(columns_choose(&(ColumnHints){.path = "a", .languages = "en"}, &columns), STATUS_USAGE);
    assert_int_equal(columns_choose(&(ColumnHints){.path = "a", .names = "-,en"}, &columns), STATUS_USAGE);
    assert_string_equal(status_message(), "language 'target' is not one of the columns '-,en'");
}

static void other_languages_in_the_header(void **state) {
    (void)state;
    ColumnHints hints = {.path = "a", LINE("x\tde\ten"), .languages = "en-de"};
    assert_int_equal(columns_check_languages(&hints), STATUS_OK);
    hints.languages = "en-fr";
    assert_int_equal(columns_check_languages(&hints), STATUS_USAGE);
    assert_string_equal(status_message(), "'a' names de and en, --languages en-fr");
    hints.first_line = SV("Go.\tLos.");
    assert_int_equal(columns_check_languages(&hints), STATUS_OK);
}

static void languages_of_names(void **state) {
    (void)state;
    StrView two[2] = {SV("a"), SV("b")};
    assert_int_equal(columns_languages(NULL, two), 0);
    assert_int_equal(columns_languages("-,,-", two), 0);
    assert_true(sv_equal(two[0], SV("a")));
    assert_int_equal(columns_languages("-, en", two), 1);
    assert_true(sv_equal(two[0], SV("en")) && sv_equal(two[1], SV("b")));
    assert_int_equal(columns_languages("de,-,fr,it", two), 3);
    assert_true(sv_equal(two[0], SV("de")) && sv_equal(two[1], SV("fr")));
}

/* ---- lines ---- */

static void fields_and_ids(void **state) {
    (void)state;
    Columns columns;
    StrView source = {0}, target = {0};
    assert_int_equal(columns_locate("-,en,-,de", SV("de"), SV("en"), &columns), STATUS_OK);
    assert_int_equal(columns.count, 4);
    assert_int_equal(columns_cut(&columns, SV("1\tone\tx\teins\ty"), &source, &target), 5);
    assert_true(sv_equal(source, SV("eins")) && sv_equal(target, SV("one")));
    assert_int_equal(columns_cut(&columns, SV("1\ttwo"), &source, &target), 2);
    assert_true(sv_equal(source, SV("eins")) && sv_equal(target, SV("two")));
    columns = columns_first_two(SV("en"), SV("de"));
    assert_true(columns_look_like_ids(&columns, SV(" 17\tone\teins")));
    assert_false(columns_look_like_ids(&columns, SV("17\tone")));        /* there is no other column */
    assert_false(columns_look_like_ids(&columns, SV("17\t17\tone")));    /* a pair of numbers */
    assert_false(columns_look_like_ids(&columns, SV("17.\tone\teins"))); /* a text */
}

static void check_first_line(const char *path, const char *expected) {
    StrBuf line = {0};
    strbuf_add(&line, SV("> "));
    columns_read_first_line(path, NULL, &line);
    assert_string_equal(strbuf_text(&line) + 2, expected);
    strbuf_free(&line);
}

static void first_lines(void **state) {
    (void)state;
    check_first_line(WRITE("f.tsv", "en\tfr\r\na\tb\n"), "en\tfr");
    check_first_line(WRITE("f.tsv", ""), "");
    check_first_line(fixture_path("none.tsv"), "");
    check_first_line(WRITE("f.{}", "a\n"), "");
    check_first_line(NULL, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(these_languages),
        cmocka_unit_test(choices),
        cmocka_unit_test(other_languages_in_the_header),
        cmocka_unit_test(languages_of_names),
        cmocka_unit_test(fields_and_ids),
        cmocka_unit_test(first_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
