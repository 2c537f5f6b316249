/* unicode.c - properties from utf8proc; white space and lower case by Python's rules. */
#include "base/unicode.h"

#include <assert.h>
#include <utf8proc.h>
#include "base/mem.h"
#include "base/utf8.h"

#define CAPITAL_SIGMA    0x3A3
#define SMALL_SIGMA      0x3C3
#define FINAL_SIGMA      0x3C2
#define CAPITAL_I_DOT    0x130
#define SHARP_S          0xDF
#define CAPITAL_SHARP_S  0x1E9E
#define COMBINING_DOT    0x307
#define ZERO_WIDTH_SPACE 0x200B
#define BYTE_ORDER_MARK  0xFEFF
#define ARRAY_LENGTH(a_) (sizeof(a_) / sizeof *(a_))

typedef struct {
    int first, last;
} Range;

typedef struct {
    Range range;
    UnicodeKind kind;
} KindRange;

/* Characters that came with Unicode 15.1, 16.0 and 17.0, for a utf8proc that does not know them yet. */
static const KindRange NEWER[] = {
    {{0x1B4E, 0x1B4F}, UNICODE_PUNCTUATION},   {{0x1B7F, 0x1B7F}, UNICODE_PUNCTUATION},
    {{0x20C1, 0x20C1}, UNICODE_SYMBOL},        {{0x2427, 0x2429}, UNICODE_SYMBOL},
    {{0x2B96, 0x2B96}, UNICODE_SYMBOL},        {{0x2FFC, 0x2FFF}, UNICODE_SYMBOL},
    {{0x31E4, 0x31E5}, UNICODE_SYMBOL},        {{0x31EF, 0x31EF}, UNICODE_SYMBOL},
    {{0xFBC3, 0xFBD2}, UNICODE_SYMBOL},        {{0xFD90, 0xFD91}, UNICODE_SYMBOL},
    {{0xFDC8, 0xFDCE}, UNICODE_SYMBOL},        {{0x10D40, 0x10D49}, UNICODE_NUMBER},
    {{0x10D6E, 0x10D6E}, UNICODE_PUNCTUATION}, {{0x10D8E, 0x10D8F}, UNICODE_SYMBOL},
    {{0x10ED0, 0x10ED0}, UNICODE_PUNCTUATION}, {{0x10ED1, 0x10ED8}, UNICODE_SYMBOL},
    {{0x113D4, 0x113D5}, UNICODE_PUNCTUATION}, {{0x113D7, 0x113D8}, UNICODE_PUNCTUATION},
    {{0x116D0, 0x116E3}, UNICODE_NUMBER},      {{0x11BE1, 0x11BE1}, UNICODE_PUNCTUATION},
    {{0x11BF0, 0x11BF9}, UNICODE_NUMBER},      {{0x11DE0, 0x11DE9}, UNICODE_NUMBER},
    {{0x16130, 0x16139}, UNICODE_NUMBER},      {{0x16D6D, 0x16D6F}, UNICODE_PUNCTUATION},
    {{0x16D70, 0x16D79}, UNICODE_NUMBER},      {{0x16FF4, 0x16FF6}, UNICODE_NUMBER},
    {{0x1CC00, 0x1CCEF}, UNICODE_SYMBOL},      {{0x1CCF0, 0x1CCF9}, UNICODE_NUMBER},
    {{0x1CCFA, 0x1CCFC}, UNICODE_SYMBOL},      {{0x1CD00, 0x1CEB3}, UNICODE_SYMBOL},
    {{0x1CEBA, 0x1CED0}, UNICODE_SYMBOL},      {{0x1CEE0, 0x1CEF0}, UNICODE_SYMBOL},
    {{0x1E5F1, 0x1E5FA}, UNICODE_NUMBER},      {{0x1E5FF, 0x1E5FF}, UNICODE_PUNCTUATION},
    {{0x1F6D8, 0x1F6D8}, UNICODE_SYMBOL},      {{0x1F777, 0x1F77A}, UNICODE_SYMBOL},
    {{0x1F8B2, 0x1F8BB}, UNICODE_SYMBOL},      {{0x1F8C0, 0x1F8C1}, UNICODE_SYMBOL},
    {{0x1F8D0, 0x1F8D8}, UNICODE_SYMBOL},      {{0x1FA54, 0x1FA57}, UNICODE_SYMBOL},
    {{0x1FA89, 0x1FA8A}, UNICODE_SYMBOL},      {{0x1FA8E, 0x1FA8F}, UNICODE_SYMBOL},
    {{0x1FABE, 0x1FABE}, UNICODE_SYMBOL},      {{0x1FAC6, 0x1FAC6}, UNICODE_SYMBOL},
    {{0x1FAC8, 0x1FAC8}, UNICODE_SYMBOL},      {{0x1FACD, 0x1FACD}, UNICODE_SYMBOL},
    {{0x1FADC, 0x1FADC}, UNICODE_SYMBOL},      {{0x1FADF, 0x1FADF}, UNICODE_SYMBOL},
    {{0x1FAE9, 0x1FAEA}, UNICODE_SYMBOL},      {{0x1FAEF, 0x1FAEF}, UNICODE_SYMBOL},
    {{0x1FBCB, 0x1FBEF}, UNICODE_SYMBOL},      {{0x1FBFA, 0x1FBFA}, UNICODE_SYMBOL},
};

