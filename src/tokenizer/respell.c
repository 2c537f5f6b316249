/* respell.c - see respell.h. */
#include "tokenizer/respell.h"

#include <string.h>
#include "base/unicode.h"
#include "base/utf8.h"

/* The plain form of a typographic character; empty: there is none. */
static StrView plain_form(int c) {
    switch (c) {
    case 0x2018:
    case 0x2019:
    case 0x201A:
    case 0x201B:
    case 0x2039:
    case 0x203A:
        return SV("'");
    case 0x201C:
    case 0x201D:
    case 0x201E:
    case 0x201F:
    case 0xAB:
    case 0xBB:
        return SV("\"");
    case 0x2010:
    case 0x2011:
    case 0x2012:
    case 0x2013:
    case 0x2014:
    case 0x2015:
    case 0x2212:
        return SV("-");
    case 0x2026:
        return SV("...");
    default:
        return SV("");
    }
}

/* ---- what the vocabulary knows ---- */

typedef struct {
    int tokens, unknown;
} Cost;

static Cost cost_of(Tokenizer *tokenizer, StrView text) {
    IdList ids = {0};
    tokenizer_encode(tokenizer, text, &ids);
    Cost cost = {.tokens = (int)ids.count};
    for (size_t i = 0; i < ids.count; i++) cost.unknown += ids.ids[i] == VOCAB_UNK;
    id_list_free(&ids);
    return cost;
}

static bool knows(Tokenizer *tokenizer, StrView text) { return cost_of(tokenizer, text).unknown == 0; }

/* ---- the three ways to respell a word ---- */

typedef enum { RESPELL_IGNORABLE, RESPELL_TYPOGRAPHIC, RESPELL_CAPITALS, RESPELL_WAYS } Way;

static bool is_symbol(StrView text, size_t at) {
    return at < text.length && unicode_kind(utf8_next(text, &at)) == UNICODE_SYMBOL;
}

/* Is the nearest character on either side, without ignorable ones, a symbol? */
static bool is_beside_symbol(StrView word, size_t start, size_t end) {
    while (end < word.length) {
        size_t next = end;
        if (!unicode_is_ignorable(utf8_next(word, &next))) break;
        end = next;
    }
    if (is_symbol(word, end)) return true;
    while (start > 0) {
        size_t before = start = utf8_before(word, start);
        if (!unicode_is_ignorable(utf8_next(word, &before))) return is_symbol(word, start);
    }
    return false;
}

/* Appends the character word[start..end) in another way; false if this way does not concern it. */
static bool add_respelled(StrView word, size_t start, size_t end, Way way, StrBuf *out) {
    StrView character = {word.data + start, end - start}, plain;
    size_t position = start;
    int c = utf8_next(word, &position);
    switch (way) {
    case RESPELL_IGNORABLE:
        return unicode_is_ignorable(c) && !is_beside_symbol(word, start, end);
    case RESPELL_TYPOGRAPHIC:
        plain = plain_form(c);
        strbuf_add(out, plain);
        return plain.length > 0;
    default:
        if (unicode_is_upper(c)) unicode_lower(character, out);
        return unicode_is_upper(c);
    }
}

/* Appends the word with all characters changed that the way concerns; of a vocabulary of subwords only those
 * that it does not know, by others that it knows. */
static void respell_word(Tokenizer *tokenizer, StrView word, Way way, StrBuf *out) {
    bool subwords = tokenizer_has_subwords(tokenizer);
    for (size_t start = 0, end = 0; start < word.length; start = end) {
        utf8_next(word, &end);
        StrView character = {word.data + start, end - start};
        size_t before = out->length;
        bool change = add_respelled(word, start, end, way, out);
        if (change && subwords) {
            StrView added = {strbuf_text(out) + before, out->length - before};
            change = !knows(tokenizer, character) && knows(tokenizer, added);
        }
        if (change) continue;
        strbuf_cut(out, before);
        strbuf_add(out, character);
    }
}

