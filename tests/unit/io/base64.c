/* base64.c - the vectors of RFC 4648, every byte, and text that is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "io/base64.h"

static void check(StrView bytes, StrView text) {
    StrBuf out = {0};
    base64_write(bytes, &out);
    assert_true(sv_equal(strbuf_view(&out), text));
    strbuf_clear(&out);
    assert_int_equal(base64_read(text, &out), STATUS_OK);
    assert_true(sv_equal(strbuf_view(&out), bytes));
    strbuf_free(&out);
}

static void test_vectors(void **state) {
    (void)state;
    check(SV(""), SV(""));
    check(SV("f"), SV("Zg=="));
    check(SV("fo"), SV("Zm8="));
    check(SV("foo"), SV("Zm9v"));
    check(SV("foob"), SV("Zm9vYg=="));
    check(SV("foobar"), SV("Zm9vYmFy"));
    check(SV("\xFB\xFF\0"), SV("+/8A"));
}

static void test_every_byte(void **state) {
    (void)state;
    char bytes[256];
    StrBuf text = {0}, back = {0};
    for (int i = 0; i < 256; i++) bytes[i] = (char)i;
    base64_write((StrView){bytes, 256}, &text);
    assert_int_equal(base64_read(strbuf_view(&text), &back), STATUS_OK);
    assert_true(sv_equal(strbuf_view(&back), (StrView){bytes, 256}));
    strbuf_free(&text);
    strbuf_free(&back);
}

static void test_refused(void **state) {
    (void)state;
    const StrView broken[] = {SV("Z"),    SV("Zg="),  SV("Zg"),       SV("Z==="),   SV("===="),  SV("Zh=="),
                              SV("Zm9="), SV("Zg=v"), SV("Zg==Zm9v"), SV("Zm9v\n"), SV("Zm\0v"), SV("Zm-_")};
    StrBuf out = {0};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        assert_int_equal(base64_read(broken[i], &out), STATUS_DATA);
    strbuf_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors), cmocka_unit_test(test_every_byte),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
