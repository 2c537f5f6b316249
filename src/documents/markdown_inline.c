/* markdown_inline.c - see markdown_inline.h. One pass; the ends of open pairs are on a stack. */
#include "documents/markdown_inline.h"

#include <ctype.h>
#include <string.h>
#include "documents/document.h"
#include "text/entities.h"
#include "text/markup.h"

enum { DEEPEST = 32, FARTHEST = 4000 }; /* pairs in pairs; bytes from the start of a pair to its end */

typedef struct {
    size_t at, length; /* of its end */
    int number;
} Open;

typedef struct {
    StrView document, text;
    size_t at;
    Codes *codes;
    StrBuf *out;
    Open open[DEEPEST];
    int depth;
} Encoder;

static char char_at(StrView text, size_t at) { return at < text.length ? text.data[at] : '\0'; }
static StrView part(StrView text, size_t from, size_t to) { return (StrView){text.data + from, to - from}; }
static bool is_word(char c) { return isalnum((unsigned char)c) || (unsigned char)c >= 0x80; }

static size_t limit_of(const Encoder *encoder) {
    size_t end = encoder->depth > 0 ? encoder->open[encoder->depth - 1].at : encoder->text.length;
    return end - encoder->at > FARTHEST ? encoder->at + FARTHEST : end;
}

static void add_single(Encoder *encoder, size_t length) {
    codes_add_single(encoder->codes, part(encoder->text, encoder->at, encoder->at + length), encoder->out);
    encoder->at += length;
}

/* A pair whose opening mark has `length` bytes, and whose closing one is text[at, end). */
static bool open_pair(Encoder *encoder, size_t length, size_t at, size_t end, StrView close) {
    if (encoder->depth == DEEPEST) return false;
    StrView open = part(encoder->text, encoder->at, encoder->at + length);
    int number = codes_open(encoder->codes, open, close, encoder->out);
    encoder->open[encoder->depth++] = (Open){at, end - at, number};
    encoder->at += length;
    return true;
}

static size_t run_length(StrView text, size_t at) {
    size_t end = at;
    while (end < text.length && text.data[end] == text.data[at]) end++;
    return end - at;
}

static bool encode_code(Encoder *encoder) {
    StrView text = encoder->text;
    size_t run = run_length(text, encoder->at), limit = limit_of(encoder);
    for (size_t i = encoder->at + run; i < limit;) {
        size_t length = text.data[i] == '`' ? run_length(text, i) : 0;
        if (length == run) {
            add_single(encoder, i + run - encoder->at);
            return true;
        }
        i += length > 0 ? length : 1;
    }
    return false;
}

/* Where a link or an emphasis must end, so that marks that never end take no quadratic time. */
static size_t end_of_search(const Encoder *encoder) {
    enum { MAX_SPAN = 10000 };
    size_t limit = limit_of(encoder);
    return limit - encoder->at > MAX_SPAN ? encoder->at + MAX_SPAN : limit;
}

static bool encode_emphasis(Encoder *encoder) {
    StrView text = encoder->text;
    size_t at = encoder->at, run = run_length(text, at), limit = end_of_search(encoder);
    char mark = text.data[at], before = at > 0 ? text.data[at - 1] : ' ';
    if (run > 3 || (mark == '~' && run != 2) || char_is_space(char_at(text, at + run)) || at + run >= limit)
        return false;
    if (mark == '_' && is_word(before)) return false;
    for (size_t i = at + run + 1; i < limit;) {
        size_t length = text.data[i] == mark ? run_length(text, i) : 0;
        bool closes = length == run && !char_is_space(text.data[i - 1]) && i + run <= limit;
        if (closes && mark == '_' && is_word(char_at(text, i + run))) closes = false;
        if (closes) return open_pair(encoder, run, i, i + run, part(text, i, i + run));
        if (text.data[i] == '\\') length = 2;
        if (text.data[i] == '`') length = run_length(text, i);
        i += length > 0 ? length : 1;
    }
    return false;
}

/* The position of the bracket that closes the one at `at`; `limit`: there is none. */
static size_t closing(StrView text, size_t at, size_t limit, char open, char close) {
    int depth = 0;
    for (size_t i = at; i < limit; i++) {
        if (text.data[i] == '\\')
            i++;
        else if (text.data[i] == open)
            depth++;
        else if (text.data[i] == close && --depth == 0)
            return i;
    }
    return limit;
}

