/* marked_lines.c - see marked_lines.h. */
#include "documents/marked_lines.h"

#include <ctype.h>
#include <string.h>
#include "base/unicode.h"
#include "base/utf8.h"
#include "documents/document.h"

void codes_add_single(Codes *codes, StrView part, StrBuf *text) {
    strbuf_format(text, "<m%zu/>", codes->open.count);
    strlist_add(&codes->open, part);
    strlist_add(&codes->close, SV(""));
}

int codes_open(Codes *codes, StrView open, StrView close, StrBuf *text) {
    strbuf_format(text, "<m%zu>", codes->open.count);
    strlist_add(&codes->open, open);
    strlist_add(&codes->close, close);
    return (int)codes->open.count - 1;
}

void codes_close(int number, StrBuf *text) { strbuf_format(text, "</m%d>", number); }

/* The length of "<m12/>", "<m12>" or "</m12>" at the start of a text; 0: there is none. */
static size_t code_length(StrView text, size_t *number, bool *closing) {
    size_t at = 1, value = 0;
    *closing = text.length > 1 && text.data[1] == '/';
    at += *closing;
    if (text.length < at + 3 || text.data[0] != '<' || text.data[at] != 'm') return 0;
    size_t first = ++at;
    for (; at < text.length && text.data[at] >= '0' && text.data[at] <= '9' && at < first + 9; at++)
        value = 10 * value + (size_t)(text.data[at] - '0');
    if (at == first) return 0;
    if (at < text.length && text.data[at] == '/') at++;
    if (at >= text.length || text.data[at] != '>') return 0;
    *number = value;
    return at + 1;
}

static void add_text(const Codes *codes, StrView escaped, StrBuf *out) {
    StrBuf text = {0};
    text_unescape(escaped, &text);
    for (size_t i = 0; i < text.length; i++) {
        if (memchr(strbuf_text(&codes->escaped), text.data[i], codes->escaped.length))
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, text.data[i]);
    }
    strbuf_free(&text);
}

/* Spaces of a part are no places to wrap. */
static void add_part(const char *part, StrBuf *out) {
    for (; *part; part++) strbuf_add_char(out, *part == ' ' ? CODES_SPACE : *part);
}

bool codes_decode(const Codes *codes, StrView text, StrBuf *out) {
    size_t from = 0;
    for (size_t at = 0; at < text.length;) {
        size_t number, length = 0;
        bool closing;
        StrView rest = {text.data + at, text.length - at};
        if (text.data[at] == '<') length = code_length(rest, &number, &closing);
        if (length == 0) {
            at++;
            continue;
        }
        if (number >= codes->open.count) return false;
        add_text(codes, (StrView){text.data + from, at - from}, out);
        add_part(closing ? codes->close.items[number] : codes->open.items[number], out);
        from = at += length;
    }
    add_text(codes, (StrView){text.data + from, text.length - from}, out);
    return true;
}

void codes_free(Codes *codes) {
    strlist_free(&codes->open);
    strlist_free(&codes->close);
    strbuf_free(&codes->escaped);
}

int text_columns(StrView text) {
    int columns = 0;
    for (size_t at = 0; at < text.length;) columns += unicode_width(utf8_next(text, &at));
    return columns;
}

size_t line_item_length(StrView line, size_t at) {
    static const char *const BULLETS[] = {"-", "*", "+", "\xE2\x80\xA2", "\xE2\x80\x93", "\xC2\xB7", "o"};
    size_t end = at;
    StrView rest = {line.data + at, line.length - at};
    for (size_t i = 0; i < sizeof BULLETS / sizeof *BULLETS && end == at; i++)
        if (sv_starts(rest, sv(BULLETS[i]))) end = at + strlen(BULLETS[i]);
    if (end == at) {
        while (end < line.length && end - at < 9 && isdigit((unsigned char)line.data[end])) end++;
        if (end == at || end == line.length || !strchr(".)", line.data[end])) return 0;
        end++;
    }
    size_t text = end;
    while (text < line.length && (line.data[text] == ' ' || line.data[text] == '\t')) text++;
    return text > end && text < line.length ? text - at : 0;
}

/* At the start of a line, the word would begin an item, a heading or a quote. */
static bool is_mark(StrView word) {
    char last = word.data[word.length - 1];
    if (word.length == 1 && strchr("-+*o>", last)) return true;
    size_t digits = 0;
    while (digits < word.length && word.data[digits] >= '0' && word.data[digits] <= '9') digits++;
    if (digits > 0 && digits + 1 == word.length && strchr(".)", last)) return true;
    return strchr("#>=|", word.data[0]) || sv_starts(word, SV("---")) || sv_starts(word, SV("```"));
}

void lines_wrap(StrView text, int start, int width, StrView indent, StrBuf *out) {
    StrView word;
    int column = start;
    bool first = true; /* of its line */
    while (sv_next_word(&text, &word)) {
        int columns = text_columns(word);
        if (!first && column + 1 + columns > width && !is_mark(word)) {
            strbuf_add_char(out, '\n');
            strbuf_add(out, indent);
            column = text_columns(indent);
        } else if (!first) {
            strbuf_add_char(out, ' ');
            column++;
        }
        strbuf_add(out, word);
        column += columns;
        first = false;
    }
}
