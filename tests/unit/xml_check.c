/* xml_check.c - one pass over the text with a stack of open elements. XML 1.0, fifth edition */
#include "unit/xml_check.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { DEEPEST = 32, MAX_ATTRIBUTES = 32 };

static bool starts(StrView text, size_t at, const char *part) {
    size_t length = strlen(part);
    return text.length - at >= length && memcmp(text.data + at, part, length) == 0;
}

static const char *check_characters(StrView text) {
    for (size_t i = 0; i < text.length;) {
        unsigned char lead = (unsigned char)text.data[i];
        size_t length = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead < 0xF5                 ? 4
                                                      : 0;
        if (lead >= 0x80 && lead < 0xC2) length = 0;
        if (length == 0 || i + length > text.length) return "ill-formed UTF-8";
        long code = length == 1 ? lead : lead & (0x7F >> length);
        for (size_t k = 1; k < length; k++) {
            unsigned char tail = (unsigned char)text.data[i + k];
            if ((tail & 0xC0) != 0x80) return "ill-formed UTF-8";
            code = code << 6 | (tail & 0x3F);
        }
        if (code < 0x20 && code != '\t' && code != '\n' && code != '\r') return "control character";
        if ((code >= 0xD800 && code <= 0xDFFF) || code == 0xFFFE || code == 0xFFFF || code > 0x10FFFF)
            return "character that XML forbids";
        i += length;
    }
    return NULL;
}

/* At an '&': skip the entity. */
static bool skip_entity(StrView text, size_t *at) {
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (starts(text, *at, known[i])) {
            *at += strlen(known[i]);
            return true;
        }
    return false;
}

static size_t skip_blanks(StrView text, size_t at) {
    while (at < text.length && isspace((unsigned char)text.data[at])) at++;
    return at;
}

static StrView take_name(StrView text, size_t *at) {
    size_t begin = *at;
    while (*at < text.length && (isalnum((unsigned char)text.data[*at]) || strchr("_:-.", text.data[*at])))
        (*at)++;
    return (StrView){text.data + begin, *at - begin};
}

/* After the name of an element, up to and including '>'. */
static const char *check_attributes(StrView text, size_t *at, bool *closed) {
    StrView names[MAX_ATTRIBUTES];
    for (int count = 0;; count++) {
        size_t before = *at;
        *at = skip_blanks(text, *at);
        if (starts(text, *at, "/>") || starts(text, *at, ">")) {
            *closed = text.data[*at] == '/';
            *at += *closed ? 2 : 1;
            return NULL;
        }
        if (*at == before) return "no space before an attribute";
        if (count == MAX_ATTRIBUTES) return "too many attributes";
        names[count] = take_name(text, at);
        if (names[count].length == 0) return "attribute without a name";
        for (int i = 0; i < count; i++)
            if (sv_equal(names[i], names[count])) return "attribute given twice";
        if (!starts(text, *at, "=\"")) return "attribute value not quoted";
        for (*at += 2; *at < text.length && text.data[*at] != '"';) {
            if (text.data[*at] == '<') return "'<' in an attribute";
            if (text.data[*at] != '&')
                (*at)++;
            else if (!skip_entity(text, at))
                return "unknown entity";
        }
        if (*at >= text.length) return "attribute without an end";
        (*at)++;
    }
}

const char *xml_check(StrView text) {
    const char *problem = check_characters(text);
    if (problem) return problem;
    StrView open[DEEPEST];
    int depth = 0, roots = 0;
    size_t at = 0;
    if (starts(text, at, "<?xml ")) {
        while (at < text.length && !starts(text, at, "?>")) at++;
        if (at >= text.length) return "declaration without an end";
        at += 2;
    }
    while (at < text.length) {
        if (text.data[at] == '&') {
            if (!skip_entity(text, &at)) return "unknown entity";
        } else if (text.data[at] != '<') {
            if (depth == 0 && !isspace((unsigned char)text.data[at])) return "text outside the root";
            at++;
        } else if (starts(text, at, "</")) {
            at += 2;
            StrView name = take_name(text, &at);
            if (depth == 0 || !sv_equal(open[--depth], name)) return "element closed that is not open";
            if (!starts(text, at, ">")) return "closing tag without '>'";
            at++;
        } else {
            at++;
            StrView name = take_name(text, &at);
            bool closed = false;
            if (name.length == 0) return "element without a name";
            if (depth == 0 && ++roots > 1) return "second root";
            if (depth == DEEPEST) return "too deep";
            problem = check_attributes(text, &at, &closed);
            if (problem) return problem;
            if (!closed) open[depth++] = name;
        }
    }
    return depth > 0 ? "element left open" : roots == 0 ? "no root" : NULL;
}
