/* unigram_learn.c - pieces of a unigram model are learned, stored, and drawn in more than one way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tokenizer/tokenizer.h"

static const char *const LINES[] = {"the low lowest newest", "a new low", "the widest new", "lower and newer",
                                    "the newest lowest wide"};

static Tokenizer *learn(int pieces) {
    Tokenizer *tokenizer;
    TextOptions options = {.tokenizer = TOKENIZER_UNIGRAM, .unigram_pieces = pieces, .min_count = 1};
    HashMap *words = hashmap_new();
    assert_int_equal(tokenizer_begin(&tokenizer, &options), STATUS_OK);
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) tokenizer_count(tokenizer, sv(LINES[i]), words);
    assert_int_equal(tokenizer_finish(tokenizer, &options, words, NULL), STATUS_OK);
    hashmap_free(words);
    return tokenizer;
}

static void check_restores(Tokenizer *tokenizer, const char *text, const IdList *ids) {
    StrBuf line = {0};
    for (size_t i = 0; i < ids->count; i++) assert_true(ids->ids[i] >= VOCAB_SPECIALS);
    tokenizer_decode(tokenizer, ids->ids, ids->count, &line);
    assert_string_equal(strbuf_text(&line), text);
    strbuf_free(&line);
}

static void test_learns_and_stores(void **state) {
    (void)state;
    Tokenizer *tokenizer = learn(22), *stored;
    StrBuf json = {0}, again = {0};
    IdList ids = {0};
    assert_true(vocab_size(tokenizer_vocab(tokenizer)) <= 22 + VOCAB_SPECIALS);
    assert_true(vocab_id(tokenizer_vocab(tokenizer), SV("\xE2\x96\x81the")) >= VOCAB_SPECIALS);
    tokenizer_write_json(tokenizer, &json);
    assert_int_equal(tokenizer_read_json(&stored, strbuf_view(&json)), STATUS_OK);
    tokenizer_write_json(stored, &again);
    assert_string_equal(strbuf_text(&json), strbuf_text(&again));
    tokenizer_encode(stored, SV("the  lowest\twide"), &ids);
    check_restores(stored, "the lowest wide", &ids);
    strbuf_free(&json);
    strbuf_free(&again);
    id_list_free(&ids);
    tokenizer_free(stored);
    tokenizer_free(tokenizer);
}

static void test_draws(void **state) {
    (void)state;
    Tokenizer *tokenizer = learn(22);
    IdList ids = {0}, best = {0};
    int different = 0;
    tokenizer_encode(tokenizer, SV("the newest lowest wide"), &best);
    for (uint64_t seed = 0; seed < 50; seed++) {
        Rng rng = rng_new(seed);
        ids.count = 0;
        tokenizer_encode_sampled(tokenizer, SV("the newest lowest wide"), 0.1, &rng, &ids);
        check_restores(tokenizer, "the newest lowest wide", &ids);
        different += ids.count != best.count;
    }
    assert_true(different > 10);
    ids.count = 0;
    Rng rng = rng_new(1);
    tokenizer_encode_sampled(tokenizer, SV("the newest lowest wide"), 1000, &rng, &ids); /* only the best */
    assert_int_equal(ids.count, best.count);
    id_list_free(&ids);
    id_list_free(&best);
    tokenizer_free(tokenizer);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_learns_and_stores),
                                       cmocka_unit_test(test_draws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
