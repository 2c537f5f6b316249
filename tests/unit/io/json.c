/* json.c - accepted and refused JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cjson/cJSON.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "io/json.h"
#include "base/mem.h"
#include "base/mem_scope.h"

/* A copy without a final NUL, so that the sanitizer detects reads beyond the end. */
static Status parse_copy(Json **root, StrView text, int mode) {
    char *copy = malloc(text.length ? text.length : 1);
    assert_non_null(copy);
    if (text.length) memcpy(copy, text.data, text.length);
    StrView view = {copy, text.length};
    Status status = mode == 2 ? json_parse_header(root, view) : json_parse(root, view, mode == 1);
    free(copy);
    return status;
}

static void refuse(StrView text, int mode, const char *part) {
    Json *root;
    Status status = parse_copy(&root, text, mode);
    if (status != STATUS_DATA) fail_msg("accepted: %.*s", SV_ARG(text));
    if (!strstr(status_message(), part))
        fail_msg("%.*s: '%s' is not in '%s'", SV_ARG(text), part, status_message());
    assert_null(root);
}

static Json *accept(StrView text, int mode) {
    Json *root;
    Status status = parse_copy(&root, text, mode);
    if (status != STATUS_OK) fail_msg("%.*s: %s", SV_ARG(text), status_message());
    assert_non_null(root);
    return root;
}

#define REFUSE(literal, part) refuse(SV(literal), 0, part)

static void refuses_what_cjson_lets_pass(void **state) {
    (void)state;
    REFUSE("{\"a\":1,\"a\":2}", "key 'a' occurs twice");
    REFUSE("{\"x\":{\"b\":1,\"c\":0,\"b\":1}}", "key 'b' occurs twice");
    REFUSE("{\"a\":1,\n\"b\":\n2,\"a\":\n3}", "line 3: key 'a' occurs twice");
    REFUSE("{\"\\u0061\":1,\"a\":2}", "key 'a' occurs twice");
    REFUSE("{} x", "line 1 column 4: text after the value");
    REFUSE("1 2", "text after the value");
    REFUSE("{}\0", "NUL");
    REFUSE("{\"a\0b\":1}", "line 1 column 4: a NUL byte");
    REFUSE("[1e999]", "line 1 column 2: a number is too large");
    REFUSE("[-1e999]", "too large");
    REFUSE("[1e-400]", "too close to 0");
    REFUSE("\"\\u0000\"", "NUL character");
    REFUSE("[01]", "leading zero");
    REFUSE("[-01]", "leading zero");
    REFUSE("[1.]", "expected a digit");
    REFUSE("[.5]", "expected a value");
    REFUSE("[+1]", "expected a value");
    REFUSE("[1e]", "expected a digit");
    REFUSE("[-]", "expected a digit");
    REFUSE("[0x10]", "expected ','");
    REFUSE("[NaN]", "expected a value");
    REFUSE("[nul]", "expected a value");
    REFUSE("[truefalse]", "expected ','");
    REFUSE("\xEF\xBB\xBF{}", "byte-order mark");
    REFUSE("[\"\n\"]", "line 1 column 3: a control character");
    REFUSE("[\"\x1f\"]", "control character");
    REFUSE("[\"\x01\"]", "control character");
    REFUSE("\v1", "expected a value");
    REFUSE("[1]\f", "text after");
    REFUSE("[1000000000000000000000000000000000000000000000000000000000001]", "more than 60 characters");
}

static void refuses_bad_utf8(void **state) {
    (void)state;
    static const char *const BAD[] = {
        "\x80",         "\xC0\x80",         "\xC1\xBF", "\xE0\x80\x80",        "\xED\xA0\x80",
        "\xED\xBF\xBF", "\xF0\x80\x80\x80", "\xFF",     "\xF4\x90\x80\x80",    "\xF5\x80\x80\x80",
        "\xC3",         "\xE2\x82",         "\xC3\x28", "\xF8\x88\x80\x80\x80"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        StrBuf text = {0};
        strbuf_format(&text, "[\"%s\"]", BAD[i]);
        refuse(strbuf_view(&text), 0, "line 1 column 3: invalid UTF-8");
        strbuf_clear(&text);
        strbuf_format(&text, "[\"%s", BAD[i]); /* at the very end */
        refuse(strbuf_view(&text), 0, "invalid UTF-8");
        strbuf_clear(&text);
        strbuf_format(&text, "{} // %s", BAD[i]);
        refuse(strbuf_view(&text), 1, "invalid UTF-8");
        strbuf_free(&text);
    }
    json_free(accept(
        SV("\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF \xED\x9F\xBF \xEE\x80\x80\""), 0));
}

