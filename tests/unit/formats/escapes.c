/* escapes.c - line ends, TABs and backslashes in cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "formats/escapes.h"

static void test_escapes(void **state) {
    (void)state;
    static const struct {
        const char *text, *cell, *back; /* back: NULL if it is the text */
    } CASES[] = {
        {"", "", NULL},
        {"plain", "plain", NULL},
        {"a\nb\tc\\d", "a\\nb\\tc\\\\d", NULL},
        {"\\n", "\\\\n", NULL},
        {"a\r\nb\rc", "a\\nb\\nc", "a\nb\nc"},
        {"\n\n\\", "\\n\\n\\\\", NULL},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        StrBuf cell = {0}, text = {0};
        escapes_add(sv(CASES[i].text), &cell);
        assert_string_equal(strbuf_text(&cell), CASES[i].cell);
        escapes_remove(strbuf_view(&cell), &text);
        assert_string_equal(strbuf_text(&text), CASES[i].back ? CASES[i].back : CASES[i].text);
        strbuf_free(&cell);
        strbuf_free(&text);
    }
    StrBuf text = {0};
    escapes_remove(SV("C:\\dir \\"), &text); /* other backslashes stand for themselves */
    assert_string_equal(strbuf_text(&text), "C:\\dir \\");
    strbuf_free(&text);
}

static void test_first_line(void **state) {
    (void)state;
    assert_true(escapes_are_named(SV("en\tde\tescaped")));
    assert_true(escapes_are_named(SV("id\ten\tde\tescaped ")));
    static const char *const OTHERS[] = {"",
                                         "escaped",
                                         "entkommen\tescaped",
                                         "en\tde\tEscaped",
                                         "en\tescaped\tde",
                                         "That is a sentence that goes on and on and on.\tde\tescaped"};
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        assert_false(escapes_are_named(sv(OTHERS[i])));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_escapes), cmocka_unit_test(test_first_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
