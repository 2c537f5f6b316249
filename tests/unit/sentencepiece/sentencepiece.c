/* sentencepiece.c - models and texts by the original library (tests/golden/sentencepiece), models made by
 * hand, and broken models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "io/fileio.h"
#include "io/protobuf.h"
#include "sentencepiece/sentencepiece.h"

static const char *const MODELS[] = {"unigram", "unigram-bytes", "unigram-suffix",
                                     "bpe",     "bpe-bytes",     "bpe-keep"};
enum { MODEL_COUNT = sizeof MODELS / sizeof *MODELS };

static StrBuf golden(const char *name, const char *extension) {
    char path[100];
    StrBuf content = {0};
    snprintf(path, sizeof path, "tests/golden/sentencepiece/%s.%s", name, extension);
    assert_int_equal(file_read(path, 0, &content), STATUS_OK);
    return content;
}

static SentencePiece *golden_model(const char *name) {
    SentencePiece *model;
    StrBuf file = golden(name, "model");
    assert_int_equal(sentencepiece_read(&model, strbuf_view(&file), name), STATUS_OK);
    strbuf_free(&file);
    return model;
}

/* ---- like the original ---- */

/* Appends `text` without its escapes \xNN. */
static void unescape(StrView text, StrBuf *out) {
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '\\') {
            char digits[3] = {text.data[i + 2], text.data[i + 3], 0};
            strbuf_add_char(out, (char)strtol(digits, NULL, 16));
            i += 3;
        } else {
            strbuf_add_char(out, text.data[i]);
        }
    }
}

static void check_equal(const char *what, StrView line, StrView expected, StrView got) {
    if (sv_equal(expected, got)) return;
    print_error("%s of '%.*s'\nexpected %.*s\n     got %.*s\n", what, SV_ARG(line), SV_ARG(expected),
                SV_ARG(got));
    fail();
}

static StrView next_line(StrView *rest) {
    StrView line;
    assert_true(sv_next(rest, '\n', &line));
    return line;
}

static void check_pieces(const SentencePieceText *text, StrView line, StrView ids, StrView texts) {
    StrBuf got = {0}, expected = {0}, got_texts = {0};
    for (size_t i = 0; i < text->count; i++) {
        const EncodedPiece *piece = &text->pieces[i];
        strbuf_format(&got, "%s%d:%zu-%zu", i ? " " : "", piece->id, piece->begin, piece->end);
        if (i) strbuf_add_char(&got_texts, ' ');
        strbuf_add(&got_texts, piece->text);
    }
    check_equal("ids", line, ids, strbuf_view(&got));
    unescape(texts, &expected);
    check_equal("pieces", line, strbuf_view(&expected), strbuf_view(&got_texts));
    strbuf_free(&got);
    strbuf_free(&got_texts);
    strbuf_free(&expected);
}

static void check_decoded(const SentencePiece *model, const SentencePieceText *text, StrView line,
                          StrView from_ids, StrView from_texts) {
    int *ids = mem_alloc(text->count + 1, sizeof *ids);
    StrView *texts = mem_alloc(text->count + 1, sizeof *texts);
    StrBuf got = {0}, expected = {0};
    for (size_t i = 0; i < text->count; i++) {
        ids[i] = text->pieces[i].id;
        texts[i] = text->pieces[i].text;
    }
    sentencepiece_decode_ids(model, ids, text->count, &got);
    unescape(from_ids, &expected);
    check_equal("text", line, strbuf_view(&expected), strbuf_view(&got));
    strbuf_clear(&got);
    strbuf_clear(&expected);
    sentencepiece_decode(model, texts, text->count, &got);
    unescape(from_texts, &expected);
    check_equal("text", line, strbuf_view(&expected), strbuf_view(&got));
    mem_free(ids);
    mem_free(texts);
    strbuf_free(&got);
    strbuf_free(&expected);
}

static void check_model(const SentencePiece *model, const char *name) {
    StrBuf lines = golden("lines", "txt"), answers = golden(name, "txt"), line = {0};
    StrView rest = strbuf_view(&lines), answer = strbuf_view(&answers), escaped;
    SentencePieceText text = {0};
    int count = 0;
    while (rest.length > 0) {
        escaped = next_line(&rest);
        strbuf_clear(&line);
        unescape(escaped, &line);
        sentencepiece_encode(model, strbuf_view(&line), &text);
        StrView ids = next_line(&answer), texts = next_line(&answer), from_ids = next_line(&answer);
        check_pieces(&text, escaped, ids, texts);
        check_decoded(model, &text, escaped, from_ids, next_line(&answer));
        count++;
    }
    assert_true(count > 100 && answer.length == 0);
    sentencepiece_text_free(&text);
    strbuf_free(&line);
    strbuf_free(&lines);
    strbuf_free(&answers);
}

