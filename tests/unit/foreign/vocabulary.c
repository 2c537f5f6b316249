/* vocabulary.c - lists of tokens in JSON, YAML and plain text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "foreign/vocabulary.h"

typedef Status Reader(StrList *tokens, StrView text);

/* `tokens` in the order of their ids, '|' between them. */
static void reads(Reader *read, const char *text, const char *tokens) {
    StrList list = {0};
    StrBuf joined = {0};
    if (read(&list, sv(text)) != STATUS_OK) fail_msg("'%s': %s", text, status_message());
    for (size_t i = 0; i < list.count; i++) strbuf_format(&joined, "%s%s", i ? "|" : "", list.items[i]);
    assert_string_equal(strbuf_text(&joined), tokens);
    strbuf_free(&joined);
    strlist_free(&list);
}

static void refuses(Reader *read, const char *text, const char *message) {
    StrList list = {0};
    if (read(&list, sv(text)) != STATUS_DATA) fail_msg("'%s' is read", text);
    if (!strstr(status_message(), message)) fail_msg("'%s': %s", text, status_message());
    strlist_free(&list);
}

static void test_json(void **state) {
    (void)state;
    reads(foreign_vocabulary_json, "{\"b\": 1, \"</s>\": 0, \"\xE2\x96\x81\": 2}", "</s>|b|\xE2\x96\x81");
    reads(foreign_vocabulary_json, "[\"<unk>\", \"a\", \"b\"]", "<unk>|a|b");
    refuses(foreign_vocabulary_json, "{\"a\": 0, \"b\": 2}", "no token has the id 1");
    refuses(foreign_vocabulary_json, "{\"a\": 0, \"b\": 0}", "the id 0 occurs twice");
    refuses(foreign_vocabulary_json, "{\"a\": -1}", "'a' has no usable id");
    refuses(foreign_vocabulary_json, "{\"a\": 0.5}", "'a' has no usable id");
    refuses(foreign_vocabulary_json, "{\"a\": 1048576}", "'a' has no usable id");
    refuses(foreign_vocabulary_json, "{\"a\": \"0\"}", "an entry is malformed");
    refuses(foreign_vocabulary_json, "[1]", "an entry is malformed");
    refuses(foreign_vocabulary_json, "{}", "it is empty");
    refuses(foreign_vocabulary_json, "7", "it is not a list");
    refuses(foreign_vocabulary_json, "{\"a\": 0", "");
}

static void test_lines(void **state) {
    (void)state;
    reads(foreign_vocabulary_lines, "<unk>\na\r\n b\n", "<unk>|a\r| b");
    reads(foreign_vocabulary_lines, "a\n\nb", "a||b"); /* an empty token has its place */
    refuses(foreign_vocabulary_lines, "", "it is empty");
}

static void test_yaml(void **state) {
    (void)state;
    reads(foreign_vocabulary_yaml, "</s>: 0\n\"<unk>\": 1\n'it''s': 2\n", "</s>|<unk>|it's");
    reads(foreign_vocabulary_yaml, "a: b: 1\n\": \": 0\n", ": |a: b"); /* the id is behind the last ": " */
    reads(foreign_vocabulary_yaml, "\"\\x41\\u00e9\\U0001F600\\t\\\"\": 0\n",
          "A\xC3\xA9\xF0\x9F\x98\x80\t\"");
    refuses(foreign_vocabulary_yaml, "\"\\q\": 0\n", "an escape of YAML is malformed");
    refuses(foreign_vocabulary_yaml, "\"\\ud800\": 0\n", "an escape of YAML is malformed");
    refuses(foreign_vocabulary_yaml, "\"\\u12\": 0\n", "an escape of YAML is malformed");
    refuses(foreign_vocabulary_yaml, "a: 0\nb\n", "line 2 has no id");
}

static void test_settings(void **state) {
    (void)state;
    StrView text = SV("dim-emb: 256\ntype: \"transformer\"\nnested:\n  dim-emb: 3\nempty:\ntied: [1, 2]\n");
    assert_true(sv_equal(foreign_yaml_value(text, "dim-emb"), SV("256")));
    assert_true(sv_equal(foreign_yaml_value(text, "type"), SV("transformer")));
    assert_true(sv_equal(foreign_yaml_value(text, "tied"), SV("[1, 2]")));
    assert_int_equal(foreign_yaml_value(text, "empty").length, 0);
    assert_int_equal(foreign_yaml_value(text, "emb").length, 0);
    assert_int_equal(foreign_yaml_value(SV(""), "type").length, 0);
}

static void test_find(void **state) {
    (void)state;
    StrList tokens = {0};
    strlist_add(&tokens, SV("a"));
    strlist_add(&tokens, SV("b"));
    assert_int_equal(foreign_vocabulary_find(&tokens, "b"), 1);
    assert_int_equal(foreign_vocabulary_find(&tokens, "c"), -1);
    strlist_free(&tokens);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_json), cmocka_unit_test(test_lines),
                                       cmocka_unit_test(test_yaml), cmocka_unit_test(test_settings),
                                       cmocka_unit_test(test_find)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
