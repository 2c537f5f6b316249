/* pair_stats.c - findings about single pairs, at the limits of each rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "data/pair_stats.h"
#include "unit/text_fixture.h"

static const DataOptions OPTIONS = {.source = (char *)"en", .target = (char *)"fr"};

static Status read_file(PairStats *stats, const char *file, const char *valid) {
    StrList files = {0};
    strlist_add(&files, sv(file));
    Status status = pair_stats_read(stats, &files, valid, &OPTIONS);
    strlist_free(&files);
    return status;
}

static PairStats stats_of(const char *text) {
    PairStats stats;
    if (read_file(&stats, fixture_write("pairs.tsv", text, strlen(text)), NULL) != STATUS_OK)
        fail_msg("%s", status_message());
    return stats;
}

/* UTF-8 decoded as Windows-1252. */
static void test_mojibake(void **state) {
    (void)state;
    static const struct {
        const char *source;
        bool found;
    } CASES[] = {
        {"caf\u00C3\u00A9", true},     {"\u00C2\u00A9", true},
        {"\u00C5\u201Cuf", true},      {"\u00CE\u00B1", true},
        {"\u00CF\u20AC", true},        {"\u00D0\u00B4", true},
        {"\u00D1\u201A", true},        {"It\u00E2\u20AC\u2122s", true},
        {"\u00C2\u00BB", false}, /* a capital before its quote */
        {"\u00C1\u00BB", false},       {"\u00C6\u00BB", false},
        {"\u00D2\u00BB", false},       {"\u00CEa", false},
        {"\u00DF\u20AC\u2122", false},                           /* not the first of three bytes */
        {"\u00F0\u20AC\u2122", false}, {"\u00E9t\u00BB", false}, /* a letter between */
        {"\u00E9\u00A0\u00BB", false}, {"\u00E9\u2026\u00BB", false},
        {"\u00E9\u201C\u2013", false}, /* a letter before its closing quote */
        {"\u00E1\u00BB\u2021", true},  {"\u00E9\u00A0\u2022", true},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        StrBuf line = {0};
        strbuf_format(&line, "%s\tx\n", CASES[i].source);
        PairStats stats = stats_of(strbuf_text(&line));
        if ((stats.findings[FINDING_MOJIBAKE].count == 1) != CASES[i].found) fail_msg("%s", CASES[i].source);
        pair_stats_free(&stats);
        strbuf_free(&line);
    }
}

#define THREE "ab\tcd\nab\tcd\nab\tcd\n"

static void test_findings(void **state) {
    (void)state;
    static const struct {
        const char *text;
        FindingKind kind;
        long line; /* 0: none */
    } CASES[] = {
        {"a\tb\na\tb\n", FINDING_REPEATED, 2},
        {"a\tb\na\tb\n", FINDING_OTHER_TRANSLATION, 0},
        {"a\tb\na\tc\n", FINDING_OTHER_TRANSLATION, 2},
        {"a\tb\na\tc\n", FINDING_REPEATED, 0},
        {"abcdefghijkl\tabcdefghijkl\nabcdefghijkl\tABCDEFGHIJKL\nabcdefghijklmnopqrstuvwxyz\tabcde\n",
         FINDING_LENGTHS, 3}, /* 21 fewer than expected, and less than a third */
        {"abcdefghijkl\tabcdefghijkl\nabcdefghijkl\tABCDEFGHIJKL\nabcdefghijklmnopqrstuvwxyz\tabcdef\n",
         FINDING_LENGTHS, 0},
        {"ab\tab\nabc\tabc\nab\tabcdefghijklmnopqrstuvwxyz\n", FINDING_LENGTHS, 3},
        {"ab\tcd\ncd\tab\n", FINDING_SWAPPED, 0}, /* neither side says enough, then both not together */
        {THREE THREE THREE "cd\tab\n", FINDING_SWAPPED, 0},
        {THREE THREE THREE "ab\tcd\ncd\tab\n", FINDING_SWAPPED, 11},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        PairStats stats = stats_of(CASES[i].text);
        const Finding *finding = &stats.findings[CASES[i].kind];
        long line = finding->count > 0 ? finding->locations[0].line : 0;
        if (finding->count != (CASES[i].line > 0) || line != CASES[i].line)
            fail_msg("case %zu: %ld found, line %ld", i, finding->count, line);
        pair_stats_free(&stats);
    }
}

static void test_scripts(void **state) {
    (void)state;
    ScriptCount scripts[3];
    int different, once;
    PairStats stats = stats_of("abc \u03B1\u03B2 \u16A0\u16A0\u16A0\u16A0 \u0434 1\tx\n");
    assert_int_equal(pair_stats_scripts(&stats, PAIR_SOURCE, scripts, 3, &different, &once), 3);
    static const ScriptCount WANTED[] = {{"other", 4}, {"Latin", 3}, {"Greek", 2}};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(scripts[i].name, WANTED[i].name);
        assert_int_equal(scripts[i].letters, WANTED[i].letters);
    }
    assert_int_equal(different, 8);
    assert_int_equal(once, 7);
    pair_stats_free(&stats);
}

/* U+00A0, U+202F and U+3000 are; U+0020, U+0085 and U+200B are not. */
static void test_other_spaces(void **state) {
    (void)state;
    PairStats stats = stats_of("a b\tc\u00A0: d\u202F? e\u3000f\xC2\x85g\u200Bh\u00A0!\n");
    assert_int_equal(pair_stats_other_spaces(&stats, PAIR_SOURCE), 0);
    assert_int_equal(pair_stats_other_spaces(&stats, PAIR_TARGET), 4);
    pair_stats_free(&stats);
}

static void test_damaged(void **state) {
    (void)state;
    PairStats stats;
    const char *pairs = fixture_write("pairs.tsv", "a\tb\n", 4);
    const char *valid = fixture_write("cut.gz", "\x1F\x8B\x08", 3);
    assert_int_equal(read_file(&stats, pairs, valid), STATUS_DATA);
    assert_null(stats.seen[0]);
    assert_int_equal(read_file(&stats, valid, NULL), STATUS_DATA);
    assert_null(stats.seen[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mojibake),     cmocka_unit_test(test_findings), cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_other_spaces), cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
