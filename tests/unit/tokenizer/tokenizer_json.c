/* tokenizer_json.c - reading and writing. Cases: tests/cases/tokenizer_json.case */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/unicode.h"
#include "io/json.h"
#include "tokenizer/bpe.h"
#include "unit/text_fixture.h"

static Status read_text(Tokenizer **tokenizer, StrView text) {
    Json *root;
    assert_int_equal(json_parse(&root, text, false), STATUS_OK);
    json_free(root);
    return tokenizer_read_json(tokenizer, text);
}

static void test_json_round_trip(void **state) {
    (void)state;
    static const char *const lines[] = {"quote \" back \\ tab slash / \x01 \xF0\x9F\x98\x80 \xC2\xA0x",
                                        "the the the cat cat", NULL};
    static const TextOptions *const kinds[] = {&FIXTURE_WORD, &FIXTURE_PREFIX, &FIXTURE_SUFFIX};
    for (int kind = 0; kind < 3; kind++) {
        Tokenizer *tokenizer = fixture_learn(kinds[kind], lines), *copy = NULL;
        StrBuf text = {0}, again = {0};
        tokenizer_write_json(tokenizer, &text);
        assert_int_equal(read_text(&copy, strbuf_view(&text)), STATUS_OK);
        tokenizer_write_json(copy, &again);
        assert_string_equal(strbuf_text(&again), strbuf_text(&text));
        for (int line = 0; lines[line]; line++) {
            IdList a = fixture_encode(tokenizer, sv(lines[line])), b = fixture_encode(copy, sv(lines[line]));
            assert_int_equal(a.count, b.count);
            assert_memory_equal(a.ids, b.ids, a.count * sizeof *a.ids);
            id_list_free(&a);
            id_list_free(&b);
        }
        strbuf_free(&text);
        strbuf_free(&again);
        tokenizer_free(copy);
        tokenizer_free(tokenizer);
    }
}

static void check_json(const FixtureCase *block) {
    assert_int_equal(block->count, 2);
    Tokenizer *tokenizer = NULL;
    Status status = read_text(&tokenizer, block->line[0]);
    if (sv_equal(block->line[1], SV("ok"))) {
        if (status != STATUS_OK) fail_msg("line %d: %s", block->number, status_message());
        tokenizer_free(tokenizer);
        return;
    }
    char part[256];
    snprintf(part, sizeof part, "%.*s", SV_ARG(block->line[1]));
    if (status != STATUS_DATA || tokenizer) fail_msg("line %d is accepted", block->number);
    if (!strstr(status_message(), part)) fail_msg("line %d: %s", block->number, status_message());
}

static void test_json_cases(void **state) {
    (void)state;
    fixture_cases("tests/cases/tokenizer_json.case", check_json);
    Tokenizer *tokenizer = NULL;
    assert_int_equal(read_text(&tokenizer, SV("[]")), STATUS_DATA);
}

static void test_json_sizes(void **state) {
    (void)state;
    static const char head[] =
        "{\"tokenizer\":\"bpe\",\"normalize\":\"nfc\",\"lowercase\":false,\"marker\":\"prefix\",";
    for (int longer = 0; longer < 2; longer++)
        for (int part = 0; part < 2; part++) {
            StrBuf text = {0};
            strbuf_add(&text, sv(head));
            strbuf_add(&text, part ? SV("\"merges\":[\"a ") : SV("\"merges\":[],\"vocab\":[\""));
            size_t length = part ? BPE_SYMBOL_BYTES - 1 : VOCAB_TOKEN_BYTES;
            for (size_t i = 0; i < length + (size_t)longer; i++) strbuf_add_char(&text, 'b');
            strbuf_add(&text, part ? SV("\"],\"vocab\":[]}") : SV("\"]}"));
            Tokenizer *tokenizer = NULL;
            assert_int_equal(read_text(&tokenizer, strbuf_view(&text)), longer ? STATUS_DATA : STATUS_OK);
            tokenizer_free(tokenizer);
            strbuf_free(&text);
        }
}

/* Merges from a hostile file may be nested as deep as a symbol is long, and lead nowhere. */
static void test_json_hostile_merges(void **state) {
    (void)state;
    StrBuf text = {0}, word = {0};
    strbuf_add(&text, SV("{\"tokenizer\":\"bpe\",\"normalize\":\"nfc\",\"lowercase\":false,\"marker\":"
                         "\"prefix\",\"merges\":["));
    strbuf_add_char(&word, 'a');
    for (int i = 0; i < 1000; i++) {
        strbuf_format(&text, "\"%s a\",", strbuf_text(&word));
        strbuf_add_char(&word, 'a');
    }
    strbuf_add(&text, SV("\"" BPE_SPACE BPE_SPACE " x\",\"x " BPE_SPACE "\"],\"vocab\":[\"x" BPE_SPACE
                         "y\",\"" BPE_SPACE "\"]}"));
    Tokenizer *tokenizer = NULL;
    if (read_text(&tokenizer, strbuf_view(&text)) != STATUS_OK) fail_msg("%s", status_message());
    IdList ids = fixture_encode(tokenizer, strbuf_view(&word));
    assert_int_equal(ids.count, 1002);
    for (size_t i = 1; i < ids.count; i++) assert_int_equal(ids.ids[i], VOCAB_UNK);
    StrBuf line = {0};
    tokenizer_decode(tokenizer, (int[]){4, 5, 4}, 3, &line);
    assert_string_equal(strbuf_text(&line), "x y x y");
    strbuf_free(&line);
    id_list_free(&ids);
    tokenizer_free(tokenizer);
    strbuf_free(&text);
    strbuf_free(&word);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_round_trip),
        cmocka_unit_test(test_json_cases),
        cmocka_unit_test(test_json_sizes),
        cmocka_unit_test(test_json_hostile_merges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