static void refuses_bad_strings_and_structure(void **state) {
    (void)state;
    REFUSE("", "empty");
    REFUSE("   ", "ends too early");
    REFUSE("{", "ends too early");
    REFUSE("[", "ends too early");
    REFUSE("\"", "ends too early");
    REFUSE("\"\\", "ends too early");
    REFUSE("\"\\u12", "four hexadecimal");
    REFUSE("\"\\u12G4\"", "four hexadecimal");
    REFUSE("\"\\x41\"", "unknown escape");
    REFUSE("\"\\\0\"", "NUL");
    REFUSE("\"\\ud800\"", "half a surrogate");
    REFUSE("\"\\udc00\"", "half a surrogate");
    REFUSE("\"\\ud800\\u0041\"", "half a surrogate");
    REFUSE("\"\\ud800\\n01234\"", "half a surrogate");
    REFUSE("\"\\ud800x01234\"", "half a surrogate");
    REFUSE("\"\\ud800\\ue000\"", "half a surrogate");
    REFUSE("\"\\ud800\\ud800\"", "half a surrogate");
    REFUSE("'a'", "expected a value");
    REFUSE("[1,]", "line 1 column 3: a comma before ']'");
    REFUSE("[,1]", "expected a value");
    REFUSE("[1 2]", "expected ',' or ']'");
    REFUSE("{\"a\" 1}", "expected ':'");
    REFUSE("{\"a\":1,}", "line 1 column 7: a comma before '}': remove it");
    REFUSE("{\"a\": [1,\n2,\n ]}", "line 2 column 2: a comma before ']': remove it");
    REFUSE("{a:1}", "expected a string");
    REFUSE("{1:1}", "expected a string");
    REFUSE("{\"a\":1]", "expected ',' or '}'");
    REFUSE("[1}", "expected ',' or ']'");
    REFUSE("{\n  \"a\": 1,\n  \"\xC3\xA9\": x\n}", "line 3 column 8");
    REFUSE("// no\n{}", "expected a value");
    REFUSE("{} /* no */", "text after");
}

static void bounds_the_depth(void **state) {
    (void)state;
    StrBuf text = {0};
    for (int i = 0; i < 32; i++) strbuf_add_char(&text, '[');
    for (int i = 0; i < 32; i++) strbuf_add_char(&text, ']');
    json_free(accept(strbuf_view(&text), 0));
    strbuf_clear(&text);
    for (int i = 0; i < 33; i++) strbuf_add_char(&text, '[');
    for (int i = 0; i < 33; i++) strbuf_add_char(&text, ']');
    refuse(strbuf_view(&text), 0, "nested too deeply");
    strbuf_clear(&text);
    for (int i = 0; i < 100000; i++) strbuf_add(&text, SV("{\"a\":["));
    refuse(strbuf_view(&text), 0, "nested too deeply");
    strbuf_free(&text);
    json_free(accept(SV("[[[[]]]]"), 2));
    refuse(SV("[[[[[]]]]]"), 2, "nested too deeply");
}

static void bounds_the_values(void **state) {
    (void)state;
    JsonLimits limits = {.depth = 2, .values = 4};
    Json *root;
    assert_int_equal(json_parse_within(&root, SV("{\"q\": [1, 2]}"), limits), STATUS_OK);
    json_free(root);
    assert_int_equal(json_parse_within(&root, SV("{\"q\": [1, 2, 3]}"), limits), STATUS_DATA);
    assert_string_equal(status_message(), "line 1 column 14: too many values");
    assert_null(root);
    assert_int_equal(json_parse_within(&root, SV("[[[]]]"), limits), STATUS_DATA);
    assert_non_null(strstr(status_message(), "nested too deeply"));
}

static void header_numbers_are_plain_integers(void **state) {
    (void)state;
    Json *root = accept(SV("[0,1,42,9007199254740991]"), 2);
    const Json *item = json_first(root);
    assert_true(json_number(item) == 0);
    item = json_after(json_after(json_after(item)));
    assert_true(json_number(item) == 9007199254740991.0);
    json_free(root);
    static const char *const BAD[] = {"-1",
                                      "-0",
                                      "1.0",
                                      "1e3",
                                      "1E0",
                                      "9007199254740992",
                                      "9007199254740993",
                                      "9999999999999999",
                                      "10000000000000000",
                                      "18446744073709551616"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        StrBuf text = {0};
        strbuf_format(&text, "{\"n\":[%s]}", BAD[i]);
        refuse(strbuf_view(&text), 2, "line 1 column 7: expected an integer between 0 and 2^53-1");
        json_free(accept(strbuf_view(&text), 0));
        strbuf_free(&text);
    }
    refuse(SV("{} // x"), 2, "text after");
}