static void test_like_the_original(void **state) {
    (void)state;
    for (int i = 0; i < MODEL_COUNT; i++) {
        SentencePiece *model = golden_model(MODELS[i]), *copy;
        check_model(model, MODELS[i]);
        StrBuf file = {0}, again = {0};
        sentencepiece_write(model, &file);
        sentencepiece_free(model);
        assert_int_equal(sentencepiece_read(&copy, strbuf_view(&file), "copy"), STATUS_OK);
        check_model(copy, MODELS[i]);
        sentencepiece_write(copy, &again);
        assert_true(sv_equal(strbuf_view(&file), strbuf_view(&again)));
        sentencepiece_free(copy);
        strbuf_free(&file);
        strbuf_free(&again);
    }
}

static void test_pieces(void **state) {
    (void)state;
    SentencePiece *model = golden_model("unigram-bytes");
    int unknown = sentencepiece_unknown(model), a = sentencepiece_id(model, SV("<0x41>"));
    assert_true(sentencepiece_is_unigram(model) && sentencepiece_has_bytes(model));
    assert_int_equal(sentencepiece_kind(model, unknown), PIECE_UNKNOWN);
    assert_int_equal(sentencepiece_kind(model, a), PIECE_BYTE);
    assert_int_equal(sentencepiece_kind(model, sentencepiece_id(model, SV("<ctl>"))), PIECE_CONTROL);
    assert_int_equal(sentencepiece_kind(model, sentencepiece_id(model, SV("<sep>"))), PIECE_USER_DEFINED);
    assert_int_equal(sentencepiece_id(model, SV("no such piece")), unknown);
    for (int id = 0; id < sentencepiece_size(model); id++)
        assert_int_equal(sentencepiece_id(model, sentencepiece_piece(model, id)), id);
    sentencepiece_free(model);
}

/* ---- models by hand ---- */

static void add_piece(StrBuf *file, const char *text, float score, PieceKind kind) {
    StrBuf message = {0};
    protobuf_add_bytes(&message, 1, sv(text));
    protobuf_add_float(&message, 2, score);
    protobuf_add_varint(&message, 3, kind);
    protobuf_add_bytes(file, 1, strbuf_view(&message));
    strbuf_free(&message);
}

/* A message with one number. */
static void add_setting(StrBuf *file, uint32_t message_number, uint32_t number, uint64_t value) {
    StrBuf message = {0};
    protobuf_add_varint(&message, number, value);
    protobuf_add_bytes(file, message_number, strbuf_view(&message));
    strbuf_free(&message);
}

static SentencePiece *read_by_hand(StrBuf *file) {
    SentencePiece *model;
    assert_int_equal(sentencepiece_read(&model, strbuf_view(file), "by hand"), STATUS_OK);
    strbuf_free(file);
    return model;
}

static void check_texts(const SentencePiece *model, StrView line, StrView expected) {
    SentencePieceText text = {0};
    StrBuf got = {0};
    sentencepiece_encode(model, line, &text);
    for (size_t i = 0; i < text.count; i++) {
        if (i) strbuf_add_char(&got, ' ');
        strbuf_add(&got, text.pieces[i].text);
    }
    check_equal("pieces", line, expected, strbuf_view(&got));
    sentencepiece_text_free(&text);
    strbuf_free(&got);
}

/* Merges find an unused piece, and split it again. */
static void test_unused(void **state) {
    (void)state;
    StrBuf file = {0};
    const char *const pieces[] = {"ab", "abc", "abcd", "a", "b", "c", "d"};
    add_piece(&file, "<unk>", 0, PIECE_UNKNOWN);
    for (int i = 0; i < 7; i++)
        add_piece(&file, pieces[i], (float)-i, i == 1 || i == 2 ? PIECE_UNUSED : PIECE_NORMAL);
    add_setting(&file, 2, 3, 2); /* bpe */
    add_setting(&file, 3, 3, 0); /* no dummy prefix */
    add_setting(&file, 3, 5, 0); /* spaces stay */
    SentencePiece *model = read_by_hand(&file);
    check_texts(model, SV("abcd"), SV("ab c d"));
    check_texts(model, SV("  abc  x y"), SV("ab c  x y")); /* " x y" is unknown */
    sentencepiece_free(model);
    add_piece(&file, "<unk>", 0, PIECE_UNKNOWN);
    add_piece(&file, "a", 0, PIECE_UNUSED);
    add_piece(&file, "ab", 0, PIECE_NORMAL);
    add_setting(&file, 2, 3, 2);
    add_setting(&file, 3, 3, 0);
    model = read_by_hand(&file);
    check_texts(model, SV("abaxa"), SV("ab axa")); /* nothing made "a" by a merge: unknown */
    sentencepiece_free(model);
    add_piece(&file, "<unk>", 0, PIECE_UNKNOWN);
    add_piece(&file, "aa", -1, PIECE_UNUSED);
    add_piece(&file, "a", -2, PIECE_NORMAL);
    add_setting(&file, 3, 3, 0);
    model = read_by_hand(&file);
    check_texts(model, SV("aaa"), SV("a a a"));
    sentencepiece_free(model);
}

