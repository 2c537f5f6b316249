/* fuzz_sentencepiece.c - a model of SentencePiece is refused, or encodes and decodes any text, and is the
 * same after writing and reading.
 *
 * Input: 2 bytes, the length of the text; the text; then a model file.
 */
#include "base/utf8.h"
#include "fuzz/scratch.h"
#include "sentencepiece/sentencepiece.h"

static void check_text(const SentencePiece *model, StrView line, SentencePieceText *text) {
    size_t begin = 0;
    StrBuf out = {0};
    sentencepiece_encode(model, line, text);
    require(utf8_valid(strbuf_view(&text->normal)));
    for (size_t i = 0; i < text->count; i++) {
        const EncodedPiece *piece = &text->pieces[i];
        require(piece->id >= 0 && piece->id < sentencepiece_size(model) && piece->text.length > 0);
        require(piece->begin >= begin && piece->end >= piece->begin && piece->end <= line.length);
        begin = piece->begin;
        sentencepiece_decode(model, &piece->text, 1, &out);
        sentencepiece_decode_ids(model, &piece->id, 1, &out);
        require(utf8_valid(strbuf_view(&out)));
    }
    strbuf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    size_t length = data[0] | (size_t)data[1] << 8;
    if (length > size - 2) return 0;
    StrView line = {(const char *)data + 2, length}, file = {line.data + length, size - 2 - length};
    SentencePiece *model, *copy;
    if (sentencepiece_read(&model, file, "model") != STATUS_OK) return 0;
    StrBuf out = {0}, again = {0};
    SentencePieceText text = {0}, other = {0};
    sentencepiece_write(model, &out);
    require(sentencepiece_read(&copy, strbuf_view(&out), "written") == STATUS_OK);
    sentencepiece_write(copy, &again);
    require(sv_equal(strbuf_view(&out), strbuf_view(&again)));
    check_text(model, line, &text);
    check_text(copy, line, &other);
    require(text.count == other.count);
    for (size_t i = 0; i < text.count; i++) require(text.pieces[i].id == other.pieces[i].id);
    sentencepiece_text_free(&text);
    sentencepiece_text_free(&other);
    strbuf_free(&out);
    strbuf_free(&again);
    sentencepiece_free(model);
    sentencepiece_free(copy);
    return 0;
}