/* Cased characters that are no letters: ordinal indicators, Roman numerals, circled and squared letters. */
static const Range CASED[] = {{0xAA, 0xAA},       {0xBA, 0xBA},       {0x2160, 0x217F},  {0x24B6, 0x24E9},
                              {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};

/* Case-ignorable punctuation inside a word: apostrophes, stops, colons, middle dots. */
static const int CASE_IGNORABLE[] = {0xB7,   0x387,  0x55F,  0x5F4,  0x2018, 0x2019, 0x2024,
                                     0x2027, 0xFE13, 0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};

bool unicode_is_control(int code_point) {
    return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
}

CharClass unicode_class(int code_point) {
    if (code_point == ' ' || (code_point >= '\t' && code_point <= '\r')) return CHAR_SPACE;
    if (code_point < 0x80) { /* the most frequent characters, without the tables */
        int small = code_point | 0x20;
        if (small >= 'a' && small <= 'z') return CHAR_LETTER;
        return code_point >= '0' && code_point <= '9' ? CHAR_DIGIT : CHAR_OTHER;
    }
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

UnicodeKind unicode_kind(int code_point) {
    switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
        return UNICODE_PUNCTUATION;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return UNICODE_NUMBER;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
        return UNICODE_SYMBOL;
    case UTF8PROC_CATEGORY_CN:
        break;
    default:
        return UNICODE_OTHER;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(NEWER); i++)
        if (code_point >= NEWER[i].range.first && code_point <= NEWER[i].range.last) return NEWER[i].kind;
    return UNICODE_OTHER;
}

bool unicode_is_space(int c) {
    if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
           c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool unicode_is_upper(int c) {
    return utf8proc_category(c) == UTF8PROC_CATEGORY_LU || utf8proc_category(c) == UTF8PROC_CATEGORY_LT;
}

bool unicode_is_lower(int c) { return utf8proc_category(c) == UTF8PROC_CATEGORY_LL; }

bool unicode_is_right_to_left(int c) {
    int class = utf8proc_get_property(c)->bidi_class;
    return class == UTF8PROC_BIDI_CLASS_R || class == UTF8PROC_BIDI_CLASS_AL;
}

bool unicode_is_ignorable(int c) { return utf8proc_get_property(c)->ignorable; }

/* The tails of Korean syllables and the skin colours of emoji join what stands before them. */
int unicode_width(int c) {
    if ((c >= 0x1160 && c <= 0x11FF) || (c >= 0xD7B0 && c <= 0xD7FB) || (c >= 0x1F3FB && c <= 0x1F3FF))
        return 0;
    return utf8proc_charwidth(c);
}

bool unicode_is_blank(StrView text) {
    for (size_t position = 0; position < text.length;) {
        int c = utf8_next(text, &position);
        if (!unicode_is_space(c) && c != ZERO_WIDTH_SPACE && c != BYTE_ORDER_MARK) return false;
    }
    return true;
}

StrView unicode_trim_end(StrView text) {
    while (text.length > 0) {
        size_t start = utf8_before(text, text.length), position = start;
        if (!unicode_is_space(utf8_next(text, &position)) || position != text.length) break;
        text.length = start;
    }
    return text;
}

bool unicode_next_word(StrView *rest, StrView *word) {
    size_t position = 0, start = 0;
    bool inside = false;
    while (position < rest->length) {
        size_t here = position;
        bool space = unicode_is_space(utf8_next(*rest, &position));
        if (space && inside) {
            *word = (StrView){rest->data + start, here - start};
            *rest = (StrView){rest->data + position, rest->length - position};
            return true;
        }
        if (!space && !inside) inside = true, start = here;
    }
    if (inside) *word = (StrView){rest->data + start, rest->length - start};
    *rest = (StrView){rest->data, 0};
    return inside;
}

/* Case-ignorable characters do not separate a letter from a sigma. */
static bool is_case_ignorable(int code_point) {
    if (code_point < 0x80)
        return code_point == '\'' || code_point == '.' || code_point == ':' || code_point == '^' ||
               code_point == '`';
    switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
        return true;
    default:
        break;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(CASE_IGNORABLE); i++)
        if (CASE_IGNORABLE[i] == code_point) return true;
    return false;
}

static bool is_cased(int code_point) {
    if (code_point < 0x80)
        return (code_point >= 'a' && code_point <= 'z') || (code_point >= 'A' && code_point <= 'Z');
    switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
        return true;
    default:
        break;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(CASED); i++)
        if (code_point >= CASED[i].first && code_point <= CASED[i].last) return true;
    return false;
}