/* ---- broken models ---- */

static void check_refused(StrBuf *file, const char *expected) {
    SentencePiece *model;
    Status status = sentencepiece_read(&model, strbuf_view(file), "x.spm");
    if (status != STATUS_DATA || !strstr(status_message(), expected))
        print_error("expected '%s', got '%s'\n", expected, status_message());
    assert_int_equal(status, STATUS_DATA);
    assert_null(model);
    assert_non_null(strstr(status_message(), expected));
    assert_non_null(strstr(status_message(), "SentencePiece model 'x.spm': "));
    strbuf_free(file);
}

static StrBuf small_file(void) {
    StrBuf file = {0};
    add_piece(&file, "<unk>", 0, PIECE_UNKNOWN);
    add_piece(&file, "a", -1, PIECE_NORMAL);
    return file;
}

static void check_piece_refused(const char *text, float score, int kind, const char *expected) {
    StrBuf file = small_file();
    add_piece(&file, text, score, (PieceKind)kind);
    check_refused(&file, expected);
}

static void test_refused(void **state) {
    (void)state;
    char text[SENTENCEPIECE_PIECE_BYTES + 2] = {0};
    memset(text, 'a', sizeof text - 1);
    check_piece_refused("a", -2, PIECE_NORMAL, "pieces 1 and 2 are equal");
    check_piece_refused("a", -2, PIECE_USER_DEFINED, "pieces 1 and 2 are equal");
    check_piece_refused("<unk>", 0, PIECE_CONTROL, "pieces 0 and 2 are equal");
    check_piece_refused("x", 0, PIECE_UNKNOWN, "pieces 0 and 2 are both of the type unknown");
    check_piece_refused("", 0, PIECE_NORMAL, "piece 2 is empty");
    check_piece_refused("\xC3", 0, PIECE_NORMAL, "piece 2 is not UTF-8");
    check_piece_refused(text, 0, PIECE_NORMAL, "piece 2 has more than 1024 bytes");
    check_piece_refused("x", -1.0F / 0.0F, PIECE_NORMAL, "score of piece 2");
    check_piece_refused("x", 0, 7, "piece 2 has an unknown type");
    check_piece_refused("<0x00>", 0, PIECE_BYTE, "piece 2 is not a byte");
    StrBuf file = {0};
    check_refused(&file, "no piece is of the type unknown");
    add_piece(&file, "<unk>", 0, PIECE_UNKNOWN);
    check_refused(&file, "there are no pieces");
    for (int type = 3; type <= 5; type++) {
        file = small_file();
        add_setting(&file, 2, 3, (uint64_t)type);
        check_refused(&file, type == 3 ? "type word" : type == 4 ? "type char" : "type unknown");
    }
    file = small_file();
    add_setting(&file, 2, 35, 1);
    check_refused(&file, "the piece <0x00> is missing");
    file = small_file();
    StrBuf message = {0};
    protobuf_add_bytes(&message, 2, SV("\xFF\xFF\xFF\x7Fzzzz"));
    protobuf_add_bytes(&file, 3, strbuf_view(&message));
    strbuf_free(&message);
    check_refused(&file, "character map");
    file = small_file();
    strbuf_add_char(&file, 0x0A);
    check_refused(&file, "unexpected end");
}

/* Every beginning of a file and every changed byte: refused, or a model that encodes. */
static void test_damaged(void **state) {
    (void)state;
    SentencePieceText text = {0};
    StrBuf decoded = {0};
    StrView line = SV("a \xEF\xBC\xA1 the<sep>\xFF\xE4\xBD\xA0 New York ");
    for (int i = 1; i < MODEL_COUNT; i += 3) {
        StrBuf file = golden(MODELS[i], "model");
        for (size_t at = 0; at < 2 * file.length; at += 7) {
            SentencePiece *model;
            size_t changed = at / 2;
            char before = file.data[changed];
            if (at % 2) file.data[changed] = (char)(before ^ 1 << at % 8);
            StrView some = {file.data, at % 2 ? file.length : changed};
            if (sentencepiece_read(&model, some, "damaged") == STATUS_OK) {
                sentencepiece_encode(model, line, &text);
                for (size_t p = 0; p < text.count; p++)
                    sentencepiece_decode(model, &text.pieces[p].text, 1, &decoded);
                sentencepiece_free(model);
            }
            strbuf_clear(&decoded);
            file.data[changed] = before;
        }
        strbuf_free(&file);
    }
    sentencepiece_text_free(&text);
    strbuf_free(&decoded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_the_original),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_unused),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
