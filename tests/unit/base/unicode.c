/* unicode.c - normal forms, case, character classes. Cases: tests/cases/normalize.case */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/unicode.h"
#include "base/utf8.h"
#include "unit/cases.h"

static void run(const CaseSection *section, StrView input, StrBuf *got) {
    StrView form = case_option(section, "form");
    bool lower = sv_ends(form, SV("+lower"));
    if (lower) form.length -= strlen("+lower");
    NormalForm normal = sv_equal(form, SV("nfc"))    ? NORMALIZE_NFC
                        : sv_equal(form, SV("nfkc")) ? NORMALIZE_NFKC
                                                     : NORMALIZE_NONE;
    StrBuf out = {0};
    strbuf_add(&out, SV("kept:")); /* the result is appended */
    unicode_normalize(input, normal, lower, &out);
    assert_memory_equal(out.data, "kept:", 5);
    strbuf_add(got, (StrView){out.data + 5, out.length - 5});
    strbuf_free(&out);
}

static void test_cases(void **state) {
    (void)state;
    cases_run("tests/cases/normalize.case", "form", run);
}

/* NFC has a short cut for text of characters that nothing composes with, and a long way for the rest. A Han
 * character forces the long way; both must agree, wherever the short cut applies. */
static void check_short_cut(int first, int second, StrBuf *text, StrBuf *brief, StrBuf *full) {
    strbuf_clear(text), strbuf_clear(brief), strbuf_clear(full);
    utf8_add(text, first);
    utf8_add(text, second);
    unicode_normalize(strbuf_view(text), NORMALIZE_NFC, false, brief);
    utf8_add(brief, 0x65E5);
    utf8_add(text, 0x65E5);
    unicode_normalize(strbuf_view(text), NORMALIZE_NFC, false, full);
    if (!sv_equal(strbuf_view(brief), strbuf_view(full))) fail_msg("U+%04X U+%04X", first, second);
}

static void test_short_cut(void **state) {
    (void)state;
    static const int before[] = {'a', 0x1B0, 0x2190}, after[] = {0xF0, 0x301, 0x338};
    StrBuf text = {0}, brief = {0}, full = {0};
    for (int c = 1; c < 0x3100; c++)
        for (int i = 0; i < 3; i++) {
            check_short_cut(before[i], c, &text, &brief, &full);
            check_short_cut(c, after[i], &text, &brief, &full);
        }
    strbuf_free(&text);
    strbuf_free(&brief);
    strbuf_free(&full);
}

static void add_stable(StrBuf *list) {
    for (int c = 1; c < 0x300; c++) utf8_add(list, c);
    for (int c = 0x2002; c < 0x20D0; c++) utf8_add(list, c);
}

/* The long way does not change any pair from the ranges of the short cut. */
static void test_stable_ranges(void **state) {
    (void)state;
    StrBuf list = {0}, pair = {0}, out = {0};
    add_stable(&list);
    StrView all = strbuf_view(&list);
    for (size_t p = 0; p < all.length;) {
        int first = utf8_next(all, &p);
        strbuf_clear(&pair);
        strbuf_clear(&out);
        for (size_t q = 0; q < all.length;) {
            utf8_add(&pair, first);
            utf8_add(&pair, utf8_next(all, &q));
        }
        utf8_add(&pair, 0x65E5);
        unicode_normalize(strbuf_view(&pair), NORMALIZE_NFC, false, &out);
        if (!sv_equal(strbuf_view(&pair), strbuf_view(&out))) fail_msg("U+%04X is not stable", first);
    }
    strbuf_free(&list);
    strbuf_free(&pair);
    strbuf_free(&out);
}

