/* fuzz_bpe_codes.c - merge lists: reading and writing a list gives the same list, and its pieces of a word
 * join to the word again.
 *
 * Input: a merge list up to the first NUL byte, then words separated by spaces.
 */
#include "base/utf8.h"
#include "fuzz/scratch.h"
#include "tokenizer/bpe.h"
#include "tokenizer/pretokenize.h"

typedef struct {
    Bpe *bpe;
    const char *at;
} Cover;

static void check_split(const Bpe *bpe, StrView piece, int depth) {
    StrView left, right;
    if (!bpe_split(bpe, piece, &left, &right)) return;
    require(depth < BPE_SYMBOL_BYTES && left.length > 0 && right.length > 0);
    require(left.length + right.length == piece.length && right.data == left.data + left.length);
    check_split(bpe, left, depth + 1);
    check_split(bpe, right, depth + 1);
}

static void check_piece(void *context, StrView piece) {
    Cover *cover = context;
    require(piece.data == cover->at && piece.length > 0 && utf8_valid(piece));
    cover->at += piece.length;
    check_split(cover->bpe, piece, 0);
}

static void check_word(void *bpe, StrView word) {
    Cover cover = {bpe, word.data};
    bpe_apply(bpe, word, check_piece, &cover);
    require(cover.at == word.data + word.length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const uint8_t *end = memchr(data, 0, size);
    StrView codes = {(const char *)data, end ? (size_t)(end - data) : size};
    Bpe *bpe, *copy;
    if (bpe_read(&bpe, codes, "codes", BPE_PREFIX) != STATUS_OK) return 0;
    StrBuf out = {0}, again = {0}, text = {0};
    bpe_write(bpe, &out);
    require(bpe_read(&copy, strbuf_view(&out), "written", bpe_marker(bpe)) == STATUS_OK);
    require(bpe_count(copy) == bpe_count(bpe) && bpe_marker(copy) == bpe_marker(bpe));
    bpe_write(copy, &again);
    require(strcmp(strbuf_text(&out), strbuf_text(&again)) == 0);
    if (end) utf8_repair((StrView){(const char *)end + 1, size - codes.length - 1}, &text);
    strbuf_add(&text, codes); /* words that the merges apply to */
    if (bpe_marker(bpe) == BPE_PREFIX)
        tokenize_runs(strbuf_view(&text), check_word, bpe);
    else
        tokenize_spaced(strbuf_view(&text), check_word, bpe);
    strbuf_free(&out);
    strbuf_free(&again);
    strbuf_free(&text);
    bpe_free(bpe);
    bpe_free(copy);
    return 0;
}
