/* utf8.c - decoding, encoding and repair of UTF-8. Cases: tests/cases/utf8.case */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "base/utf8.h"
#include "unit/text_fixture.h"

static void check_case(const FixtureCase *block) {
    assert_int_equal(block->count, 3);
    StrView text = block->line[0], rest = block->line[1], number;
    StrBuf expected = {0}, repaired = {0};
    size_t position = 0, count = 0;
    while (sv_next(&rest, ' ', &number)) {
        int code_point = (int)strtol(number.data, NULL, 16);
        if (position >= text.length) fail_msg("line %d: too few code points", block->number);
        int got = utf8_next(text, &position);
        if (got != code_point) fail_msg("line %d: U+%04X, not U+%04X", block->number, got, code_point);
        utf8_add(&expected, code_point == 0 ? UTF8_REPLACEMENT : code_point);
        count++;
    }
    if (position != text.length) fail_msg("line %d: too many code points", block->number);
    int repairs = atoi(block->line[2].data);
    if ((int)utf8_repair(text, &repaired) != repairs)
        fail_msg("line %d: wrong count of repairs", block->number);
    if (!sv_equal(strbuf_view(&repaired), strbuf_view(&expected)))
        fail_msg("line %d: wrong repair", block->number);
    assert_int_equal(utf8_count(text), count);
    assert_true(utf8_valid(strbuf_view(&repaired)));
    bool only_nul = sv_equal(text, (StrView){"a\0b\0", 4});
    assert_int_equal(utf8_valid(text), repairs == 0 || only_nul);
    strbuf_free(&expected);
    strbuf_free(&repaired);
}

static void test_cases(void **state) {
    (void)state;
    fixture_cases("tests/cases/utf8.case", check_case);
}

/* Every code point is the same after encoding and decoding, with the number of bytes of its range. */
static void test_all_code_points(void **state) {
    (void)state;
    StrBuf text = {0};
    for (int c = 1; c <= 0x10FFFF; c++) {
        if (c == 0xD800) c = 0xE000;
        strbuf_clear(&text);
        utf8_add(&text, c);
        size_t position = 0;
        assert_int_equal(utf8_next(strbuf_view(&text), &position), c);
        assert_int_equal(position, text.length);
        assert_int_equal(text.length, c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4);
        if (!utf8_valid(strbuf_view(&text))) fail_msg("U+%04X is refused", c);
    }
    strbuf_free(&text);
}

static void test_add_refuses(void **state) {
    (void)state;
    static const int wrong[] = {-1, 0xD800, 0xDFFF, 0x110000, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        StrBuf text = {0};
        utf8_add(&text, wrong[i]);
        assert_string_equal(strbuf_text(&text), "\xEF\xBF\xBD");
        strbuf_free(&text);
    }
}

/* All strings of up to three bytes from the limits of table 3-7, followed by a letter: the letter after an
 * error stays, and repair gives valid text with the same code points. */
static void test_short_strings(void **state) {
    (void)state;
    static const unsigned char edge[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                         0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
                                         0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
    int n = sizeof edge;
    StrBuf repaired = {0};
    for (int i = 0; i < n * n * n; i++) {
        char bytes[4] = {(char)edge[i % n], (char)edge[i / n % n], (char)edge[i / n / n], 'z'};
        StrView text = {bytes, 4};
        strbuf_clear(&repaired);
        size_t repairs = utf8_repair(text, &repaired);
        assert_true(utf8_valid(strbuf_view(&repaired)));
        assert_true(repaired.data[repaired.length - 1] == 'z');
        assert_int_equal(utf8_count(strbuf_view(&repaired)), utf8_count(text));
        assert_true(repairs <= 3);
    }
    strbuf_free(&repaired);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_all_code_points),
        cmocka_unit_test(test_add_refuses),
        cmocka_unit_test(test_short_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