static void add_word(Tokenizer *tokenizer, StrView word, StrBuf *out) {
    StrBuf now = {0}, other = {0};
    int unknown = cost_of(tokenizer, word).unknown;
    strbuf_add(&now, word);
    for (Way way = 0; way < RESPELL_WAYS && unknown > 0; way++) {
        strbuf_clear(&other);
        respell_word(tokenizer, strbuf_view(&now), way, &other);
        int unknown_after = cost_of(tokenizer, strbuf_view(&other)).unknown;
        if (unknown_after >= unknown) continue;
        unknown = unknown_after;
        strbuf_clear(&now);
        strbuf_add(&now, strbuf_view(&other));
    }
    strbuf_add(out, strbuf_view(&now));
    strbuf_free(&now);
    strbuf_free(&other);
}

void text_respell(Tokenizer *tokenizer, StrView text, StrBuf *out) {
    for (size_t start = 0, end = 0, at = 0; at < text.length || start < end; start = end = at) {
        int c = -1;
        while (at < text.length) { /* end: of the word; at: after the space that follows it */
            end = at;
            c = utf8_next(text, &at);
            if (unicode_is_space(c)) break;
            end = at;
        }
        if (end > start) add_word(tokenizer, (StrView){text.data + start, end - start}, out);
        StrView space = {text.data + end, at - end};
        if (space.length > 1 && !knows(tokenizer, space)) space = SV(" ");
        strbuf_add(out, space);
    }
}

/* ---- no-break spaces ---- */

static bool is_no_break(int c) { return c == 0xA0 || c == 0x2007 || c == 0x202F; }

/* Appends the text with spaces for no-break ones between letters; returns their number. */
static int add_plain_spaces(StrView text, StrBuf *out) {
    int count = 0, before = -1;
    for (size_t start = 0, end = 0; start < text.length; start = end) {
        int c = utf8_next(text, &end);
        size_t next = end;
        bool part = is_no_break(c) && unicode_class(before) == CHAR_LETTER && end < text.length &&
                    unicode_class(utf8_next(text, &next)) == CHAR_LETTER;
        strbuf_add(out, part ? SV(" ") : (StrView){text.data + start, end - start});
        count += part;
        before = c;
    }
    return count;
}

bool text_replace_no_break_spaces(Tokenizer *tokenizer, StrView text, StrBuf *out) {
    size_t start = out->length;
    bool spaces =
        memmem(text.data, text.length, "\xC2\xA0", 2) || memmem(text.data, text.length, "\xE2\x80", 2);
    if (!spaces) return false;
    bool any = add_plain_spaces(text, out) > 0;
    StrView spaced = {out->data + start, out->length - start};
    if (any && cost_of(tokenizer, spaced).tokens < cost_of(tokenizer, text).tokens) return true;
    strbuf_cut(out, start);
    return false;
}

/* ---- capitals ---- */

/* At least two capitals, and no small letter. */
static bool is_in_capitals(StrView text) {
    int capitals = 0;
    for (size_t position = 0; position < text.length;) {
        int c = utf8_next(text, &position);
        if (unicode_is_lower(c)) return false;
        capitals += unicode_is_upper(c);
    }
    return capitals >= 2;
}

static size_t after_first_capital(StrView text) {
    size_t position = 0;
    while (position < text.length)
        if (unicode_is_upper(utf8_next(text, &position))) return position;
    return 0;
}

void text_set_case(StrView part, LetterCase *letters, StrBuf *out) {
    size_t first = *letters == CASE_AS_IS ? part.length : 0;
    if (*letters == CASE_SENTENCE && (first = after_first_capital(part)) > 0) *letters = CASE_SMALL;
    strbuf_add(out, (StrView){part.data, first});
    unicode_lower((StrView){part.data + first, part.length - first}, out);
}

/* The tokens of the text in this case; one that is unknown counts as three. */
static int weigh(Tokenizer *tokenizer, StrView text, LetterCase letters) {
    StrBuf other = {0};
    text_set_case(text, &letters, &other);
    Cost cost = cost_of(tokenizer, strbuf_view(&other));
    strbuf_free(&other);
    return cost.tokens + 2 * cost.unknown;
}

LetterCase text_choose_case(Tokenizer *tokenizer, StrView text) {
    if (!is_in_capitals(text)) return CASE_AS_IS;
    int capitals = weigh(tokenizer, text, CASE_AS_IS), small = weigh(tokenizer, text, CASE_SMALL),
        sentence = weigh(tokenizer, text, CASE_SENTENCE), best = sentence <= small ? sentence : small;
    if (best * 3 > capitals * 2) return CASE_AS_IS;
    return sentence <= small ? CASE_SENTENCE : CASE_SMALL;
}
