/* charsmap.c - maps made by hand, most of them hostile. Maps of the original: sentencepiece.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "sentencepiece/charsmap.h"

enum { UNITS = 256, LEAF = 1 << 8 };

/* A map of UNITS units and one text of replacements. */
static StrBuf map_bytes(const uint32_t *units, StrView replacements) {
    StrBuf out = {0};
    uint32_t size = UNITS * 4;
    for (int i = -1; i < UNITS; i++)
        for (int shift = 0; shift < 32; shift += 8)
            strbuf_add_char(&out, (char)((i < 0 ? size : units[i]) >> shift & 0xFF));
    strbuf_add(&out, replacements);
    return out;
}

static Charsmap *map_new(const uint32_t *units, StrView replacements) {
    Charsmap *map;
    StrBuf bytes = map_bytes(units, replacements);
    assert_int_equal(charsmap_read(&map, strbuf_view(&bytes)), STATUS_OK);
    assert_true(sv_equal(charsmap_bytes(map), strbuf_view(&bytes)));
    strbuf_free(&bytes);
    return map;
}

static void check_refused(const uint32_t *units, StrView replacements, const char *expected) {
    Charsmap *map;
    StrBuf bytes = map_bytes(units, replacements);
    assert_int_equal(charsmap_read(&map, strbuf_view(&bytes)), STATUS_DATA);
    assert_null(map);
    assert_non_null(strstr(status_message(), expected));
    strbuf_free(&bytes);
}

static void test_loop(void **state) {
    (void)state;
    uint32_t units[UNITS] = {0};
    units['a'] = 'a' | LEAF | 'a' << 10; /* its children are those of the root */
    Charsmap *map = map_new(units, SV("xyz\0"));
    char text[2 * CHARSMAP_KEY_BYTES];
    StrView replacement;
    memset(text, 'a', sizeof text);
    assert_int_equal(charsmap_find(map, (StrView){text, 3}, &replacement), 3);
    assert_true(sv_equal(replacement, SV("xyz")));
    assert_int_equal(charsmap_find(map, (StrView){text, sizeof text}, &replacement), CHARSMAP_KEY_BYTES);
    assert_int_equal(charsmap_find(map, SV("b"), &replacement), 0);
    assert_int_equal(charsmap_find(map, SV(""), &replacement), 0);
    charsmap_free(map);
}

static void test_outside(void **state) {
    (void)state;
    uint32_t units[UNITS] = {0};
    StrView replacement;
    units['a'] = 'a' | LEAF | 1 << 9 | 0x1FFFFFu << 10; /* children beyond the end */
    units['b'] = 'b' | LEAF | ('b' ^ 1) << 10;
    units[1] = 0x80000000u | 4; /* the replacement of "b": after the end */
    units['c'] = 'c' | LEAF | ('c' ^ 2) << 10;
    units[2] = 0x80000000u | 1; /* that of "c": inside a character */
    Charsmap *map = map_new(units, SV("\xC3\xA9\0"));
    assert_int_equal(charsmap_find(map, SV("aa"), &replacement), 0);
    assert_int_equal(charsmap_find(map, SV("b"), &replacement), 0);
    assert_int_equal(charsmap_find(map, SV("c"), &replacement), 0);
    charsmap_free(map);
    memset(units, 0xFF, sizeof units); /* the root itself */
    map = map_new(units, SV("\0"));
    assert_int_equal(charsmap_find(map, SV("\xFF\xFF"), &replacement), 0);
    charsmap_free(map);
}

static void test_refused(void **state) {
    (void)state;
    uint32_t units[UNITS] = {0};
    char text[CHARSMAP_REPLACEMENT_BYTES + 2] = {0};
    Charsmap *map;
    memset(text, 'a', CHARSMAP_REPLACEMENT_BYTES + 1);
    check_refused(units, SV(""), "size of its trie");
    check_refused(units, SV("abc"), "do not end with a NUL");
    check_refused(units, SV("\xC3\0"), "not UTF-8");
    check_refused(units, (StrView){text, sizeof text}, "more than 256 bytes");
    const StrView broken[] = {SV(""),
                              SV("\4\0\0"),
                              SV("\4\0\0\0"),
                              SV("\3\0\0\0abcd\0"),
                              SV("\4\0\0\0abcd"),
                              SV("\xFF\xFF\xFF\xFF"
                                 "abcd\0")};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        assert_int_equal(charsmap_read(&map, broken[i]), STATUS_DATA);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_loop), cmocka_unit_test(test_outside),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