/* Normalization is idempotent for every code point, alone and followed by an accent. */
static void test_idempotent(void **state) {
    (void)state;
    StrBuf text = {0}, once = {0}, twice = {0};
    for (int start = 1; start <= 0x10FFFF; start += 0x100) {
        if (start > 0x32000 && start < 0xE0000) continue; /* nothing there */
        for (int kind = 0; kind < 4; kind++) {
            NormalForm form = kind % 2 ? NORMALIZE_NFKC : NORMALIZE_NFC;
            strbuf_clear(&text), strbuf_clear(&once), strbuf_clear(&twice);
            for (int c = start; c < start + 0x100 && c <= 0x10FFFF; c++) {
                utf8_add(&text, c);
                strbuf_add(&text, SV(" "));
                utf8_add(&text, c);
                strbuf_add(&text, SV("\xCC\x81 "));
            }
            unicode_normalize(strbuf_view(&text), form, kind >= 2, &once);
            unicode_normalize(strbuf_view(&once), form, kind >= 2, &twice);
            if (!sv_equal(strbuf_view(&once), strbuf_view(&twice)))
                fail_msg("block U+%04X, kind %d", start, kind);
        }
    }
    strbuf_free(&text);
    strbuf_free(&once);
    strbuf_free(&twice);
}

static void test_empty(void **state) {
    (void)state;
    for (int form = NORMALIZE_NONE; form <= NORMALIZE_NFKC; form++) {
        StrBuf out = {0};
        unicode_normalize((StrView){NULL, 0}, (NormalForm)form, false, &out);
        unicode_normalize((StrView){"", 0}, (NormalForm)form, true, &out);
        assert_int_equal(out.length, 0);
        strbuf_free(&out);
    }
}

