/* pair_checks.c - see pair_checks.h. */
#include "data/pair_checks.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/accelerators.h"
#include "text/punctuation.h"

static const char *const NAMES[FINDING_KINDS] = {
    [FINDING_REPEATED] = "repeated_pairs",   [FINDING_OTHER_TRANSLATION] = "other_translations",
    [FINDING_IN_VALID] = "in_validation",    [FINDING_SOURCE_IN_VALID] = "source_in_validation",
    [FINDING_SAME_TEXT] = "same_text",       [FINDING_SWAPPED] = "swapped",
    [FINDING_MOJIBAKE] = "mojibake",         [FINDING_LENGTHS] = "lengths",
    [FINDING_PLACEHOLDERS] = "placeholders", [FINDING_TAGS] = "tags",
    [FINDING_ACCELERATORS] = "accelerators", [FINDING_NUMBERS] = "numbers",
    [FINDING_PUNCTUATION] = "punctuation",   [FINDING_BLANKS] = "blanks",
    [FINDING_ENTITIES] = "entities",         [FINDING_MARKUP] = "markup",
    [FINDING_SOFT_HYPHENS] = "soft_hyphens", [FINDING_ADDRESSES] = "addresses",
    [FINDING_TOKENIZED] = "tokenized",
};

const char *finding_name(FindingKind kind) { return NAMES[kind]; }

/* ---- placeholders and tags ---- */

typedef bool (*PlaceholderTest)(const PlaceholderList *list, int i);

static bool is_argument(const PlaceholderList *list, int i) {
    PlaceholderKind kind = list->items[i].kind;
    return kind == PLACEHOLDER_PRINTF || kind == PLACEHOLDER_BRACES || kind == PLACEHOLDER_VARIABLE;
}

/* Is one of the next tags the closing one of this? */
static bool is_closed(const PlaceholderList *list, int i) {
    enum { NEAR = 64 };
    StrView tag = list->items[i].text;
    for (int j = i + 1; j < list->count && j <= i + NEAR; j++)
        if (tag_is_closing(list->items[j].text) && tag_same_name(list->items[j].text, tag)) return true;
    return false;
}

/* Words in angle brackets, as in "<file>" and "<cycle %d>", have no attributes and no closing tag. */
static bool is_tag(const PlaceholderList *list, int i) {
    StrView tag = list->items[i].text;
    if (list->items[i].kind != PLACEHOLDER_TAG) return false;
    if (!tag_is_opening(tag) || memchr(tag.data, '=', tag.length) || is_closed(list, i)) return true;
    return tag.length <= 4 && !tag_is_word(tag); /* <p>, <li> */
}

static bool is_icu(const PlaceholderList *list, int i) { return list->items[i].kind == PLACEHOLDER_ICU; }

static bool is_entity(const PlaceholderList *list, int i) {
    return list->items[i].kind == PLACEHOLDER_ENTITY;
}

static bool is_address(const PlaceholderList *list, int i) {
    return list->items[i].kind == PLACEHOLDER_URL || list->items[i].kind == PLACEHOLDER_EMAIL;
}

static bool any(const PairChecker *checker, PlaceholderTest test) {
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < checker->all[side].count; i++)
            if (test(&checker->all[side], i)) return true;
    return false;
}

static void select_some(PairChecker *checker, PlaceholderTest test) {
    for (int side = 0; side < 2; side++) {
        const PlaceholderList *all = &checker->all[side];
        PlaceholderList *some = &checker->some[side];
        some->count = 0;
        for (int i = 0; i < all->count; i++) {
            if (!test(all, i)) continue;
            MEM_GROW(some->items, some->capacity, (size_t)some->count + 1);
            some->items[some->count++] = all->items[i];
        }
    }
}

static bool tags_agree(PairChecker *checker) {
    select_some(checker, is_tag);
    return placeholders_agree(&checker->some[0], &checker->some[1]);
}

/* The number of "%2$s", and *rest: the text behind the $; 0: it has none. */
static int argument_number(StrView text, StrView *rest) {
    int number = 0;
    size_t i = 1;
    for (; i < text.length && text.data[i] >= '0' && text.data[i] <= '9' && number < 1000; i++)
        number = 10 * number + (text.data[i] - '0');
    if (i >= text.length || text.data[i] != '$') return 0;
    *rest = (StrView){text.data + i + 1, text.length - i - 1};
    return number;
}

