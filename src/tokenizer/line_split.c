/* line_split.c - counts the tokens of one unit after the other. A unit is a word, or ends with a wide
 * punctuation mark. */
#include "tokenizer/line_split.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "text/punctuation.h"

void text_list_free(TextList *list) {
    mem_free(list->items);
    *list = (TextList){0};
}

void text_list_add(TextList *list, StrView text) {
    MEM_GROW(list->items, list->capacity, (size_t)list->count + 1);
    list->items[list->count++] = text;
}

static void chunk_add(TextList *chunks, StrView chunk) {
    chunk = sv_trim(chunk);
    if (chunk.length > 0) text_list_add(chunks, chunk);
}

static int token_count(Tokenizer *tokenizer, StrView text, IdList *scratch) {
    scratch->count = 0;
    tokenizer_encode(tokenizer, text, scratch);
    return (int)scratch->count;
}

typedef enum { CUT_NONE, CUT_WORD, CUT_CLAUSE, CUT_SENTENCE } CutKind;

/* The kind of a cut after this character. */
static CutKind mark_cut_kind(int c) {
    Punctuation kind = punctuation_of(c);
    return kind >= PUNCTUATION_STOP ? CUT_SENTENCE : kind == PUNCTUATION_CLAUSE ? CUT_CLAUSE : CUT_WORD;
}

/* The kind of a cut after this unit. Closing quotes and brackets inherit the kind of the text before them;
 * `before` is the kind of the previous unit. */
static CutKind unit_cut_kind(StrView unit, CutKind before) {
    while (unit.length > 0) {
        size_t start = utf8_before(unit, unit.length), at = start;
        int c = utf8_next(unit, &at);
        if (!punctuation_is_closing(c, false)) return mark_cut_kind(c);
        unit.length = start;
    }
    return before;
}

/* Cuts the next unit off `rest`, or the first `most` bytes of a longer one. */
static bool next_unit(StrView *rest, size_t most, StrView *unit) {
    StrView line = *rest;
    size_t start = 0, end;
    bool marked = false;
    int before = -1;
    while (start < line.length && char_is_space(line.data[start])) start++;
    for (size_t next = end = start; next < line.length && !char_is_space(line.data[next]); end = next) {
        if (end - start >= most) break;
        int c = utf8_next(line, &next);
        size_t at = next;
        int after = at < line.length ? utf8_next(line, &at) : -1;
        bool mark = punctuation_is_wide(c) && !punctuation_is_in_number(before, c, after);
        if (marked && !mark && !punctuation_is_closing(c, true)) break;
        marked = marked || mark;
        before = c;
    }
    *unit = (StrView){line.data + start, end - start};
    *rest = (StrView){line.data + end, line.length - end};
    return end > start;
}

/* Length in bytes of the first `count` code points of a unit. */
static size_t code_points_length(StrView unit, int count) {
    size_t position = 0;
    while (count-- > 0 && position < unit.length) utf8_next(unit, &position);
    return position;
}

/* Length in bytes of the first chunk of `line`. */
static size_t first_chunk(Tokenizer *tokenizer, StrView line, int limit, IdList *scratch) {
    size_t best[CUT_SENTENCE + 1] = {0};
    size_t huge =
        8 * (size_t)limit; /* bytes; longer units have too many tokens, and tokenizing them may be slow */
    StrView rest = line, unit;
    CutKind kind = CUT_WORD;
    for (int count = 0; next_unit(&rest, huge, &unit);) {
        int tokens = unit.length >= huge ? limit + 1 : token_count(tokenizer, unit, scratch);
        if (count + tokens > limit) {
            for (int k = CUT_SENTENCE; k >= CUT_WORD; k--)
                if (best[k] > 0) return best[k];
            return (size_t)(unit.data - line.data) + code_points_length(unit, limit);
        }
        count += tokens;
        kind = unit_cut_kind(unit, kind);
        size_t after_unit = best[CUT_WORD] = (size_t)(rest.data - line.data);
        if (kind > CUT_WORD && count > limit / 4) best[kind] = after_unit;
    }
    return line.length;
}

void line_split(Tokenizer *tokenizer, StrView line, int limit, TextList *chunks) {
    IdList scratch = {0};
    line = sv_trim(line);
    /* Fast path for lines that fit, as most lines do. */
    bool fits = line.length <= (size_t)limit;
    if (!fits && line.length / 32 < (size_t)limit) fits = token_count(tokenizer, line, &scratch) <= limit;
    if (fits) {
        chunk_add(chunks, line);
    } else {
        while (line.length > 0) {
            size_t length = first_chunk(tokenizer, line, limit, &scratch);
            chunk_add(chunks, (StrView){line.data, length});
            line = sv_trim((StrView){line.data + length, line.length - length});
        }
    }
    id_list_free(&scratch);
}
