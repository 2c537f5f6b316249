/* vocab.c - see vocab.h. The ids are the order of insertion into the hash map. */
#include "tokenizer/vocab.h"

#include <assert.h>
#include "base/hashmap.h"
#include <string.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "io/json_write.h"

struct Vocab {
    HashMap *ids;
};

static const char *const SPECIAL[VOCAB_SPECIALS] = {"<pad>", "<unk>", "<s>", "</s>"};

Vocab *vocab_new(void) {
    Vocab *vocab = mem_alloc(1, sizeof *vocab);
    vocab->ids = hashmap_new();
    for (int id = 0; id < VOCAB_SPECIALS; id++) vocab_add(vocab, sv(SPECIAL[id]));
    return vocab;
}

void vocab_free(Vocab *vocab) {
    if (!vocab) return;
    hashmap_free(vocab->ids);
    mem_free(vocab);
}

int vocab_size(const Vocab *vocab) { return (int)hashmap_count(vocab->ids); }

int vocab_add(Vocab *vocab, StrView token) {
    return (int)*hashmap_slot(vocab->ids, token, vocab_size(vocab));
}

int vocab_id(const Vocab *vocab, StrView token) { return (int)hashmap_get(vocab->ids, token, VOCAB_UNK); }

StrView vocab_token(const Vocab *vocab, int id) {
    assert(id >= 0 && id < vocab_size(vocab));
    return hashmap_key(vocab->ids, (size_t)id);
}

int vocab_difference(const Vocab *a, const Vocab *b) {
    int sizes[] = {vocab_size(a), vocab_size(b)}, common = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
    for (int id = 0; id < common; id++)
        if (!sv_equal(vocab_token(a, id), vocab_token(b, id))) return id;
    return sizes[0] == sizes[1] ? -1 : common;
}

void vocab_write_json(const Vocab *vocab, StrBuf *out) {
    strbuf_add_char(out, '[');
    for (int id = VOCAB_SPECIALS; id < vocab_size(vocab); id++) {
        if (id > VOCAB_SPECIALS) strbuf_add_char(out, ',');
        json_write_string(out, vocab_token(vocab, id));
    }
    strbuf_add_char(out, ']');
}

/* Tokens with line breaks would break "one line in, one line out". */
static bool has_space(StrView token) {
    for (size_t i = 0; i < token.length; i++)
        if (char_is_space(token.data[i])) return true;
    return false;
}

static Status add_token(Vocab *vocab, StrView token, bool with_spaces) {
    int id = vocab_size(vocab);
    if (token.length == 0) return status_fail(STATUS_DATA, "vocabulary: token %d is empty", id);
    if (token.length > VOCAB_TOKEN_BYTES)
        return status_fail(STATUS_DATA, "vocabulary: token %d has %zu bytes, more than %d", id, token.length,
                           VOCAB_TOKEN_BYTES);
    if (!with_spaces && has_space(token))
        return status_fail(STATUS_DATA, "vocabulary: token %d contains white space", id);
    if (vocab_add(vocab, token) == id) return STATUS_OK;
    return status_fail(STATUS_DATA, "vocabulary: token %d, '%.*s', occurs twice", id, SV_ARG(token));
}

static Status add_json(Vocab *vocab, const Json *array, bool with_spaces) {
    for (const Json *item = json_first(array); item; item = json_after(item)) {
        if (json_type(item) != JSON_STRING)
            return status_fail(STATUS_DATA, "vocabulary: token %d is not a string", vocab_size(vocab));
        TRY(add_token(vocab, sv(json_string(item)), with_spaces));
    }
    return STATUS_OK;
}

/* The last bytes of a vocabulary may be NULs, fewer than 8. */
static bool is_padding(StrView text) {
    static const char zeros[8];
    return text.length < sizeof zeros && memcmp(text.data, zeros, text.length) == 0;
}

static Status add_bytes(Vocab *vocab, StrView text, bool with_spaces) {
    size_t valid = utf8_valid_length(text);
    if (valid < text.length) return status_fail(STATUS_DATA, "vocabulary: byte %zu is not UTF-8", valid);
    while (text.length > 0 && !is_padding(text)) {
        const char *end = memchr(text.data, '\0', text.length);
        if (!end) return status_fail(STATUS_DATA, "vocabulary: no NUL after the last token");
        StrView token = {text.data, (size_t)(end - text.data)};
        TRY(add_token(vocab, token, with_spaces));
        text = (StrView){end + 1, text.length - token.length - 1};
    }
    return STATUS_OK;
}

/* `read`, if it could be read. */
static Status finish(Vocab **vocab, Vocab *read, Status status) {
    *vocab = status == STATUS_OK ? read : NULL;
    if (status != STATUS_OK) vocab_free(read);
    return status;
}

Status vocab_read_json(Vocab **vocab, const Json *array, bool with_spaces) {
    Vocab *read = vocab_new();
    return finish(vocab, read, add_json(read, array, with_spaces));
}

Status vocab_read(Vocab **vocab, StrView text, bool with_spaces) {
    Vocab *read = vocab_new();
    return finish(vocab, read, add_bytes(read, text, with_spaces));
}

void vocab_write(const Vocab *vocab, StrBuf *out) {
    for (int id = VOCAB_SPECIALS; id < vocab_size(vocab); id++) {
        strbuf_add(out, vocab_token(vocab, id));
        strbuf_add_char(out, '\0');
    }
}