static void comments_where_asked_for(void **state) {
    (void)state;
    Json *root = accept(SV("// start\n{ /* a \"b\" { / */ \"a//b\": \"/* no */\", // end \" of line\n"
                           "\"c\": /**/ 1 /***/, \"d\": \"\\\"//\" }\n// last line without end"),
                        1);
    assert_string_equal(json_string(json_get(root, "a//b")), "/* no */");
    assert_true(json_number(json_get(root, "c")) == 1);
    assert_string_equal(json_string(json_get(root, "d")), "\"//");
    assert_int_equal(json_count(root), 3);
    json_free(root);
    json_free(accept(SV("\xEF\xBB\xBF{}"), 1));
    refuse(SV("\xEF\xBB\xBF{} x"), 1, "line 1 column 4");
    refuse(SV("{} /* no end"), 1, "line 1 column 4: the comment has no end");
    refuse(SV("{} /*/"), 1, "the comment has no end");
    refuse(SV("{} /"), 1, "unexpected '/'");
    refuse(SV("{} /x"), 1, "unexpected '/'");
    refuse(SV("{\n// one\n/* two\n */ x}"), 1, "line 4 column 5");
    refuse(SV("[/* \xC3\xA9 */ 1, x]"), 1, "line 1 column 13: expected a value");
    json_free(accept(SV("[{\"a\": 1}, {\"a\": {\"a\": 1}}]"), 0)); /* of different objects */
    refuse(SV("[1 /**/ 2]"), 1, "expected ','");
    refuse(SV("[1/**/2]"), 1, "expected ','"); /* a comment does not glue */
}

static void trees_can_be_walked(void **state) {
    (void)state;
    Json *root = accept(SV("{\"b\":true,\"B\":false,\"n\":null,\"x\":-1.5e2,\"s\":"
                           "\"a\\u00e9\\ud83d\\ude00\\n\",\"l\":[1,[]],\"o\":{}}"),
                        0);
    static const JsonType TYPES[] = {JSON_BOOL,   JSON_BOOL,  JSON_NULL,  JSON_NUMBER,
                                     JSON_STRING, JSON_ARRAY, JSON_OBJECT};
    static const char *const KEYS[] = {"b", "B", "n", "x", "s", "l", "o"};
    size_t i = 0;
    for (const Json *child = json_first(root); child; child = json_after(child), i++) {
        assert_true(i < 7);
        assert_int_equal(json_type(child), TYPES[i]);
        assert_string_equal(json_key(child), KEYS[i]);
    }
    assert_int_equal(i, 7);
    assert_int_equal(json_type(root), JSON_OBJECT);
    assert_true(json_bool(json_get(root, "b")));
    assert_false(json_bool(json_get(root, "B"))); /* exact case */
    assert_null(json_get(root, "N"));
    assert_null(json_get(json_get(root, "l"), "b"));
    assert_null(json_first(json_get(root, "o")));
    assert_null(json_first(json_get(root, "s")));
    assert_true(json_number(json_get(root, "x")) == -150);
    assert_string_equal(json_string(json_get(root, "s")), "a\xC3\xA9\xF0\x9F\x98\x80\n");
    assert_int_equal(json_count(json_get(root, "l")), 2);
    json_free(root);
    json_free(NULL);
}

static void lines_of_keys_are_found(void **state) {
    (void)state;
    StrView text = SV("{ // \"model\": {\"hidden\": 1}\n"
                      "  \"train\": {\n"
                      "    \"hidden\": [\"model\", {\"x\": \"y\"}, \"hidden\"],\n"
                      "    \"model\": \"hidden\"\n"
                      "  },\n"
                      "  \"model\": {\"list\": [\"hidden\",\n"
                      "    \"hidden\"], \"hidden\"\n"
                      "    : 5},\n"
                      "  \"top\": 1,\n"
                      "  \"hidden\": 2,\n"
                      "  \"deep\": {\"a\": {\"c\": 0},\n"
                      "    \"b\": {\n"
                      "      \"c\": {\"d\": 1}}} }");
    Json *root = accept(text, 1);
    assert_int_equal(json_line(root, "train.hidden"), 3);
    assert_int_equal(json_line(root, "train.model"), 4);
    assert_int_equal(json_line(root, "model.hidden"), 7);
    assert_int_equal(json_line(root, "model"), 6);
    assert_int_equal(json_line(root, "hidden"), 10);
    assert_int_equal(json_line(root, "train.x"), 0);
    assert_int_equal(json_line(root, "top.hidden"), 0);
    assert_int_equal(json_line(root, "y"), 0);
    assert_int_equal(json_line(root, "deep.b"), 12);
    assert_int_equal(json_line(root, "deep.b.c"), 13);
    assert_int_equal(json_line(root, "deep.b.c.d"), 13);
    assert_int_equal(json_line(root, "deep.a.d"), 0);
    assert_int_equal(json_line(root, "top.a"), 0);
    assert_int_equal(json_line(root, "deep.a.c.d"), 0);
    json_free(root);
}