/* Does the first character at or after `position` that is not case-ignorable have case? */
static bool is_followed_by_cased(StrView text, size_t position) {
    while (position < text.length) {
        int code_point = utf8_next(text, &position);
        if (!is_case_ignorable(code_point)) return is_cased(code_point);
    }
    return false;
}

void unicode_lower(StrView text, StrBuf *out) {
    size_t position = 0;
    bool after_cased = false; /* has the last character that is not case-ignorable case? */
    while (position < text.length) {
        int c = utf8_next(text, &position);
        if (c == CAPITAL_SIGMA) {
            bool final = after_cased && !is_followed_by_cased(text, position);
            utf8_add(out, final ? FINAL_SIGMA : SMALL_SIGMA);
        } else if (c == CAPITAL_I_DOT) {
            utf8_add(out, 'i');
            utf8_add(out, COMBINING_DOT);
        } else if (c < 0x80) {
            strbuf_add_char(out, (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c));
        } else {
            utf8_add(out, (int)utf8proc_tolower(c));
        }
        if (!is_case_ignorable(c)) after_cased = is_cased(c);
    }
}

void unicode_upper(StrView text, StrBuf *out) {
    for (size_t position = 0; position < text.length;) {
        int c = utf8_next(text, &position);
        utf8_add(out, c == SHARP_S ? CAPITAL_SHARP_S : (int)utf8proc_toupper(c));
    }
}

/* ---- normal forms ---- */

/* Code points that NFC neither composes, decomposes nor reorders: nearly all text in European languages.
 * tests/unit/base/unicode.c proves both ranges. */
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
    const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)text.data;
    utf8proc_ssize_t size = (utf8proc_ssize_t)text.length;
    utf8proc_ssize_t length = utf8proc_decompose(bytes, size, NULL, 0, flags); /* characters, then bytes */
    assert(length >= 0); /* of valid UTF-8 that is in memory */
    utf8proc_int32_t *result = mem_alloc((size_t)length + 1, sizeof *result);
    length = utf8proc_decompose(bytes, size, result, length, flags);
    length = utf8proc_reencode(result, length, flags);
    strbuf_add(out, (StrView){(const char *)result, (size_t)length});
    mem_free(result);
}

void unicode_normalize(StrView text, NormalForm form, bool lowercase, StrBuf *out) {
    if (!lowercase) {
        add_normal_form(text, form, out);
        return;
    }
    /* Small letters may compose where capitals do not (H + U+0331), and compatibility forms may hide
     * capitals: so normalize, lower, normalize. */
    StrBuf first = {0}, second = {0};
    add_normal_form(text, form, &first);
    add_lower(strbuf_view(&first), &second);
    add_normal_form(strbuf_view(&second), form, out);
    strbuf_free(&first);
    strbuf_free(&second);
}
