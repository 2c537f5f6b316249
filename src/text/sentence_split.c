/* sentence_split.c - cuts long lines: counts the tokens of one unit after the other, where a unit is a word
 * or ends with a wide punctuation mark. */
#include "text/sentence_split.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "text/punctuation.h"

void piece_list_free(PieceList *list) {
    mem_free(list->items);
    *list = (PieceList){0};
}

static void piece_add(PieceList *pieces, StrView piece) {
    piece = sv_trim(piece);
    if (piece.length == 0) return;
    MEM_GROW(pieces->items, pieces->capacity, (size_t)pieces->count + 1);
    pieces->items[pieces->count++] = piece;
}

static int token_count(Tokenizer *tokenizer, StrView text, IdList *scratch) {
    scratch->count = 0;
    tokenizer_encode(tokenizer, text, scratch);
    return (int)scratch->count;
}

typedef enum { CUT_NONE, CUT_WORD, CUT_CLAUSE, CUT_SENTENCE } CutKind;

/* How good a place for a cut is behind this character? */
static CutKind mark_cut_kind(int c) {
    Punctuation kind = punctuation_of(c);
    return kind >= PUNCTUATION_STOP ? CUT_SENTENCE : kind == PUNCTUATION_CLAUSE ? CUT_CLAUSE : CUT_WORD;
}

/* How good a place for a cut is the end of this part? Closing quotes and brackets take after what they close;
 * `before` is the kind of the part before. */
static CutKind part_cut_kind(StrView part, CutKind before) {
    while (part.length > 0) {
        size_t start = utf8_before(part, part.length), at = start;
        int c = utf8_next(part, &at);
        if (!punctuation_is_closing(c, false)) return mark_cut_kind(c);
        part.length = start;
    }
    return before;
}

/* The next part of a line that is in one piece if it can be: a word, or what ends with a wide mark. Of a part
 * of `most` bytes or more the end is not looked for. */
static bool next_part(StrView *rest, size_t most, StrView *part) {
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
    *part = (StrView){line.data + start, end - start};
    *rest = (StrView){line.data + end, line.length - end};
    return end > start;
}

/* The first `count` code points of a part. */
static size_t code_points_length(StrView part, int count) {
    size_t position = 0;
    while (count-- > 0 && position < part.length) utf8_next(part, &position);
    return position;
}

/* Length in bytes of the first piece of `line`. */
static size_t first_piece(Tokenizer *tokenizer, StrView line, int limit, IdList *scratch) {
    size_t best[CUT_SENTENCE + 1] = {0};
    size_t huge = 8 * (size_t)limit; /* so many bytes are not worth tokenizing, which may take long */
    StrView rest = line, part;
    CutKind kind = CUT_WORD;
    for (int count = 0; next_part(&rest, huge, &part);) {
        int tokens = part.length >= huge ? limit + 1 : token_count(tokenizer, part, scratch);
        if (count + tokens > limit) {
            for (int k = CUT_SENTENCE; k >= CUT_WORD; k--)
                if (best[k] > 0) return best[k];
            return (size_t)(part.data - line.data) + code_points_length(part, limit);
        }
        count += tokens;
        kind = part_cut_kind(part, kind);
        size_t behind = best[CUT_WORD] = (size_t)(rest.data - line.data);
        if (kind > CUT_WORD && count > limit / 4) best[kind] = behind;
    }
    return line.length;
}

void split_line(Tokenizer *tokenizer, StrView line, int limit, PieceList *pieces) {
    IdList scratch = {0};
    line = sv_trim(line);
    /* Nearly all lines are short enough, which shows at once. */
    bool fits = line.length <= (size_t)limit;
    if (!fits && line.length / 32 < (size_t)limit) fits = token_count(tokenizer, line, &scratch) <= limit;
    if (fits) {
        piece_add(pieces, line);
    } else {
        while (line.length > 0) {
            size_t length = first_piece(tokenizer, line, limit, &scratch);
            piece_add(pieces, (StrView){line.data, length});
            line = sv_trim((StrView){line.data + length, line.length - length});
        }
    }
    id_list_free(&scratch);
}
