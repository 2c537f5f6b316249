/* tokenizers.c - rules of mteval, each one pass over the line. Those of 13a work on bytes, which is the same
 * as on characters since all their operands are ASCII. */
#include "bleu/tokenizers.h"

#include <string.h>
#include "base/unicode.h"
#include "base/utf8.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_stop(char c) { return c == '.' || c == ','; }

/* ASCII punctuation but for ' - . and , as well as the space itself. */
static bool is_set_apart(char c) {
    return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
           (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/* One rule: text in, text with the change made everywhere, left to right, blind to its own output. */
typedef void (*Rule)(StrView text, StrBuf *out);

static void replace_all(StrView text, StrView from, StrView to, StrBuf *out) {
    for (size_t i = 0; i < text.length;) {
        if (sv_starts((StrView){text.data + i, text.length - i}, from)) {
            strbuf_add(out, to);
            i += from.length;
        } else {
            strbuf_add_char(out, text.data[i++]);
        }
    }
}

static void drop_skipped(StrView text, StrBuf *out) { replace_all(text, SV("<skipped>"), SV(""), out); }
static void join_hyphenated(StrView text, StrBuf *out) { replace_all(text, SV("-\n"), SV(""), out); }
static void join_lines(StrView text, StrBuf *out) { replace_all(text, SV("\n"), SV(" "), out); }
static void decode_quote(StrView text, StrBuf *out) { replace_all(text, SV("&quot;"), SV("\""), out); }
static void decode_ampersand(StrView text, StrBuf *out) { replace_all(text, SV("&amp;"), SV("&"), out); }
static void decode_less(StrView text, StrBuf *out) { replace_all(text, SV("&lt;"), SV("<"), out); }
static void decode_greater(StrView text, StrBuf *out) { replace_all(text, SV("&gt;"), SV(">"), out); }

static void pad(StrView text, StrBuf *out) {
    strbuf_add_char(out, ' ');
    strbuf_add(out, text);
    strbuf_add_char(out, ' ');
}

static void add_apart(char c, StrBuf *out) {
    strbuf_add_char(out, ' ');
    strbuf_add_char(out, c);
    strbuf_add_char(out, ' ');
}

static void split_punctuation(StrView text, StrBuf *out) {
    for (size_t i = 0; i < text.length; i++) {
        if (is_set_apart(text.data[i]))
            add_apart(text.data[i], out);
        else
            strbuf_add_char(out, text.data[i]);
    }
}

/* A full stop or comma after anything but a digit. */
static void split_stop_after_non_digit(StrView text, StrBuf *out) {
    for (size_t i = 0; i < text.length; i++) {
        strbuf_add_char(out, text.data[i]);
        if (i + 1 < text.length && !is_digit(text.data[i]) && is_stop(text.data[i + 1]))
            add_apart(text.data[++i], out);
    }
}

/* A full stop or comma before anything but a digit; the character after it is used up too. */
static void split_stop_before_non_digit(StrView text, StrBuf *out) {
    for (size_t i = 0; i < text.length; i++) {
        if (i + 1 < text.length && is_stop(text.data[i]) && !is_digit(text.data[i + 1]))
            add_apart(text.data[i++], out);
        strbuf_add_char(out, text.data[i]);
    }
}

/* A hyphen after a digit. */
static void split_hyphen_after_digit(StrView text, StrBuf *out) {
    for (size_t i = 0; i < text.length; i++) {
        strbuf_add_char(out, text.data[i]);
        if (i + 1 < text.length && is_digit(text.data[i]) && text.data[i + 1] == '-')
            add_apart(text.data[++i], out);
    }
}

static void join_words(StrView text, StrBuf *out) {
    StrView word;
    for (bool first = true; unicode_next_word(&text, &word); first = false) {
        if (!first) strbuf_add_char(out, ' ');
        strbuf_add(out, word);
    }
}

static void split_characters(StrView text, StrBuf *out) {
    for (size_t position = 0; position < text.length;) {
        size_t start = position;
        utf8_next(text, &position);
        if (start > 0) strbuf_add_char(out, ' ');
        strbuf_add(out, (StrView){text.data + start, position - start});
    }
}

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

/* Apply rules to `text`, one after the other. */
static void apply(const Rule *rules, size_t count, StrBuf *text) {
    StrBuf other = {0};
    for (size_t i = 0; i < count; i++) {
        strbuf_clear(&other);
        rules[i](strbuf_view(text), &other);
        StrBuf swap = *text;
        *text = other;
        other = swap;
    }
    strbuf_free(&other);
}

#define APPLY(rules_, text_) apply((rules_), sizeof(rules_) / sizeof *(rules_), (text_))

static bool contains(StrView text, char c) { return text.length > 0 && memchr(text.data, c, text.length); }

static void tokenize_13a(StrView line, StrBuf *out) {
    static const Rule CLEAN[] = {drop_skipped, join_hyphenated, join_lines};
    static const Rule DECODE[] = {decode_quote, decode_ampersand, decode_less, decode_greater};
    static const Rule SPLIT[] = {pad,
                                 split_punctuation,
                                 split_stop_after_non_digit,
                                 split_stop_before_non_digit,
                                 split_hyphen_after_digit,
                                 join_words};
    strbuf_clear(out);
    strbuf_add(out, line);
    if (contains(line, '<') || contains(line, '\n')) APPLY(CLEAN, out);
    if (contains(line, '&')) APPLY(DECODE, out);
    APPLY(SPLIT, out);
}

static void tokenize_intl(StrView line, StrBuf *out) {
    static const Rule INTL[] = {split_after_non_number, split_before_non_number, split_symbols, join_words};
    strbuf_clear(out);
    strbuf_add(out, line);
    APPLY(INTL, out);
}

static void tokenize_char(StrView line, StrBuf *out) {
    strbuf_clear(out);
    split_characters(line, out);
}

static void tokenize_none(StrView line, StrBuf *out) {
    strbuf_clear(out);
    strbuf_add(out, line);
}

#define TOKENIZER_ROW(name_, function_) {name_, function_},
const Tokenizer TOKENIZERS[] = {TOKENIZER_TABLE(TOKENIZER_ROW, ){NULL, NULL}};
