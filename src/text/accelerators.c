/* accelerators.c - see accelerators.h. */
#include "text/accelerators.h"

#include "base/unicode.h"
#include "base/utf8.h"
#include "text/entities.h"

static bool is_letter(int c) {
    return c >= 0 && (unicode_class(c) == CHAR_LETTER || unicode_class(c) == CHAR_DIGIT);
}

static int char_at(StrView text, size_t at) { return at < text.length ? utf8_next(text, &at) : -1; }

static int char_before(StrView text, size_t at) { return at > 0 ? char_at(text, utf8_before(text, at)) : -1; }

/* The start of the word of letters and digits that ends at `at`. */
static size_t word_start(StrView text, size_t at) {
    while (at > 0 && is_letter(char_before(text, at))) at = utf8_before(text, at);
    return at;
}

/* Letters and digits stand behind other signs only in names. */
static bool is_part_of_name(int c) { return is_letter(c) || c == '_' || c == '&' || c == '='; }

/* Does the text between white space around `at`, apart from signs at its ends, have letters alone before and
 * after `at`? Names of programs and addresses have others: "Krb5_ap", "a.b_c", "?x=1&y". */
static bool is_inside_letters(StrView text, size_t at) {
    size_t from = word_start(text, at), to = at + 1;
    for (size_t i = from; i < at;)
        if (unicode_class(utf8_next(text, &i)) != CHAR_LETTER) return false;
    while (to < text.length && unicode_class(char_at(text, to)) == CHAR_LETTER) utf8_next(text, &to);
    for (size_t i = from; i > 0 && !unicode_is_space(char_before(text, i)); i = utf8_before(text, i))
        if (is_part_of_name(char_before(text, i))) return false;
    for (size_t i = to; i < text.length && !unicode_is_space(char_at(text, i)); utf8_next(text, &i))
        if (is_part_of_name(char_at(text, i)) || char_at(text, i) == '(') return false;
    return true;
}

/* "_init_x", "_call()". */
static bool begins_name(StrView text, size_t at) {
    for (at++; is_letter(char_at(text, at));) utf8_next(text, &at);
    return char_at(text, at) == '_' || char_at(text, at) == '(';
}

/* Is the '&' or '_' at `at` the mark of an accelerator? */
static bool is_mark(StrView text, size_t at) {
    char mark = text.data[at];
    int before = char_before(text, at), after = char_at(text, at + 1);
    if (!is_letter(after) || before == mark) return false;
    if (mark == '&' && entity_length(text, at) > 0) return false;
    if (!is_letter(before)) return mark == '&' || !begins_name(text, at);
    if (mark == '_' && !unicode_is_upper(char_at(text, word_start(text, at)))) return false;
    return unicode_is_lower(after) && is_inside_letters(text, at);
}

bool accelerator_take(StrView text, AcceleratorKind kind, StrBuf *out, Accelerator *accelerator) {
    size_t found = 0;
    int count[2] = {0}; /* of '&', of '_' */
    for (size_t at = 0; at < text.length; at++) {
        bool underscore = text.data[at] == '_';
        if (!underscore && text.data[at] != '&') continue;
        if (kind == (underscore ? ACCELERATOR_AND : ACCELERATOR_UNDERSCORE) || !is_mark(text, at)) continue;
        found = at;
        count[underscore]++;
    }
    if (kind == ACCELERATOR_NONE || count[0] + count[1] != 1) return false;
    *accelerator = (Accelerator){text.data[found], char_at(text, found + 1), found};
    strbuf_add(out, (StrView){text.data, found});
    strbuf_add(out, (StrView){text.data + found + 1, text.length - found - 1});
    return true;
}

static int to_lower(int c) {
    StrBuf text = {0}, lower = {0};
    utf8_add(&text, c);
    unicode_lower(strbuf_view(&text), &lower);
    c = char_at(strbuf_view(&lower), 0);
    strbuf_free(&text);
    strbuf_free(&lower);
    return c;
}

/* "(&F)" before the marks at the end, such as "..." or ":". */
static void put_in_brackets(const Accelerator *accelerator, StrView text, StrBuf *out) {
    size_t end = text.length;
    while (end > 0 && !is_letter(char_before(text, end)) && char_before(text, end) != ')')
        end = utf8_before(text, end);
    if (end == 0) end = text.length;
    strbuf_add(out, (StrView){text.data, end});
    StrBuf letter = {0};
    utf8_add(&letter, accelerator->letter);
    strbuf_format(out, "(%c", accelerator->mark);
    unicode_upper(strbuf_view(&letter), out);
    strbuf_add(out, SV(")"));
    strbuf_add(out, (StrView){text.data + end, text.length - end});
    strbuf_free(&letter);
}

void accelerator_put(const Accelerator *accelerator, StrView text, size_t at, size_t length, StrBuf *out) {
    size_t first = text.length, same = text.length;
    int letter = to_lower(accelerator->letter);
    size_t end = at + length < text.length ? at + length : text.length;
    while (at < end) {
        size_t here = at;
        int c = utf8_next(text, &at);
        if (!is_letter(c)) continue;
        if (first == text.length) first = here;
        if (same == text.length && to_lower(c) == letter) same = here;
    }
    size_t best = same < text.length ? same : first;
    if (best == text.length || unicode_width(char_at(text, best)) == 2) {
        put_in_brackets(accelerator, text, out);
        return;
    }
    strbuf_add(out, (StrView){text.data, best});
    strbuf_add_char(out, accelerator->mark);
    strbuf_add(out, (StrView){text.data + best, text.length - best});
}
