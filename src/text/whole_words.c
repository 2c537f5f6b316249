/* whole_words.c - finds words by the classes of their characters. */
#include "text/whole_words.h"

#include <string.h>
#include "base/utf8.h"

void text_normalize_words(StrView text, NormalForm form, bool lowercase, StrBuf *out) {
    StrBuf repaired = {0}, normal = {0};
    size_t before = out->length;
    bool space = false;
    utf8_repair(text, &repaired);
    unicode_normalize(strbuf_view(&repaired), form, lowercase, &normal);
    StrView rest = strbuf_view(&normal);
    for (size_t at = 0, end = 0; at < rest.length; at = end) {
        bool is_space = unicode_class(utf8_next(rest, &end)) == CHAR_SPACE;
        if (!is_space && space && out->length > before) strbuf_add_char(out, ' ');
        if (!is_space) strbuf_add(out, (StrView){rest.data + at, end - at});
        space = is_space;
    }
    strbuf_free(&repaired);
    strbuf_free(&normal);
}

/* Thai to Myanmar, Khmer, Chinese and Japanese, their wide and narrow forms. */
bool text_is_unspaced(int c) {
    static const int ranges[][2] = {{0x0E00, 0x109F}, {0x1780, 0x17FF}, {0x2E80, 0xA4CF},
                                    {0xF900, 0xFAFF}, {0xFF01, 0xFF9F}, {0x20000, 0x3FFFF}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1]) return true;
    return false;
}

static bool is_word_character(int c) {
    CharClass class = unicode_class(c);
    return (class == CHAR_LETTER || class == CHAR_MARK || class == CHAR_DIGIT) && !text_is_unspaced(c);
}

/* Is there no word that continues across `at`? */
static bool is_word_edge(StrView text, size_t at) {
    if (at == 0 || at == text.length) return true;
    size_t before = utf8_before(text, at), after = at;
    return !is_word_character(utf8_next(text, &before)) || !is_word_character(utf8_next(text, &after));
}

bool text_is_whole_words(StrView text, size_t at, size_t length) {
    return is_word_edge(text, at) && is_word_edge(text, at + length);
}

size_t text_match_words(StrView text, size_t at, StrView words) {
    StrView rest = {text.data + at, text.length - at};
    return sv_starts(rest, words) && text_is_whole_words(text, at, words.length) ? words.length : 0;
}

bool text_contains_words(StrView text, StrView words) {
    for (size_t at = 0; at < text.length; at++)
        if (text_match_words(text, at, words) > 0) return true;
    return false;
}

/* The word that begins at text.data[at], a character of words; empty if none does. */
static StrView word_at(StrView text, size_t at) {
    size_t end = at;
    for (size_t next = at; is_word_edge(text, at) && next < text.length; end = next)
        if (!is_word_character(utf8_next(text, &next))) break;
    return (StrView){text.data + at, end - at};
}

static int count_from(StrView text, size_t at) {
    int count = 0;
    for (; at < text.length; count++) utf8_next(text, &at);
    return count;
}

static bool is_form(StrView a, StrView b) {
    enum { MIN_ALIKE = 3, MAX_ENDING = 3 };
    int alike = 0;
    size_t at = 0;
    for (size_t i = 0, j = 0; i < a.length && j < b.length; alike++) {
        if (utf8_next(a, &i) != utf8_next(b, &j)) break;
        at = i;
    }
    int rest_a = count_from(a, at), rest_b = count_from(b, at), longer = rest_a > rest_b ? rest_a : rest_b;
    if (longer == 0) return alike > 0;
    return alike >= MIN_ALIKE && longer <= MAX_ENDING && longer <= alike;
}

size_t text_match_word_forms(StrView text, size_t at, StrView words) {
    size_t here = at;
    for (size_t w = 0; w < words.length;) {
        StrView phrase_word = word_at(words, w);
        if (phrase_word.length == 0) { /* a sign */
            if (here >= text.length || utf8_next(text, &here) != utf8_next(words, &w)) return 0;
            continue;
        }
        StrView word = here < text.length ? word_at(text, here) : (StrView){0};
        if (word.length == 0 || !is_form(word, phrase_word)) return 0;
        here += word.length;
        w += phrase_word.length;
    }
    return here - at;
}

bool text_contains_word_forms(StrView text, StrView words) {
    for (size_t at = 0; at < text.length; utf8_next(text, &at))
        if (text_match_word_forms(text, at, words) > 0) return true;
    return false;
}
