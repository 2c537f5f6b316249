/* tok_intl.c - three passes over the line, each from left to right over what the one before left. */
#include "metrics/tok_intl.h"

#include "base/unicode.h"
#include "base/utf8.h"

/* A character with its kind and its bytes. */
typedef struct {
    UnicodeKind kind;
    StrView bytes;
} Character;

static Character next_character(StrView text, size_t *position) {
    size_t start = *position;
    int code_point = utf8_next(text, position);
    return (Character){unicode_kind(code_point), {text.data + start, *position - start}};
}

/* (not a number)(punctuation) -> \1 \2 with spaces around the second. A pair that matches is used up. */
static void split_after_non_number(StrView text, StrBuf *out) {
    size_t position = 0;
    while (position < text.length) {
        Character first = next_character(text, &position);
        strbuf_add(out, first.bytes);
        if (first.kind == UNICODE_NUMBER || position >= text.length) continue;
        size_t after = position;
        Character second = next_character(text, &after);
        if (second.kind != UNICODE_PUNCTUATION) continue;
        strbuf_add_char(out, ' ');
        strbuf_add(out, second.bytes);
        strbuf_add_char(out, ' ');
        position = after;
    }
}

/* (punctuation)(not a number) -> spaces around the first. */
static void split_before_non_number(StrView text, StrBuf *out) {
    size_t position = 0;
    while (position < text.length) {
        Character first = next_character(text, &position);
        size_t after = position;
        if (first.kind == UNICODE_PUNCTUATION && position < text.length) {
            Character second = next_character(text, &after);
            if (second.kind != UNICODE_NUMBER) {
                strbuf_add_char(out, ' ');
                strbuf_add(out, first.bytes);
                strbuf_add_char(out, ' ');
                strbuf_add(out, second.bytes);
                position = after;
                continue;
            }
        }
        strbuf_add(out, first.bytes);
    }
}

static void split_symbols(StrView text, StrBuf *out) {
    size_t position = 0;
    while (position < text.length) {
        Character c = next_character(text, &position);
        if (c.kind == UNICODE_SYMBOL) strbuf_add_char(out, ' ');
        strbuf_add(out, c.bytes);
        if (c.kind == UNICODE_SYMBOL) strbuf_add_char(out, ' ');
    }
}

void tok_intl_apply(StrView line, StrBuf *out) {
    StrBuf first = {0}, second = {0};
    split_after_non_number(line, &first);
    split_before_non_number(strbuf_view(&first), &second);
    split_symbols(strbuf_view(&second), out);
    strbuf_free(&first);
    strbuf_free(&second);
}
