/* tokenizer_pieces.c - tokenizers of the kind sentencepiece. Models: tests/golden/sentencepiece. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "io/fileio.h"
#include "unit/text_fixture.h"

static SentencePiece *golden_model(const char *name) {
    char path[100];
    StrBuf file = {0};
    SentencePiece *model;
    snprintf(path, sizeof path, "tests/golden/sentencepiece/%s.model", name);
    assert_int_equal(file_read(path, 0, &file), STATUS_OK);
    assert_int_equal(sentencepiece_read(&model, strbuf_view(&file), name), STATUS_OK);
    strbuf_free(&file);
    return model;
}

/* Adds the pieces of a model in reverse order, so that ids differ from those of the model. */
static void add_pieces(Vocab *vocab, const SentencePiece *model) {
    for (int i = sentencepiece_size(model) - 1; i >= 0; i--) {
        PieceKind kind = sentencepiece_kind(model, i);
        if (kind != PIECE_UNKNOWN && kind != PIECE_CONTROL) vocab_add(vocab, sentencepiece_piece(model, i));
    }
}

static bool same_vocab(const Tokenizer *a, const Tokenizer *b) {
    return vocab_difference(tokenizer_vocab(a), tokenizer_vocab(b)) < 0;
}

static Tokenizer *golden_tokenizer(const char *name) {
    SentencePiece *model = golden_model(name);
    Vocab *vocab = vocab_new();
    add_pieces(vocab, model);
    return tokenizer_from_sentencepiece(model, vocab);
}

static void check_back(Tokenizer *tokenizer, const char *line, const char *expected) {
    IdList ids = {0};
    StrBuf back = {0};
    tokenizer_encode(tokenizer, sv(line), &ids);
    tokenizer_decode(tokenizer, ids.ids, ids.count, &back);
    assert_string_equal(strbuf_text(&back), expected);
    id_list_free(&ids);
    strbuf_free(&back);
}

static void test_ids_of_the_vocabulary(void **state) {
    (void)state;
    Tokenizer *tokenizer = golden_tokenizer("unigram");
    const Vocab *vocab = tokenizer_vocab(tokenizer);
    SentencePiece *model = golden_model("unigram");
    SentencePieceText text = {0};
    IdList ids = {0};
    StrView line = SV("The cat is \xE4\xBD\xA0 here, </s> <unk>.");
    tokenizer_encode(tokenizer, line, &ids);
    sentencepiece_encode(model, line, &text);
    assert_int_equal(ids.count, text.count);
    for (size_t i = 0; i < ids.count; i++) {
        bool unknown = text.pieces[i].id == sentencepiece_unknown(model);
        assert_true(unknown ? ids.ids[i] == VOCAB_UNK
                            : sv_equal(vocab_token(vocab, ids.ids[i]), text.pieces[i].text));
    }
    check_back(tokenizer, "  The cat  is here. ", "The cat is here.");
    check_back(tokenizer, "a \xE4\xBD\xA0 b", "a  \xE2\x81\x87  b"); /* as the original */
    sentencepiece_text_free(&text);
    sentencepiece_free(model);
    id_list_free(&ids);
    tokenizer_free(tokenizer);
}

/* The texts of unknown pieces come back. */
static void test_spelled(void **state) {
    (void)state;
    Tokenizer *tokenizer = golden_tokenizer("bpe"), *view = tokenizer_view(tokenizer);
    IdList ids = {0};
    StrList unknown = {0};
    StrBuf back = {0};
    StrView line = SV("a \xE4\xBD\xA0\xE5\xA5\xBD b \xE4\xBD\xA0");
    tokenizer_encode_spelled(view, line, &ids, &unknown);
    assert_int_equal(unknown.count, 2);
    assert_string_equal(unknown.items[0], "\xE4\xBD\xA0\xE5\xA5\xBD");
    tokenizer_decode_spelled(view, ids.ids, ids.count, &unknown, &back);
    assert_true(sv_equal(strbuf_view(&back), line));
    id_list_free(&ids);
    strlist_free(&unknown);
    strbuf_free(&back);
    tokenizer_free(view);
    tokenizer_free(tokenizer);
}

/* Two models with one vocabulary, as OPUS-MT has them, with tokens that are no pieces; then pieces without a
 * token. */
static void test_one_vocabulary(void **state) {
    (void)state;
    SentencePiece *models[2] = {golden_model("unigram"), golden_model("unigram-suffix")};
    Tokenizer *sides[2];
    for (int side = 0; side < 2; side++) {
        Vocab *vocab = vocab_new();
        vocab_add(vocab, SV(">>fra<<"));
        vocab_add(vocab, SV("\xE2\x96\x81nowhere"));
        for (int i = 0; i < 2; i++) add_pieces(vocab, models[i]);
        sides[side] = tokenizer_from_sentencepiece(golden_model(side ? "unigram-suffix" : "unigram"), vocab);
    }
    assert_true(same_vocab(sides[0], sides[1]));
    Tokenizer *other = golden_tokenizer("unigram");
    assert_false(same_vocab(sides[0], other));
    tokenizer_free(other);
    int nowhere[] = {VOCAB_SPECIALS + 1, VOCAB_EOS, VOCAB_SPECIALS};
    StrBuf line = {0};
    tokenizer_decode(sides[0], nowhere, 3, &line);
    assert_string_equal(strbuf_text(&line), " nowhere");
    strbuf_free(&line);
    for (int side = 0; side < 2; side++) {
        check_back(sides[side], "the cat is here", side ? "the cat is here " : "the cat is here");
        tokenizer_free(sides[side]);
        sentencepiece_free(models[side]);
    }
    Vocab *few = vocab_new();
    vocab_add(few, SV("\xE2\x96\x81"));
    Tokenizer *poor = tokenizer_from_sentencepiece(golden_model("unigram"), few);
    IdList ids = {0};
    StrList unknown = {0};
    tokenizer_encode_spelled(poor, SV("the cat"), &ids, &unknown);
    assert_true(ids.count > 0 && unknown.count == ids.count);
    id_list_free(&ids);
    strlist_free(&unknown);
    tokenizer_free(poor);
}

