/* sentences.c - see sentences.h. One pass over the code points; each end mark is judged by the words around
 * it. */
#include "translate/sentences.h"

#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/punctuation.h"

/* Lower case. Abbreviations that often end a sentence (etc. Inc. a.m.) are not in the list. */
static const char *const ABBREVIATIONS[] = {"mr",
                                            "mrs",
                                            "ms",
                                            "dr",
                                            "prof",
                                            "st",
                                            "sr",
                                            "jr",
                                            "rev",
                                            "hon",
                                            "gen",
                                            "col",
                                            "capt",
                                            "lt",
                                            "sgt",
                                            "gov",
                                            "sen",
                                            "rep",
                                            "mt",
                                            "vs",
                                            "jan",
                                            "feb",
                                            "apr",
                                            "aug",
                                            "sep",
                                            "sept",
                                            "oct",
                                            "nov",
                                            "dec",
                                            "cf",
                                            "ca",
                                            "hr",
                                            "fr",
                                            "bzw",
                                            "vgl",
                                            "evtl",
                                            "ggf",
                                            "mme",
                                            "mlle",
                                            "sra",
                                            "srta",
                                            "dra",
                                            "ud",
                                            "uds",
                                            "sig",
                                            "dott",
                                            "\xD1\x83\xD0\xBB" /* ul */,
                                            "\xD0\xB8\xD0\xBC" /* im */};
static const char *const BEFORE_NUMBERS[] = {"no",  "nos", "nr",  "vol", "fig", "figs", "eq", "eqs",
                                             "sec", "pp",  "art", "ch",  "abb", "abs",  "bd", "p"};

static bool is_word(int c) { return unicode_class(c) == CHAR_LETTER || unicode_class(c) == CHAR_DIGIT; }

static bool has_upper(StrView text) {
    for (size_t position = 0; position < text.length;)
        if (unicode_is_upper(utf8_next(text, &position))) return true;
    return false;
}

static int peek(StrView text, size_t position) {
    return position < text.length ? utf8_next(text, &position) : -1;
}

static bool is_listed(StrView word, const char *const *list, size_t count) {
    StrBuf lower = {0};
    bool found = false;
    unicode_lower(word, &lower);
    for (size_t i = 0; i < count && !found; i++) found = sv_equal(strbuf_view(&lower), sv(list[i]));
    strbuf_free(&lower);
    return found;
}
#define IS_LISTED(word, list) is_listed(word, list, sizeof(list) / sizeof *(list))

/* Initials and similar words: parts of one or two letters between full stops, or a number of one or two
 * digits. */
static bool has_short_parts(StrView word) {
    int letters = 0, digits = 0, parts = 1;
    for (size_t position = 0; position < word.length;) {
        int c = utf8_next(word, &position);
        if (c == '.') {
            if (letters == 0) return false;
            letters = 0;
            parts++;
        } else if (unicode_class(c) == CHAR_LETTER) {
            letters++;
        } else if (unicode_class(c) == CHAR_DIGIT) {
            digits++;
        } else if (unicode_class(c) != CHAR_MARK) {
            return false;
        }
        if (letters > 2 || digits > 2) return false;
    }
    if (digits > 0) return letters == 0 && parts == 1;
    return parts > 1 || letters == 1;
}

/* Does a full stop belong to this word, the text between white space and the full stop? */
static bool is_abbreviation(StrView word, bool digit_follows) {
    enum { LONGEST = 24 };
    for (size_t position = 0; word.length > 0 && unicode_kind(peek(word, 0)) == UNICODE_PUNCTUATION;
         position = 0) { /* "(Mr" */
        utf8_next(word, &position);
        word = (StrView){word.data + position, word.length - position};
    }
    if (word.length == 0 || word.length > LONGEST) return false;
    return has_short_parts(word) || IS_LISTED(word, ABBREVIATIONS) ||
           (digit_follows && IS_LISTED(word, BEFORE_NUMBERS));
}

/* The same for full-width words, in their ASCII form. A word with other characters is no abbreviation: its
 * script has no spaces between words. */
static bool is_wide_abbreviation(StrView word, bool digit_follows) {
    enum { LONGEST = 64 };
    if (word.length > LONGEST) return false;
    StrBuf narrow = {0};
    bool all = true;
    for (size_t position = 0; position < word.length && all;) {
        int c = utf8_next(word, &position);
        if (c > 0xFF00 && c < 0xFF5F) c -= 0xFEE0;
        if (c < 0x80)
            strbuf_add_char(&narrow, (char)c);
        else
            all = false;
    }
    bool is = all && is_abbreviation(strbuf_view(&narrow), digit_follows);
    strbuf_free(&narrow);
    return is;
}

typedef struct {
    StrView text;
    bool cased;      /* the text has upper-case letters */
    size_t position; /* of the next character */
    size_t word;     /* beginning of the current word */
} Scan;

static size_t skip_spaces(StrView text, size_t position) {
    for (size_t next = position; next < text.length; position = next)
        if (!unicode_is_space(utf8_next(text, &next))) break;
    return position;
}

/* The first letter or digit at or after `position`, if at most a few quotes, dashes and similar characters
 * stand before it; else -1. */
static int first_of_word(StrView text, size_t position) {
    enum { MAX_SKIPPED = 8 };
    for (int i = 0; i < MAX_SKIPPED && position < text.length; i++) {
        int c = utf8_next(text, &position);
        if (is_word(c)) return c;
    }
    return -1;
}

/* The position after closing quotes and brackets; French puts a space before its closing quotes. */
static size_t skip_closing(StrView text, size_t position, bool wide) {
    for (size_t next = position; next < text.length; position = next)
        if (!punctuation_is_closing(utf8_next(text, &next), wide)) break;
    size_t after = skip_spaces(text, position);
    int c = peek(text, after);
    if (after > position && (c == 0xBB || c == 0x203A)) {
        utf8_next(text, &after);
        int next = peek(text, after);
        if (next < 0 || unicode_is_space(next)) return after;
    }
    return position;
}