/* No quadratic time, and deep nesting is as fast as width. */
static void large_texts_take_linear_time(void **state) {
    (void)state;
    StrBuf list = {0}, object = {0};
    for (int i = 0; i < 1000000; i++) strbuf_add(&list, i ? SV(",0") : SV("[0"));
    for (int i = 0; i < 500000; i++) strbuf_format(&object, "%c\"%d\":0", i ? ',' : '{', i);
    strbuf_add_char(&list, ']');
    strbuf_add_char(&object, '}');
    Json *root = accept(strbuf_view(&list), 0);
    assert_int_equal(json_count(root), 1000000);
    json_free(root);
    root = accept(strbuf_view(&object), 0);
    assert_int_equal(json_count(root), 500000);
    json_free(root);
    strbuf_cut(&object, object.length - 1);
    strbuf_add(&object, SV(",\"0\":1}"));
    refuse(strbuf_view(&object), 0, "key '0' occurs twice");
    strbuf_free(&list);
    strbuf_free(&object);
}

/* Every single-byte change and every prefix of a text: no crash, and accepted texts give a tree. */
static void survives_every_small_change(void **state) {
    (void)state;
    StrView text = SV("{\"a\\u00e9\":[1,-2.5e-3,true,null],\"b\":{\"c\":\"\xC3\xA9\\n\"}} // c");
    char copy[128];
    int accepted = 0;
    for (size_t at = 0; at < text.length; at++) {
        for (int byte = 0; byte < 256; byte++) {
            memcpy(copy, text.data, text.length);
            copy[at] = (char)byte;
            Json *root;
            if (parse_copy(&root, (StrView){copy, text.length}, 1) == STATUS_OK) {
                assert_non_null(root);
                accepted++;
            } else {
                assert_null(root);
            }
            json_free(root);
        }
        Json *root;
        Status status = parse_copy(&root, (StrView){text.data, at}, 1);
        /* Only the comment and the space before it may be cut off. */
        if (status == STATUS_OK) assert_true(at >= text.length - 5);
        json_free(root);
    }
    assert_true(accepted > 500);
}

/* ---- a program that links the library and uses cJSON with memory functions of its own ---- */

static int host_calls, host_blocks, host_calls_left;

static void *host_malloc(size_t bytes) {
    host_calls++;
    if (host_calls_left-- <= 0) return NULL;
    host_blocks++;
    return malloc(bytes);
}

static void host_free(void *block) {
    host_blocks -= block != NULL;
    free(block);
}

static const char HOST_TEXT[] = "{\"a\": [1, \"two\", {\"b\": null}], \"c\": true}";

static void parse_and_leave(void *context) {
    bool *parsed = context;
    Json *root;
    assert_int_equal(json_parse(&root, sv(HOST_TEXT), false), STATUS_OK);
    *parsed = true;
}

/* Runs first: the hooks must not change at the first parse of the process either. */
static void cjson_hooks_of_the_host_stay(void **state) {
    (void)state;
    cJSON_InitHooks(&(cJSON_Hooks){host_malloc, host_free});
    host_calls_left = 1000;
    json_free(accept(sv(HOST_TEXT), 0));
    bool parsed = false;
    MemScope *scope = mem_scope_new(0);
    assert_true(mem_scope_run(scope, parse_and_leave, &parsed));
    assert_true(parsed);
    assert_int_equal(host_blocks, 0); /* cJSON's tree is freed already */
    host_calls = 0;
    cJSON *tree = cJSON_Parse(HOST_TEXT);
    assert_non_null(tree);
    assert_true(host_calls > 0);
    assert_true(host_blocks > 0);
    cJSON_Delete(tree);
    assert_int_equal(host_blocks, 0);
    /* Memory runs out inside cJSON, at each of its allocations. */
    for (int calls = host_calls, left = 0; left < calls; left++) {
        host_calls_left = left;
        parsed = false;
        assert_false(mem_scope_run(scope, parse_and_leave, &parsed));
        assert_false(parsed);
        assert_int_equal(host_blocks, 0);
    }
    mem_scope_free(scope);
    cJSON_InitHooks(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cjson_hooks_of_the_host_stay),
        cmocka_unit_test(refuses_what_cjson_lets_pass),
        cmocka_unit_test(refuses_bad_utf8),
        cmocka_unit_test(refuses_bad_strings_and_structure),
        cmocka_unit_test(bounds_the_depth),
        cmocka_unit_test(bounds_the_values),
        cmocka_unit_test(header_numbers_are_plain_integers),
        cmocka_unit_test(comments_where_asked_for),
        cmocka_unit_test(trees_can_be_walked),
        cmocka_unit_test(lines_of_keys_are_found),
        cmocka_unit_test(large_texts_take_linear_time),
        cmocka_unit_test(survives_every_small_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