/* Do these arguments have the numbers of plain ones: "%2$s %1$d" those of "%d %s"? */
static bool are_numbered(const PlaceholderList *numbered, const PlaceholderList *plain) {
    if (numbered->count != plain->count || plain->count > 64) return false;
    uint64_t seen = 0;
    for (int i = 0; i < numbered->count; i++) {
        StrView rest = {0};
        int number = argument_number(numbered->items[i].text, &rest);
        if (number < 1 || number > plain->count || seen & UINT64_C(1) << (number - 1)) return false;
        seen |= UINT64_C(1) << (number - 1);
        StrView other = plain->items[number - 1].text;
        if (!sv_equal(rest, (StrView){other.data + 1, other.length - 1})) return false;
    }
    return true;
}

static bool arguments_agree(PairChecker *checker) {
    const PlaceholderList *source = &checker->some[0], *target = &checker->some[1];
    select_some(checker, is_argument);
    return placeholders_agree(source, target) || are_numbered(target, source) || are_numbered(source, target);
}

static bool has_accelerator(PairChecker *checker, StrView text) {
    Accelerator accelerator;
    strbuf_clear(&checker->text);
    return accelerator_take(text, ACCELERATOR_AUTO, &checker->text, &accelerator);
}

/* ---- numbers ---- */

/* 0 to 9, or -1. Zeros of the decimal digits in use; Unicode 15.0, category Nd */
static int digit_value(int c) {
    static const int ZEROS[] = {0x30,  0x660, 0x6F0, 0x966, 0x9E6, 0xA66,  0xAE6,  0xB66, 0xBE6,
                                0xC66, 0xCE6, 0xD66, 0xE50, 0xED0, 0x1040, 0x17E0, 0xFF10};
    for (size_t i = 0; i < sizeof ZEROS / sizeof *ZEROS; i++)
        if (c >= ZEROS[i] && c < ZEROS[i] + 10) return c - ZEROS[i];
    return -1;
}

/* The length of the digits at `at`, in characters; *end: behind them. */
static int digits_at(StrView text, size_t at, size_t *end) {
    int length = 0;
    for (*end = at; at < text.length && digit_value(utf8_next(text, &at)) >= 0; length++) *end = at;
    return length;
}

static bool separates_groups(int c) {
    return c == '.' || c == ',' || c == '\'' || c == 0x2019 || c == ' ' || c == 0xA0 || c == 0x202F ||
           c == 0x2009 || c == 0x66C;
}

/* Adds the number at `at`; returns the position behind it. */
static size_t add_number(PairChecker *checker, int side, StrView text, size_t at) {
    enum { GROUP = 3 };
    uint64_t hash = 0;
    size_t end;
    int length = digits_at(text, at, &end);
    for (bool more = length <= GROUP; more;) { /* 1,234,567 */
        size_t next = end, group_end;
        more = next < text.length && separates_groups(utf8_next(text, &next)) &&
               digits_at(text, next, &group_end) == GROUP;
        if (more) end = group_end;
    }
    while (at < end) {
        int digit = digit_value(utf8_next(text, &at));
        if (digit > 0 || (digit == 0 && hash > 0)) hash = hash * 31 + (uint64_t)digit + 1;
    }
    MEM_GROW(checker->numbers[side], checker->number_capacity[side], checker->number_count[side] + 1);
    checker->numbers[side][checker->number_count[side]++] = hash;
    return end;
}

/* Digits in placeholders are none; those of a version are. */
static void find_numbers(PairChecker *checker, int side, StrView text) {
    const PlaceholderList *all = &checker->all[side];
    int next = 0;
    checker->number_count[side] = 0;
    for (size_t at = 0; at < text.length;) {
        while (next < all->count &&
               (all->items[next].kind == PLACEHOLDER_VERSION || all->items[next].text.data < text.data + at))
            next++;
        if (next < all->count && all->items[next].text.data == text.data + at) {
            at += all->items[next].text.length;
            continue;
        }
        size_t after = at;
        at = digit_value(utf8_next(text, &after)) >= 0 ? add_number(checker, side, text, at) : after;
    }
}

