/* tok13a.c - the 13a rules on bytes, which is the same as on characters since all their operands are ASCII. */
#include "metrics/tok13a.h"

#include <string.h>
#include "base/unicode.h"
#include "base/utf8.h"
#include "metrics/tok_intl.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_stop(char c) { return c == '.' || c == ','; }

/* ASCII punctuation but for ' - . and , as well as the space itself. */
static bool is_set_apart(char c) {
    return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
           (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/* One rule: text in, text with the change made everywhere, from left to right, without looking at its own output. */
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

/* Apply rules one after the other; `out` receives the result of the last. */
static void apply(const Rule *rules, size_t count, StrView text, StrBuf *out) {
    StrBuf other = {0};
    strbuf_clear(out);
    strbuf_add(out, text);
    for (size_t i = 0; i < count; i++) {
        strbuf_clear(&other);
        rules[i](strbuf_view(out), &other);
        StrBuf swap = *out;
        *out = other;
        other = swap;
    }
    strbuf_free(&other);
}

#define APPLY(rules_, text_, out_) apply((rules_), sizeof(rules_) / sizeof *(rules_), (text_), (out_))

static const Rule CLEAN[] = {drop_skipped, join_hyphenated, join_lines};
static const Rule DECODE[] = {decode_quote, decode_ampersand, decode_less, decode_greater};
static const Rule SPLIT[] = {pad,
                             split_punctuation,
                             split_stop_after_non_digit,
                             split_stop_before_non_digit,
                             split_hyphen_after_digit,
                             join_words};
static const Rule INTL[] = {tok_intl_apply, join_words};
static const Rule CHARACTERS[] = {split_characters};

static bool contains(StrView text, char c) { return text.length > 0 && memchr(text.data, c, text.length); }

static void tokenize_13a(StrView line, StrBuf *out) {
    StrBuf text = {0};
    strbuf_add(&text, line);
    if (contains(line, '<') || contains(line, '\n')) APPLY(CLEAN, line, &text);
    StrBuf decoded = {0};
    if (contains(strbuf_view(&text), '&'))
        APPLY(DECODE, strbuf_view(&text), &decoded);
    else
        strbuf_add(&decoded, strbuf_view(&text));
    APPLY(SPLIT, strbuf_view(&decoded), out);
    strbuf_free(&text);
    strbuf_free(&decoded);
}

void tok13a_tokenize(StrView line, BleuTokenizer tokenizer, StrBuf *out) {
    switch (tokenizer) {
    case BLEU_TOKENIZE_13A:
        tokenize_13a(line, out);
        break;
    case BLEU_TOKENIZE_INTL:
        APPLY(INTL, line, out);
        break;
    case BLEU_TOKENIZE_CHAR:
        APPLY(CHARACTERS, line, out);
        break;
    case BLEU_TOKENIZE_NONE:
        strbuf_clear(out);
        strbuf_add(out, line);
        break;
    }
}

const char *tok13a_name(BleuTokenizer tokenizer) {
    static const char *const NAMES[] = {"13a", "intl", "char", "none"};
    return NAMES[tokenizer];
}