/* Does a line of the document define a link with this label? */
static bool is_defined(StrView document, StrView label) {
    StrBuf definition = {0};
    strbuf_format(&definition, "[%.*s]:", SV_ARG(label));
    bool found = label.length > 0 &&
                 memmem(document.data, document.length, definition.data, definition.length) != NULL;
    strbuf_free(&definition);
    return found;
}

static bool encode_link(Encoder *encoder) {
    StrView text = encoder->text;
    size_t at = encoder->at, mark = text.data[at] == '!' ? 2 : 1, limit = end_of_search(encoder);
    if (char_at(text, at + mark - 1) != '[') return false;
    size_t end = closing(text, at + mark - 1, limit, '[', ']');
    if (end == limit) return false;
    if (mark == 1 && char_at(text, at + 1) == '^') {
        add_single(encoder, end + 1 - at);
        return true;
    }
    StrView label = part(text, at + mark, end);
    char next = char_at(text, end + 1);
    size_t last = limit;
    if (next == '(') last = closing(text, end + 1, limit, '(', ')');
    if (next == '[') last = closing(text, end + 1, limit, '[', ']');
    bool shortcut = last == limit && next != '(' && is_defined(encoder->document, label);
    if (shortcut) last = end;
    if (last == limit) return false;
    bool named = next == '(' || (next == '[' && last > end + 2);
    if (named && !shortcut) return open_pair(encoder, mark, end, last + 1, part(text, end, last + 1));
    StrBuf close = {0};
    strbuf_format(&close, "][%.*s]", SV_ARG(label)); /* the label must not change */
    bool opened = open_pair(encoder, mark, end, last + 1, strbuf_view(&close));
    strbuf_free(&close);
    return opened;
}

static bool encode_angle(Encoder *encoder) {
    StrView text = encoder->text;
    size_t at = encoder->at, limit = end_of_search(encoder), tag = tag_length(text, at);
    size_t end = closing(text, at, limit, '<', '>');
    StrView inside = end < limit ? part(text, at + 1, end) : SV("");
    bool address = memchr(inside.data, ':', inside.length) || memchr(inside.data, '@', inside.length);
    if (end < limit && address && !memchr(inside.data, ' ', inside.length)) {
        add_single(encoder, end + 1 - at);
        return true;
    }
    if (tag == 0 || at + tag > limit || tag_is_word(part(text, at, at + tag))) return false;
    strbuf_add(encoder->out, part(text, at, at + tag));
    encoder->at += tag;
    return true;
}

static bool encode_entity(Encoder *encoder) {
    size_t length = entity_length(encoder->text, encoder->at);
    if (length == 0) return false;
    StrView entity = part(encoder->text, encoder->at, encoder->at + length);
    if (sv_equal(entity, SV("&amp;")) || sv_equal(entity, SV("&lt;"))) {
        add_single(encoder, length);
    } else {
        strbuf_add(encoder->out, entity);
        encoder->at += length;
    }
    return true;
}

static bool encode_mark(Encoder *encoder) {
    StrView text = encoder->text;
    char c = text.data[encoder->at], next = char_at(text, encoder->at + 1);
    switch (c) {
    case '\\':
        if (!ispunct((unsigned char)next) || encoder->at + 2 > limit_of(encoder)) return false;
        if (!memchr(strbuf_text(&encoder->codes->escaped), next, encoder->codes->escaped.length))
            strbuf_add_char(&encoder->codes->escaped, next);
        text_escape((StrView){&next, 1}, encoder->out);
        encoder->at += 2;
        return true;
    case '`':
        return encode_code(encoder);
    case '*':
    case '_':
    case '~':
        return encode_emphasis(encoder);
    case '!':
    case '[':
        return encode_link(encoder);
    case '<':
        return encode_angle(encoder);
    case '&':
        return encode_entity(encoder);
    default:
        return false;
    }
}

void markdown_encode(StrView document, StrView text, Codes *codes, StrBuf *out) {
    Encoder encoder = {.document = document, .text = text, .codes = codes, .out = out};
    while (encoder.at < text.length) {
        const Open *last = encoder.depth > 0 ? &encoder.open[encoder.depth - 1] : NULL;
        if (last && encoder.at == last->at) {
            codes_close(last->number, out);
            encoder.at += last->length;
            encoder.depth--;
        } else if (!encode_mark(&encoder)) {
            char c = text.data[encoder.at];
            size_t run = c == '*' || c == '_' || c == '`' || c == '~' ? run_length(text, encoder.at) : 1;
            size_t limit = limit_of(&encoder);
            if (encoder.at + run > limit) run = limit - encoder.at;
            text_escape(part(text, encoder.at, encoder.at + run), out);
            encoder.at += run;
        }
    }
}