static void test_words(void **state) {
    (void)state;
    static const char *const names[] = {"unigram", "bpe", "unigram-suffix"};
    for (int i = 0; i < 3; i++) {
        Tokenizer *tokenizer = golden_tokenizer(names[i]);
        int word[100];
        IdList ids = {0};
        tokenizer_encode(tokenizer, SV("extraordinary cats here"), &ids);
        assert_int_equal(tokenizer_words(tokenizer, ids.ids, ids.count, word), 3);
        assert_int_equal(tokenizer_marks_ends(tokenizer), i == 2);
        id_list_free(&ids);
        tokenizer_free(tokenizer);
    }
}

/* Text behind other text has no dummy space. */
static void test_behind(void **state) {
    (void)state;
    Tokenizer *tokenizer = golden_tokenizer("unigram");
    IdList ids = {0};
    StrBuf joined = {0};
    tokenizer_encode(tokenizer, SV("the"), &ids);
    tokenizer_encode_after_text(tokenizer, SV("the"), &ids);
    tokenizer_encode_after_text(tokenizer, SV(""), &ids);
    tokenizer_decode(tokenizer, ids.ids, ids.count, &joined);
    assert_string_equal(strbuf_text(&joined), "thethe");
    id_list_free(&ids);
    strbuf_free(&joined);
    tokenizer_free(tokenizer);
}

/* A language token is no piece, and comes first. */
static void test_languages(void **state) {
    (void)state;
    SentencePiece *model = golden_model("unigram");
    Vocab *vocab = vocab_new();
    int french = vocab_add(vocab, SV(">>fra<<"));
    add_pieces(vocab, model);
    Tokenizer *tokenizer = tokenizer_from_sentencepiece(model, vocab), *copy;
    IdList with = {0}, without = {0};
    StrBuf text = {0};
    assert_int_equal(tokenizer_set_role(tokenizer, TOKENIZER_LANGUAGES, SV(">>fra<<")), STATUS_OK);
    tokenizer_write_json(tokenizer, &text);
    tokenizer_free(tokenizer);
    assert_int_equal(tokenizer_read_json(&copy, strbuf_view(&text)), STATUS_OK);
    tokenizer_encode(copy, SV(">>fra<< the cat"), &with);
    tokenizer_encode(copy, SV("the cat"), &without);
    assert_true(with.count == without.count + 1 && with.ids[0] == french);
    assert_memory_equal(with.ids + 1, without.ids, without.count * sizeof *without.ids);
    id_list_free(&with);
    id_list_free(&without);
    strbuf_free(&text);
    tokenizer_free(copy);
}

static void test_line_breaks(void **state) {
    (void)state;
    Tokenizer *tokenizer = golden_tokenizer("unigram-bytes");
    const Vocab *vocab = tokenizer_vocab(tokenizer);
    int ids[] = {vocab_id(vocab, SV("<0x0A>")), vocab_id(vocab, SV("<0x41>")), vocab_id(vocab, SV("<0x00>")),
                 vocab_id(vocab, SV("<0x0D>"))};
    StrBuf line = {0};
    tokenizer_decode(tokenizer, ids, 4, &line);
    assert_true(sv_equal(strbuf_view(&line), SV(" A  ")));
    strbuf_free(&line);
    tokenizer_free(tokenizer);
}

static void test_json(void **state) {
    (void)state;
    static const char *const names[] = {"unigram-bytes", "bpe-keep"};
    for (int i = 0; i < 2; i++) {
        Tokenizer *tokenizer = golden_tokenizer(names[i]), *copy;
        StrBuf text = {0}, again = {0}, codes = {0};
        tokenizer_write_json(tokenizer, &text);
        assert_int_equal(tokenizer_read_json(&copy, strbuf_view(&text)), STATUS_OK);
        tokenizer_write_json(copy, &again);
        assert_string_equal(strbuf_text(&text), strbuf_text(&again));
        assert_true(same_vocab(tokenizer, copy));
        IdList a = {0}, b = {0};
        tokenizer_encode(tokenizer, SV(" the  cat \xFF"), &a);
        tokenizer_encode(copy, SV(" the  cat \xFF"), &b);
        assert_int_equal(a.count, b.count);
        assert_memory_equal(a.ids, b.ids, a.count * sizeof *a.ids);
        assert_false(tokenizer_write_codes(copy, &codes));
        id_list_free(&a);
        id_list_free(&b);
        strbuf_free(&text);
        strbuf_free(&again);
        tokenizer_free(tokenizer);
        tokenizer_free(copy);
    }
}

static void test_is_not_learned(void **state) {
    (void)state;
    Tokenizer *tokenizer;
    TextOptions options = {.tokenizer = TOKENIZER_SENTENCEPIECE};
    assert_int_equal(tokenizer_begin(&tokenizer, &options), STATUS_USAGE);
    assert_null(tokenizer);
    assert_non_null(strstr(status_hint_text(), "--init"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_of_the_vocabulary),
        cmocka_unit_test(test_spelled),
        cmocka_unit_test(test_one_vocabulary),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_behind),
        cmocka_unit_test(test_languages),
        cmocka_unit_test(test_line_breaks),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_is_not_learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
