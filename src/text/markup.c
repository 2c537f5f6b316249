/* markup.c - scan for marks, find pairs with a stack, copy what is left. */
#include "text/markup.h"

#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"

enum {
    LONGEST_TAG = 4096,  /* bytes */
    LONGEST_NAME = 64,   /* of placeholders and entities */
    DEEPEST_PAIR = 64,   /* what opens deeper is single */
    MOST_PRECISION = 12, /* bytes of flags, width and precision: %-08.3f */
};

/* ---- how long is the mark at text.data[at]? 0: there is none ---- */

static char byte_at(StrView text, size_t at) { return at < text.length ? text.data[at] : '\0'; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_one_of(char c, const char *set) { return c && strchr(set, c); }
static bool is_blank(char c) { return is_one_of(c, " \t\r\n\f"); }
static bool is_name(char c) { return is_letter(c) || is_digit(c) || is_one_of(c, "_.:-"); }

static size_t comment_length(StrView text, size_t at) {
    for (size_t i = at + 4; i + 2 < text.length && i < at + LONGEST_TAG; i++)
        if (memcmp(text.data + i, "-->", 3) == 0) return i + 3 - at;
    return 0;
}

static size_t tag_length(StrView text, size_t at) {
    size_t i = at + 1;
    if (sv_starts((StrView){text.data + at, text.length - at}, SV("<!--"))) return comment_length(text, at);
    if (byte_at(text, i) == '/') i++;
    if (!is_letter(byte_at(text, i))) return 0;
    while (is_name(byte_at(text, i))) i++;
    if (!is_blank(byte_at(text, i)) && !is_one_of(byte_at(text, i), "/>")) return 0;
    for (char quote = '\0'; i < text.length && i < at + LONGEST_TAG; i++) {
        char c = text.data[i];
        if (quote)
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '>')
            return i + 1 - at;
        else if (c == '<')
            return 0;
    }
    return 0;
}

static size_t entity_length(StrView text, size_t at) {
    size_t i = at + 1;
    if (byte_at(text, i) == '#') i += is_one_of(byte_at(text, i + 1), "xX") ? 2 : 1;
    size_t name = i;
    while (i < at + LONGEST_NAME && (is_letter(byte_at(text, i)) || is_digit(byte_at(text, i)))) i++;
    return i > name && byte_at(text, i) == ';' ? i + 1 - at : 0;
}

/* {name}, {{ name }}: behind what may stand before it. */
static size_t brace_length(StrView text, size_t at) {
    size_t i = at + 1;
    bool twice = byte_at(text, i) == '{';
    for (i += twice; i < at + LONGEST_NAME; i++) {
        char c = byte_at(text, i);
        if (!is_name(c) && !is_one_of(c, "[],!") && !(twice && c == ' ')) break;
    }
    if (byte_at(text, i) != '}' || (twice && byte_at(text, i + 1) != '}')) return 0;
    return i + 1 + twice - at;
}

/* A conversion of printf; a space is no flag here: "100 % sure" is text. */
static size_t percent_length(StrView text, size_t at) {
    size_t i = at + 1;
    if (byte_at(text, i) == '%') return 2;
    if (byte_at(text, i) == '(') {
        while (i < at + LONGEST_NAME && is_name(byte_at(text, i + 1))) i++;
        if (byte_at(text, ++i) != ')') return 0;
        i++;
    }
    for (size_t first = i; i < first + MOST_PRECISION && is_one_of(byte_at(text, i), "0123456789$+-#.*"); i++)
        ;
    while (is_one_of(byte_at(text, i), "hlLzjt") && is_letter(byte_at(text, i + 1))) i++;
    if (!is_one_of(byte_at(text, i), "diuoxXfFeEgGcsSp@") || is_letter(byte_at(text, i + 1))) return 0;
    return i + 1 - at;
}

static size_t mark_length(StrView text, size_t at) {
    switch (text.data[at]) {
    case '<':
        return tag_length(text, at);
    case '&':
        return entity_length(text, at);
    case '{':
        return brace_length(text, at);
    case '$': {
        size_t length = byte_at(text, at + 1) == '{' ? brace_length(text, at + 1) : 0;
        return length > 0 ? length + 1 : 0;
    }
    case '%':
        return percent_length(text, at);
    default:
        return 0;
    }
}

