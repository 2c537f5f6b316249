/* reserved_tokens.c - see reserved_tokens.h. */
#include "tokenizer/reserved_tokens.h"

#include "base/utf8.h"

enum { FIRST_CHARACTER = 0x10FF00 };

void reserved_add(int k, StrBuf *text) { utf8_add(text, FIRST_CHARACTER + k); }

int reserved_index(int c) {
    int k = c - FIRST_CHARACTER;
    return k >= 0 && k < RESERVED_TOKENS ? k : -1;
}

static bool has_reserved(StrView text) {
    for (size_t at = 0; at < text.length;)
        if (reserved_index(utf8_next(text, &at)) >= 0) return true;
    return false;
}

bool reserved_in_vocab(const Vocab *vocab) {
    StrBuf token = {0};
    bool all = true;
    for (int k = 0; k < RESERVED_TOKENS && all; k++) {
        strbuf_clear(&token);
        reserved_add(k, &token);
        all = vocab_id(vocab, strbuf_view(&token)) != VOCAB_UNK;
    }
    strbuf_free(&token);
    return all;
}

static bool can_replace(StrView text, const PlaceholderList *placeholders) {
    return placeholders->count > 0 && placeholders->count <= RESERVED_TOKENS && !has_reserved(text);
}

/* Placeholder i becomes token number[i]. */
static void replace(StrView text, const PlaceholderList *placeholders, const int *number, StrBuf *out) {
    const char *from = text.data;
    for (int i = 0; i < placeholders->count; i++) {
        StrView placeholder = placeholders->items[i].text;
        strbuf_add(out, (StrView){from, (size_t)(placeholder.data - from)});
        reserved_add(number[i], out);
        from = placeholder.data + placeholder.length;
    }
    strbuf_add(out, (StrView){from, (size_t)(text.data + text.length - from)});
}

bool reserved_replace(StrView text, const PlaceholderList *placeholders, StrBuf *out) {
    int number[RESERVED_TOKENS];
    if (!can_replace(text, placeholders)) return false;
    for (int k = 0; k < RESERVED_TOKENS; k++) number[k] = k;
    replace(text, placeholders, number, out);
    return true;
}

/* The n-th placeholder of a text in the target is the n-th of that text in the source. */
static void number_target(const PlaceholderList *source, const PlaceholderList *target, int *number) {
    bool used[RESERVED_TOKENS] = {0};
    for (int i = 0; i < target->count; i++) {
        int k = 0;
        while (k < source->count - 1 && (used[k] || !sv_equal(source->items[k].text, target->items[i].text)))
            k++;
        used[k] = true;
        number[i] = k;
    }
}

bool reserved_replace_pair(StrView source, StrView target, StrBuf *source_out, StrBuf *target_out) {
    PlaceholderList in_source = {0}, in_target = {0};
    int number[RESERVED_TOKENS];
    placeholders_find(source, &in_source);
    if (in_source.count > 0) placeholders_find(target, &in_target);
    bool fits = can_replace(source, &in_source) && can_replace(target, &in_target) &&
                placeholders_agree(&in_source, &in_target);
    if (fits) {
        number_target(&in_source, &in_target, number);
        reserved_replace(source, &in_source, source_out);
        replace(target, &in_target, number, target_out);
    }
    placeholders_free(&in_source);
    placeholders_free(&in_target);
    return fits;
}

bool reserved_restore(StrView text, const PlaceholderList *placeholders, StrBuf *out) {
    for (size_t at = 0, start = 0; at < text.length; start = at) {
        int k = reserved_index(utf8_next(text, &at));
        if (k >= placeholders->count) return false;
        strbuf_add(out, k >= 0 ? placeholders->items[k].text : (StrView){text.data + start, at - start});
    }
    return true;
}
