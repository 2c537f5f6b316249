/* bleu_tokenizers.c - the rules of mteval. Each rule is one pass over the line. The rules of 13a work on
 * bytes: all their operands are ASCII, so the result is the same as on characters. */
#include "bleu/bleu_tokenizers.h"

#include <string.h>
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/languages.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_stop(char c) { return c == '.' || c == ','; }

/* ASCII punctuation except ' - . and , and also the space. */
static bool is_separated(char c) {
    return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
           (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/* Appends the text with all replacements, from left to right; the result is not scanned again. */
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
        if (is_separated(text.data[i]))
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

/* A full stop or comma before anything but a digit. The next character is consumed too. */
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

static void trim(StrView text, StrBuf *out) {
    StrView rest = text, word;
    if (!unicode_next_word(&rest, &word)) return;
    size_t before = (size_t)(word.data - text.data);
    strbuf_add(out, unicode_trim_end((StrView){word.data, text.length - before}));
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

/* (not a number)(punctuation) -> \1 \2 with spaces around the second. A matching pair is consumed. */
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

typedef struct {
    int first, last;
} Range;

static bool is_in(int code_point, const Range *ranges, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (code_point >= ranges[i].first && code_point <= ranges[i].last) return true;
    return false;
}

/* Ideographs, their parts and punctuation, full-width forms, pictographs. The range from U+2001 on, most
 * of it not Chinese, and the missing extensions beyond U+FFFF are those of the reference program. */
static const Range CHINESE[] = {{0x2001, 0x2A6D}, {0x2E80, 0x303F}, {0x3100, 0x312F}, {0x31A0, 0x31BF},
                                {0x31C0, 0x31EF}, {0x3200, 0x33FF}, {0x3400, 0x4DB5}, {0x4E00, 0x9FBB},
                                {0xF900, 0xFA2D}, {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F},
                                {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF}};

/* Characters that tercom separates: ideographs, also in circles or squares. */
static const Range IDEOGRAPHS[] = {{0x2E80, 0x2EFF}, {0x31C0, 0x31EF}, {0x3200, 0x3F22}, {0x3400, 0x4DBF},
                                   {0x4E00, 0x9FFF}, {0xF900, 0xFAFF}, {0xFE30, 0xFE4F}};

static const Range ASIAN_PUNCTUATION[] = {{0x3001, 0x3002}, {0x3008, 0x3011}, {0x3014, 0x301F},
                                          {0x30FB, 0x30FB}, {0xFF01, 0xFF02}, {0xFF08, 0xFF09},
                                          {0xFF0C, 0xFF0C}, {0xFF0E, 0xFF0E}, {0xFF1A, 0xFF1B},
                                          {0xFF1F, 0xFF1F}, {0xFF61, 0xFF65}};

/* Puts spaces around the characters in the ranges, or drops the characters. */
static void separate(StrView text, const Range *ranges, size_t count, bool drop, StrBuf *out) {
    for (size_t position = 0; position < text.length;) {
        size_t start = position;
        bool inside = is_in(utf8_next(text, &position), ranges, count);
        if (inside && drop) continue;
        if (inside) strbuf_add_char(out, ' ');
        strbuf_add(out, (StrView){text.data + start, position - start});
        if (inside) strbuf_add_char(out, ' ');
    }
}

#define RANGES(ranges_) (ranges_), sizeof(ranges_) / sizeof *(ranges_)

static void split_chinese(StrView text, StrBuf *out) { separate(text, RANGES(CHINESE), false, out); }
static void split_ideographs(StrView text, StrBuf *out) { separate(text, RANGES(IDEOGRAPHS), false, out); }
static void split_asian(StrView text, StrBuf *out) { separate(text, RANGES(ASIAN_PUNCTUATION), false, out); }
static void drop_asian(StrView text, StrBuf *out) { separate(text, RANGES(ASIAN_PUNCTUATION), true, out); }

static void split_possessive(StrView text, StrBuf *out) { replace_all(text, SV("'s "), SV(" 's "), out); }

static void drop_punctuation(StrView text, StrBuf *out) {
    for (size_t i = 0; i < text.length; i++)
        if (!text.data[i] || !strchr(".,?:;!\"()", text.data[i])) strbuf_add_char(out, text.data[i]);
}

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

static void tokenize_zh(StrView line, StrBuf *out) {
    static const Rule ZH[] = {trim,
                              split_chinese,
                              split_punctuation,
                              split_stop_after_non_digit,
                              split_stop_before_non_digit,
                              split_hyphen_after_digit,
                              join_words};
    strbuf_clear(out);
    strbuf_add(out, line);
    APPLY(ZH, out);
}

void tokenize_tercom(StrView line, bool normalized, bool no_punct, bool asian, StrBuf *out) {
    static const Rule NORMALIZE[] = {pad,
                                     decode_quote,
                                     decode_ampersand,
                                     decode_less,
                                     decode_greater,
                                     split_punctuation,
                                     split_possessive,
                                     split_stop_after_non_digit,
                                     split_stop_before_non_digit,
                                     split_hyphen_after_digit};
    static const Rule SPLIT_ASIAN[] = {split_ideographs, split_asian};
    static const Rule DROP[] = {drop_punctuation}, DROP_ASIAN[] = {drop_asian}, JOIN[] = {join_words};
    strbuf_clear(out);
    strbuf_add(out, line);
    if (normalized) APPLY(NORMALIZE, out);
    if (normalized && asian) APPLY(SPLIT_ASIAN, out);
    if (no_punct) APPLY(DROP, out);
    if (no_punct && asian) APPLY(DROP_ASIAN, out);
    APPLY(JOIN, out);
}

#define BLEU_TOKENIZER_ROW(name_, function_) {name_, function_},
const BleuTokenizer BLEU_TOKENIZERS[] = {BLEU_TOKENIZER_TABLE(BLEU_TOKENIZER_ROW, ){NULL, NULL}};

StrView bleu_tokenizer_name(int tokenizer) {
    StrView names = sv(BLEU_TOKENIZER_CHOICES "|" BLEU_PIECES_CHOICES), name = {"", 0};
    for (int i = 0; i <= tokenizer; i++) sv_next(&names, '|', &name);
    return name;
}

int bleu_tokenizer_for(StrView language) {
    static const char *const WITHOUT_SPACES[][2] = {
        {"zh", "zh"},   {"yue", "zh"},  {"wuu", "zh"},  {"lzh", "zh"},  {"ja", "char"}, {"th", "char"},
        {"lo", "char"}, {"km", "char"}, {"my", "char"}, {"bo", "char"}, {"dz", "char"}};
    StrView code = language_code(language);
    const char *name = BLEU_TOKENIZERS[0].name;
    int tokenizer = 0;
    for (size_t i = 0; i < sizeof WITHOUT_SPACES / sizeof *WITHOUT_SPACES; i++)
        if (sv_equal(code, sv(WITHOUT_SPACES[i][0]))) name = WITHOUT_SPACES[i][1];
    while (strcmp(BLEU_TOKENIZERS[tokenizer].name, name) != 0) tokenizer++;
    return tokenizer;
}