static int by_value(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool numbers_agree(PairChecker *checker, const StrView *side) {
    for (int s = 0; s < 2; s++) {
        find_numbers(checker, s, side[s]);
        if (checker->number_count[s] > 0)
            qsort(checker->numbers[s], checker->number_count[s], sizeof *checker->numbers[s], by_value);
    }
    size_t count = checker->number_count[0];
    return count == checker->number_count[1] &&
           (count == 0 ||
            memcmp(checker->numbers[0], checker->numbers[1], count * sizeof *checker->numbers[0]) == 0);
}

/* ---- both ends ---- */

static int plain_mark(int c) {
    static const struct {
        int mark, plain;
    } MARKS[] = {
        {0x3002, '.'}, {0xFF61, '.'}, {0xFF0E, '.'}, {0x964, '.'},  {0x6D4, '.'},  {0x589, '.'},
        {0x1362, '.'}, {0x104B, '.'}, {0x17D4, '.'}, {0xFF1F, '?'}, {0x61F, '?'},  {0x37E, '?'},
        {0x1367, '?'}, {0xFF01, '!'}, {0xFF1A, ':'}, {0xFF1B, ';'}, {0x61B, ';'},  {0xFF0C, ','},
        {0x3001, ','}, {0x60C, ','},  {0x1363, ','}, {0x2026, '~'}, {0x22EF, '~'},
    };
    if (c == '.' || c == '?' || c == '!' || c == ':' || c == ';' || c == ',') return c;
    for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS; i++)
        if (MARKS[i].mark == c) return MARKS[i].plain;
    return 0;
}

/* The mark at the end as one of . ? ! : ; , or ~ for an ellipsis; 0: none. */
static int end_mark(StrView text) {
    size_t end = text.length, start;
    for (; end > 0; end = start) {
        size_t at = start = utf8_before(text, end);
        int c = utf8_next(text, &at), mark = plain_mark(c);
        if (mark == '.' && sv_ends((StrView){text.data, end}, SV(".."))) return '~';
        if (mark) return mark;
        if (!unicode_is_space(c) && c != '"' && c != '\'' && c != '*' && !punctuation_is_closing(c, false))
            return 0;
    }
    return 0;
}

static StrView blanks_before(StrView text) {
    size_t end = 0, at = 0;
    while (at < text.length && unicode_is_space(utf8_next(text, &at))) end = at;
    return (StrView){text.data, end};
}

static StrView blanks_after(StrView text) {
    size_t length = unicode_trim_end(text).length;
    return (StrView){text.data + length, text.length - length};
}

/* ---- plain text ---- */

static bool contains(StrView text, StrView part) {
    return memmem(text.data, text.length, part.data, part.length) != NULL;
}

/* "@-@", "@.@" or "@,@" */
static bool has_joiner(StrView text) {
    return contains(text, SV("@-@")) || contains(text, SV("@.@")) || contains(text, SV("@,@"));
}

/* ---- a pair ---- */

FindingSet pair_check(PairChecker *checker, StrView source, StrView target) {
    const StrView side[2] = {source, target};
    FindingSet findings = 0;
    for (int s = 0; s < 2; s++) {
        checker->all[s].count = 0;
        placeholders_find(side[s], &checker->all[s]);
    }
    const struct {
        FindingKind kind;
        bool found;
    } CHECKS[] = {
        {FINDING_PLACEHOLDERS, !any(checker, is_icu) && !arguments_agree(checker)},
        {FINDING_TAGS, !tags_agree(checker)},
        {FINDING_ACCELERATORS, has_accelerator(checker, source) != has_accelerator(checker, target)},
        {FINDING_NUMBERS, !numbers_agree(checker, side)},
        {FINDING_PUNCTUATION, end_mark(source) != end_mark(target)},
        {FINDING_BLANKS, !sv_equal(blanks_before(source), blanks_before(target)) ||
                             !sv_equal(blanks_after(source), blanks_after(target))},
        {FINDING_ENTITIES, any(checker, is_entity)},
        {FINDING_MARKUP, any(checker, is_tag)},
        {FINDING_SOFT_HYPHENS, contains(source, SV("\u00AD")) || contains(target, SV("\u00AD"))},
        {FINDING_ADDRESSES, any(checker, is_address)},
        {FINDING_TOKENIZED, has_joiner(source) || has_joiner(target)},
    };
    for (size_t i = 0; i < sizeof CHECKS / sizeof *CHECKS; i++)
        if (CHECKS[i].found) findings |= finding_bit(CHECKS[i].kind);
    return findings;
}

void pair_checker_free(PairChecker *checker) {
    for (int s = 0; s < 2; s++) {
        placeholders_free(&checker->all[s]);
        placeholders_free(&checker->some[s]);
        mem_free(checker->numbers[s]);
    }
    strbuf_free(&checker->text);
    *checker = (PairChecker){0};
}