static void test_classes(void **state) {
    (void)state;
    static const struct {
        int c;
        CharClass class;
    } known[] = {
        {' ', CHAR_SPACE},    {'\t', CHAR_SPACE},    {'\r', CHAR_SPACE},    {'\v', CHAR_SPACE},
        {0x85, CHAR_SPACE},   {0x2028, CHAR_SPACE},  {0x2029, CHAR_SPACE},  {0xA0, CHAR_OTHER},
        {0x202F, CHAR_OTHER}, {0x2009, CHAR_OTHER},  {0x3000, CHAR_OTHER},  {'a', CHAR_LETTER},
        {0xE9, CHAR_LETTER},  {0x153, CHAR_LETTER},  {0x65E5, CHAR_LETTER}, {0x2BC, CHAR_LETTER},
        {0x301, CHAR_MARK},   {0xFE0F, CHAR_MARK},   {'7', CHAR_DIGIT},     {0x664, CHAR_DIGIT},
        {0xBD, CHAR_OTHER},   {'\'', CHAR_OTHER},    {0x2019, CHAR_OTHER},  {'-', CHAR_OTHER},
        {0x20AC, CHAR_OTHER}, {0x1F600, CHAR_OTHER}, {0xFFFD, CHAR_OTHER},  {1, CHAR_OTHER},
        {0x2581, CHAR_OTHER}, {0x200D, CHAR_OTHER},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (unicode_class(known[i].c) != known[i].class)
            fail_msg("U+%04X: class %d", known[i].c, unicode_class(known[i].c));
    assert_true(unicode_is_space(' ') && unicode_is_space(0xA0) && unicode_is_space(0x202F));
    assert_true(unicode_is_space(0x3000) && unicode_is_space('\t') && unicode_is_space(0x2028));
    assert_false(unicode_is_space('a') || unicode_is_space('.') || unicode_is_space(0x200B));
    assert_true(unicode_is_upper('A') && unicode_is_upper(0x1C5)); /* Dz with caron: its first letter is */
    assert_false(unicode_is_upper('a') || unicode_is_upper('1'));
}

/* The characters of newer versions of Unicode, whether the library knows them or not; and gaps between. */
static void test_kinds(void **state) {
    (void)state;
    assert_int_equal(unicode_kind(','), UNICODE_PUNCTUATION);
    assert_int_equal(unicode_kind(0xBD), UNICODE_NUMBER);
    assert_int_equal(unicode_kind('+'), UNICODE_SYMBOL);
    assert_int_equal(unicode_kind('a'), UNICODE_OTHER);
    assert_int_equal(unicode_kind(0x1B4E), UNICODE_PUNCTUATION);
    assert_int_equal(unicode_kind(0x2FFF), UNICODE_SYMBOL);
    assert_int_equal(unicode_kind(0x16130), UNICODE_NUMBER);
    assert_int_equal(unicode_kind(0x378), UNICODE_OTHER);
    assert_int_equal(unicode_kind(0x3FFFD), UNICODE_OTHER);
}

static void test_trim(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"a \t\xC2\xA0\xE3\x80\x80", "a"}, {" a", " a"}, {" \n", ""}, {"", ""}, {"a \x80", "a \x80"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_true(sv_equal(unicode_trim_end(sv(texts[i][0])), sv(texts[i][1])));
}

/* A blank side makes a training pair unusable and a line to translate empty. */
static void test_blank(void **state) {
    (void)state;
    static const char *const blank[] = {"", " \t\r\v", "\xC2\xA0\xE2\x80\xAF\xE3\x80\x80", "\xE2\x80\x8B",
                                        "\xEF\xBB\xBF \x1C\x1F"};
    static const char *const full[] = {" .", "\xE2\x80\x8B-", "\xE2\x80\x8D", "\x01", "\xFF"};
    for (size_t i = 0; i < sizeof blank / sizeof *blank; i++) assert_true(unicode_is_blank(sv(blank[i])));
    for (size_t i = 0; i < sizeof full / sizeof *full; i++) assert_false(unicode_is_blank(sv(full[i])));
    assert_true(unicode_is_blank((StrView){0}));
}

static void test_widths(void **state) {
    (void)state;
    assert_int_equal(unicode_width('a'), 1);
    assert_int_equal(unicode_width(0xE9), 1);
    assert_int_equal(unicode_width(0x301), 0);
    assert_int_equal(unicode_width(0x65E5), 2);
    assert_int_equal(unicode_width(0x1F600), 2);
    assert_true(unicode_is_right_to_left(0x5E9) && unicode_is_right_to_left(0x644));
    assert_false(unicode_is_right_to_left('a') || unicode_is_right_to_left(0x301));
    assert_int_equal(unicode_width(0), 0);
    assert_int_equal(unicode_width(0x1F3FD), 0); /* skin colour: part of the emoji before it */
    assert_int_equal(unicode_width(0x1161), 0);  /* vowel of the syllable before it */
    for (int c = 0; c <= 0x10FFFF; c++) assert_in_range(unicode_width(c), 0, 2);
}

static void test_ignorable(void **state) {
    (void)state;
    static const int ignorable[] = {0xAD, 0x200B, 0x200D, 0x2060, 0xFEFF, 0xFE0F, 0x34F, 0x180B, 0xE0101};
    static const int others[] = {' ', 'a', 0xA0, 0x2009, 0x2028, 0x301, 0x2581, 0x1F600};
    for (size_t i = 0; i < sizeof ignorable / sizeof *ignorable; i++)
        assert_true(unicode_is_ignorable(ignorable[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_false(unicode_is_ignorable(others[i]));
}

static void test_upper(void **state) {
    (void)state;
    StrBuf text = {0};
    unicode_upper(SV("stra\u00DFe \u00E9t\u00E9 \u03C3\u03C2 1"), &text);
    assert_string_equal(strbuf_text(&text), "STRA\u1E9EE \u00C9T\u00C9 \u03A3\u03A3 1");
    strbuf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),         cmocka_unit_test(test_short_cut),
        cmocka_unit_test(test_stable_ranges), cmocka_unit_test(test_idempotent),
        cmocka_unit_test(test_empty),         cmocka_unit_test(test_classes),
        cmocka_unit_test(test_kinds),         cmocka_unit_test(test_trim),
        cmocka_unit_test(test_blank),         cmocka_unit_test(test_widths),
        cmocka_unit_test(test_ignorable),     cmocka_unit_test(test_upper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
