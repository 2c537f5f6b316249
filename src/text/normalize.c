/* normalize.c - see normalize.h. */
#include "text/normalize.h"

#include <stdlib.h>
#include <utf8proc.h>
#include "text/utf8.h"

/* Code points that no normal form composes or takes apart and whose order never changes: what nearly all
 * text in European languages is made of. tests/unit/test_text_normalize.c proves both ranges. */
static bool is_stable_nfc(int code_point) {
    return code_point < 0x300 || (code_point >= 0x2002 && code_point < 0x20D0);
}

typedef enum { TEXT_ASCII, TEXT_STABLE, TEXT_ANY } TextKind;

static TextKind text_kind(StrView text) {
    TextKind kind = TEXT_ASCII;
    for (size_t position = 0; position < text.length;) {
        if ((unsigned char)text.data[position] < 0x80) {
            position++;
            continue;
        }
        kind = TEXT_STABLE;
        if (!is_stable_nfc(utf8_next(text, &position))) return TEXT_ANY;
    }
    return kind;
}

static void add_lower(StrView text, StrBuf *out) {
    for (size_t position = 0; position < text.length;) {
        unsigned char byte = (unsigned char)text.data[position];
        if (byte < 0x80) {
            strbuf_add_char(out, byte >= 'A' && byte <= 'Z' ? (char)(byte + 32) : (char)byte);
            position++;
        } else {
            utf8_add(out, utf8proc_tolower(utf8_next(text, &position)));
        }
    }
}

static void add_normal_form(StrView text, NormalForm form, StrBuf *out) {
    TextKind kind = text_kind(text);
    if (form == NORMALIZE_NONE || kind == TEXT_ASCII || (kind == TEXT_STABLE && form == NORMALIZE_NFC)) {
        strbuf_add(out, text);
        return;
    }
    utf8proc_option_t flags = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    if (form == NORMALIZE_NFKC) flags |= UTF8PROC_COMPAT;
    utf8proc_uint8_t *result = NULL;
    utf8proc_ssize_t length =
        utf8proc_map((const utf8proc_uint8_t *)text.data, (utf8proc_ssize_t)text.length, &result, flags);
    strbuf_add(out, length < 0 ? text : (StrView){(const char *)result, (size_t)length});
    free(result); /* allocated by utf8proc */
}

void normalize_text(StrView text, NormalForm form, bool lowercase, StrBuf *out) {
    if (!lowercase) {
        add_normal_form(text, form, out);
        return;
    }
    /* Small letters may compose where capitals do not (H + U+0331), and compatibility forms may hide
     * capitals: so normalise, lower, normalise. */
    StrBuf first = {0}, second = {0};
    add_normal_form(text, form, &first);
    add_lower(strbuf_view(&first), &second);
    add_normal_form(strbuf_view(&second), form, out);
    strbuf_free(&first);
    strbuf_free(&second);
}

CharClass normalize_class(int code_point) {
    if (code_point == ' ' || (code_point >= '\t' && code_point <= '\r')) return CHAR_SPACE;
    if (code_point == 0x85 || code_point == 0x2028 || code_point == 0x2029) return CHAR_SPACE;
    switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return CHAR_LETTER;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return CHAR_MARK;
    case UTF8PROC_CATEGORY_ND:
        return CHAR_DIGIT;
    default:
        return CHAR_OTHER;
    }
}

bool normalize_is_blank(int code_point) {
    return normalize_class(code_point) == CHAR_SPACE || utf8proc_category(code_point) == UTF8PROC_CATEGORY_ZS;
}

int normalize_width(int code_point) {
    int width = utf8proc_charwidth(code_point);
    return width < 0 ? 0 : width > 2 ? 2 : width;
}