/* ---- pairs ---- */

static StrView tag_name(StrView tag) {
    size_t start = tag.data[1] == '/' ? 2 : 1, end = start;
    while (is_name(byte_at(tag, end))) end++;
    return (StrView){tag.data + start, end - start};
}

static bool same_name(StrView a, StrView b) {
    a = tag_name(a), b = tag_name(b);
    return a.length == b.length && strncasecmp(a.data, b.data, a.length) == 0;
}

/* Find the partners; what has none becomes single. */
static void match_pairs(Markup *markup) {
    int open[DEEPEST_PAIR], depth = 0;
    for (int m = 0; m < markup->count; m++) {
        Mark *mark = &markup->items[m];
        MarkKind kind = mark->kind;
        mark->kind = MARK_SINGLE;
        if (kind == MARK_OPEN && depth < DEEPEST_PAIR) open[depth++] = m;
        if (kind != MARK_CLOSE) continue;
        int at = depth - 1;
        while (at >= 0 && !same_name(markup->items[open[at]].text, mark->text)) at--;
        if (at < 0) continue;
        depth = at;
        mark->kind = MARK_CLOSE;
        mark->partner = open[at];
        markup->items[open[at]].kind = MARK_OPEN;
        markup->items[open[at]].partner = m;
    }
}

static MarkKind mark_kind(StrView text) {
    if (text.data[0] != '<' || text.data[1] == '!' || text.data[text.length - 2] == '/') return MARK_SINGLE;
    return text.data[1] == '/' ? MARK_CLOSE : MARK_OPEN;
}

/* ---- the plain text ---- */

typedef struct {
    Markup *markup;
    bool space;    /* what stands before is white space, or nothing */
    Mark *pending; /* a single that nothing but tags of pairs followed yet */
} Copy;

static void copy_text(Copy *copy, StrView text) {
    for (size_t position = 0, start = 0; position < text.length; start = position) {
        copy->space = unicode_is_space(utf8_next(text, &position));
        if (copy->pending) {
            copy->pending->space_after = copy->space;
            if (!copy->space && !copy->pending->space_before) strbuf_add_char(&copy->markup->plain, ' ');
        }
        copy->pending = NULL;
        strbuf_add(&copy->markup->plain, (StrView){text.data + start, position - start});
    }
}

static void copy_mark(Copy *copy, Mark *mark) {
    mark->position = copy->markup->plain.length;
    if (mark->kind != MARK_SINGLE) return;
    mark->space_before = copy->space;
    copy->space = false;
    copy->pending = mark;
}

static void copy_plain(Markup *markup) {
    Copy copy = {.markup = markup, .space = true};
    const char *from = strbuf_text(&markup->sound), *end = from + markup->sound.length;
    for (int m = 0; m < markup->count; m++) {
        Mark *mark = &markup->items[m];
        copy_text(&copy, (StrView){from, (size_t)(mark->text.data - from)});
        copy_mark(&copy, mark);
        from = mark->text.data + mark->text.length;
    }
    copy_text(&copy, (StrView){from, (size_t)(end - from)});
    if (copy.pending) copy.pending->space_after = true;
}

void markup_find(StrView text, Markup *markup) {
    utf8_repair(text, &markup->sound);
    StrView sound = {strbuf_text(&markup->sound), markup->sound.length};
    for (size_t at = 0; at < sound.length;) {
        size_t length = mark_length(sound, at);
        if (length > 0) {
            StrView found = {sound.data + at, length};
            MEM_GROW(markup->items, markup->capacity, (size_t)markup->count + 1);
            markup->items[markup->count++] = (Mark){.text = found, .kind = mark_kind(found), .partner = -1};
        }
        at += length > 0 ? length : 1;
    }
    match_pairs(markup);
    copy_plain(markup);
}

void markup_free(Markup *markup) {
    strbuf_free(&markup->sound);
    strbuf_free(&markup->plain);
    mem_free(markup->items);
    *markup = (Markup){0};
}
