/* fuzz_tokenizer.c - a tokenizer from untrusted JSON encodes and decodes any text.
 *
 * Input: JSON up to the first NUL byte, then text. If the JSON is refused, a tokenizer is learned from the
 * text, and encoding and decoding must return the text in its normal form.
 */
#include "base/unicode.h"
#include "base/utf8.h"
#include "fuzz/scratch.h"
#include "tokenizer/bpe.h"
#include "tokenizer/tokenizer.h"
#include "unit/learn.h"

enum { MAX_LEARNED = 64 }; /* bytes: many short texts find more faults than few long ones */

static void use(Tokenizer *tokenizer, StrView text) {
    IdList ids = {0};
    StrBuf out = {0};
    tokenizer_encode(tokenizer, text, &ids);
    int *word = calloc(ids.count + 1, sizeof *word);
    require(word != NULL);
    int words = tokenizer_words(tokenizer, ids.ids, ids.count, word);
    require(words <= (int)ids.count && (ids.count == 0 || word[ids.count - 1] == words - 1));
    tokenizer_decode(tokenizer, ids.ids, ids.count, &out);
    require(utf8_valid(strbuf_view(&out)) && !memchr(strbuf_text(&out), '\n', out.length));
    for (size_t i = 0; i < ids.count; i++) {
        require(ids.ids[i] == VOCAB_UNK ||
                (ids.ids[i] >= VOCAB_SPECIALS && ids.ids[i] < vocab_size(tokenizer_vocab(tokenizer))));
        if (i < 100) tokenizer_label(tokenizer, ids.ids[i], &out);
    }
    free(word);
    id_list_free(&ids);
    strbuf_free(&out);
}

/* The expected text: normal form, single plain spaces, and `_` in place of marker characters. */
static void expect(StrView text, BpeMarker marker, StrBuf *out) {
    StrBuf whole = {0}, normal = {0};
    utf8_repair(text, &whole);
    unicode_normalize(strbuf_view(&whole), NORMALIZE_NFC, false, &normal);
    StrView view = strbuf_view(&normal);
    bool space = false;
    for (size_t position = 0; position < view.length;) {
        int c = utf8_next(view, &position);
        if (unicode_class(c) == CHAR_SPACE) {
            space = out->length > 0;
            continue;
        }
        if (space) strbuf_add_char(out, ' ');
        space = false;
        utf8_add(out, c == 0x2581 && marker == BPE_PREFIX ? '_' : c);
    }
    strbuf_free(&whole);
    strbuf_free(&normal);
}

static void learn_and_compare(StrView text, BpeMarker marker) {
    TextOptions options = {.tokenizer = TOKENIZER_BPE,
                           .normalize = NORMALIZE_NFC,
                           .bpe_merges = 10,
                           .min_count = 1,
                           .bpe_marker = (int)marker};
    Tokenizer *tokenizer;
    if (learn_tokenizer(&tokenizer, &options, text) != STATUS_OK) return;
    IdList ids = {0};
    StrBuf expected = {0}, back = {0};
    expect(text, marker, &expected);
    tokenizer_encode(tokenizer, text, &ids);
    tokenizer_decode(tokenizer, ids.ids, ids.count, &back);
    require(strcmp(strbuf_text(&expected), strbuf_text(&back)) == 0);
    id_list_free(&ids);
    strbuf_free(&expected);
    strbuf_free(&back);
    tokenizer_free(tokenizer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const uint8_t *end = memchr(data, 0, size);
    StrView json = {(const char *)data, end ? (size_t)(end - data) : size};
    StrView text = end ? (StrView){(const char *)end + 1, size - json.length - 1} : json;
    Tokenizer *tokenizer;
    if (tokenizer_read_json(&tokenizer, json) == STATUS_OK) {
        use(tokenizer, text);
        StrBuf out = {0};
        tokenizer_write_json(tokenizer, &out);
        tokenizer_write_codes(tokenizer, &out);
        strbuf_free(&out);
        tokenizer_free(tokenizer);
        return 0;
    }
    if (text.length > MAX_LEARNED) text.length = MAX_LEARNED;
    learn_and_compare(text, text.length % 2 ? BPE_PREFIX : BPE_SUFFIX);
    return 0;
}