/* Does Hiragana follow a Japanese quotation mark that ends at `at`?
 * Then a particle continues the sentence. */
static bool is_kana_after_quote(StrView text, size_t at) {
    size_t before = utf8_before(text, at);
    int quote = utf8_next(text, &before), c = peek(text, at);
    return (quote == 0x300D || quote == 0x300F || quote == 0xFF63) && c >= 0x3041 && c <= 0x309F;
}

/* At an end mark that begins at `start`: moves past the mark, further marks and closing quotes. Does the
 * sentence end there? */
static bool scan_end(Scan *scan, size_t start, Punctuation kind) {
    StrView text = scan->text, word = {text.data + scan->word, start - scan->word};
    int marks = 1;
    for (size_t next = scan->position; next < text.length; scan->position = next, marks++) {
        Punctuation more = punctuation_of(utf8_next(text, &next));
        if (more < PUNCTUATION_STOP) break;
        if (more > kind) kind = more;
    }
    if (kind == PUNCTUATION_STOP && marks > 1) kind = PUNCTUATION_ELLIPSIS;
    size_t closed = skip_closing(text, scan->position, kind >= PUNCTUATION_WIDE_STOP);
    bool in_quotes = closed > scan->position;
    scan->position = closed;
    size_t begin = skip_spaces(text, closed);
    if (begin == text.length) return false; /* the last sentence ends with the text */
    bool digit = unicode_class(peek(text, begin)) == CHAR_DIGIT;
    if (peek(text, start) == 0xFF0E && marks == 1 && !in_quotes && is_wide_abbreviation(word, digit))
        return false;
    if (begin == closed && is_kana_after_quote(text, closed)) return false;
    if (begin == closed) return kind == PUNCTUATION_WIDE_STOP || (kind == PUNCTUATION_WIDE_END && !in_quotes);
    int first = first_of_word(text, begin);
    if (unicode_is_lower(first) && scan->cased) return false;
    if (kind == PUNCTUATION_ELLIPSIS) return scan->cased;
    return kind != PUNCTUATION_STOP || in_quotes || !is_abbreviation(word, digit);
}

/* The end of a Japanese quotation that begins before `at`, if Hiragana follows it; 0: it is none, or long. */
static size_t end_of_quotation(StrView text, size_t at) {
    enum { LONGEST = 600 }; /* bytes */
    size_t start = at;
    for (int depth = 1; at < text.length && at - start < LONGEST;) {
        int c = utf8_next(text, &at);
        depth += c == 0x300C || c == 0x300E || c == 0xFF62;
        depth -= c == 0x300D || c == 0x300F || c == 0xFF63;
        if (depth == 0) return is_kana_after_quote(text, at) ? at : 0;
    }
    return 0;
}

static void add_sentence(StrView text, size_t start, size_t end, TextList *sentences) {
    start = skip_spaces(text, start);
    if (start >= end) return;
    StrView sentence = unicode_trim_end((StrView){text.data + start, end - start});
    if (unicode_is_blank(sentence)) return;
    text_list_add(sentences, sentence);
}

/* The sentences of a text without line ends, or of a wrapped text. */
static void split_part(StrView text, bool cased, TextList *sentences) {
    Scan scan = {.text = text, .cased = cased};
    size_t begin = 0; /* of the current sentence */
    int before = -1;
    bool words = false; /* the current sentence has a letter or digit */
    while (scan.position < text.length) {
        size_t start = scan.position, quotation = 0;
        int c = utf8_next(text, &scan.position);
        if (c == 0x300C || c == 0x300E || c == 0xFF62) quotation = end_of_quotation(text, scan.position);
        if (quotation > 0) scan.position = quotation;
        bool in_number = punctuation_is_in_number(before, c, peek(text, scan.position));
        Punctuation kind = in_number ? PUNCTUATION_NONE : punctuation_of(c);
        bool cut = kind >= PUNCTUATION_STOP && scan_end(&scan, start, kind) && words;
        if (cut) {
            add_sentence(text, begin, scan.position, sentences);
            begin = scan.position;
            words = false;
        }
        words = words || is_word(c) || quotation > 0;
        if (unicode_is_space(c) || cut) scan.word = scan.position;
        before = c;
    }
    add_sentence(text, begin, text.length, sentences);
}

/* Does a line end at this character, and a sentence, whatever stands around it? */
static bool is_separator(int c, bool wrapped) {
    return c == '\f' || c == '\v' || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029 ||
           (!wrapped && (c == '\n' || c == '\r'));
}

/* Cuts the next line off `rest`; false if nothing is left. */
static bool next_line(StrView *rest, bool wrapped, StrView *line) {
    size_t end = 0, next = 0;
    if (rest->length == 0) return false;
    while (next < rest->length) {
        end = next;
        if (is_separator(utf8_next(*rest, &next), wrapped)) break;
        end = next;
    }
    *line = (StrView){rest->data, end};
    *rest = (StrView){rest->data + next, rest->length - next};
    return true;
}

void split_whole(StrView text, TextList *sentences) { add_sentence(text, 0, text.length, sentences); }

void split_lines(StrView text, bool wrapped, TextList *lines) {
    for (StrView line; next_line(&text, wrapped, &line);) add_sentence(line, 0, line.length, lines);
}

void split_sentences(StrView text, bool wrapped, TextList *sentences) {
    bool cased = has_upper(text);
    for (StrView line; next_line(&text, wrapped, &line);) split_part(line, cased, sentences);
}
