/* json_write.c - written numbers and strings are the same when they are read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "io/json_write.h"
#include "base/rng.h"

static Json *accept(StrView text) {
    Json *root;
    if (json_parse(&root, text, false) != STATUS_OK) fail_msg("%.*s: %s", SV_ARG(text), status_message());
    return root;
}

static void assert_number_survives(double value) {
    StrBuf text = {0};
    json_write_number(&text, value);
    assert_true(strtod(strbuf_text(&text), NULL) == value);
    Json *root = accept(strbuf_view(&text));
    double back = json_number(root);
    assert_memory_equal(&back, &value, sizeof value); /* the sign of zero too */
    json_free(root);
    strbuf_free(&text);
}

static void written_numbers_read_back(void **state) {
    (void)state;
    static const double SPECIAL[] = {
        0.0,     -0.0,    0.1,      1.0 / 3, 1e22,  1e-7,   0x1p53, 0x1p53 - 1,    -0x1p53,           0x1p60,
        DBL_MAX, DBL_MIN, -DBL_MAX, 5e-324,  1e100, 0.0005, 1e21,   123456789.125, 4503599627370497.5};
    for (size_t i = 0; i < sizeof SPECIAL / sizeof *SPECIAL; i++) assert_number_survives(SPECIAL[i]);
    Rng rng = rng_new(5);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = (uint64_t)rng_u32(&rng) << 32 | rng_u32(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) assert_number_survives(value);
    }
    static const struct {
        double value;
        const char *text;
    } SHORTEST[] = {{0.1, "0.1"},       {5, "5"},        {-3, "-3"},  {0x1p53 - 1, "9007199254740991"},
                    {0.0005, "0.0005"}, {1e-7, "1e-07"}, {2.5, "2.5"}};
    for (size_t i = 0; i < sizeof SHORTEST / sizeof *SHORTEST; i++) {
        StrBuf text = {0};
        json_write_number(&text, SHORTEST[i].value);
        assert_string_equal(strbuf_text(&text), SHORTEST[i].text);
        strbuf_free(&text);
    }
    StrBuf text = {0};
    json_write_number(&text, NAN);
    json_write_number(&text, -INFINITY);
    json_write_digits(&text, NAN, 3);
    json_write_digits(&text, 2.0 / 3, 3);
    assert_string_equal(strbuf_text(&text), "null, null, null, 0.667");
    strbuf_free(&text);
}

static void written_strings_read_back(void **state) {
    (void)state;
    StrBuf every = {0}, text = {0};
    for (int c = 1; c < 128; c++) strbuf_add_char(&every, (char)c);
    strbuf_add(&every, SV("\xC3\xA9\xE2\x80\xA8\xF0\x9F\x98\x80"));
    json_write_string(&text, strbuf_view(&every));
    Json *root = accept(strbuf_view(&text));
    assert_string_equal(json_string(root), strbuf_text(&every));
    json_free(root);
    strbuf_clear(&text);
    json_write_string(&text, SV("a\"\\\n\t\r\x01/\xC3\xA9"));
    assert_string_equal(strbuf_text(&text), "\"a\\\"\\\\\\n\\t\\r\\u0001/\xC3\xA9\"");
    strbuf_clear(&text);
    json_write_string(&text, SV("caf\xE9 \xE2\x82 a\0b"));
    root = accept(strbuf_view(&text));
    assert_string_equal(json_string(root), "caf\xEF\xBF\xBD \xEF\xBF\xBD a\xEF\xBF\xBD"
                                           "b");
    json_free(root);
    strbuf_free(&every);
    strbuf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_numbers_read_back),
        cmocka_unit_test(written_strings_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
