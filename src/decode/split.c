/* split.c - find where to cut by counting the tokens of one word after the other. */
#include "decode/split.h"

#include "base/mem.h"
#include "base/utf8.h"

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

static int token_count(Segmenter *segmenter, StrView text, IdList *scratch) {
    scratch->count = 0;
    segmenter_encode(segmenter, text, scratch);
    return (int)scratch->count;
}

typedef enum { CUT_NONE, CUT_WORD, CUT_CLAUSE, CUT_SENTENCE } CutKind;

/* How good a place for a cut is the end of this word? Closing quotes and brackets take after what they close;
 * `before` is the kind of the word before. */
static CutKind word_cut_kind(StrView word, CutKind before) {
    static const char *const closing[] = {"\"", "'", ")", "]", "\xC2\xBB", "\xE2\x80\x9D", "\xE2\x80\x99"};
    static const char *const sentence[] = {".", "!", "?", "\xE2\x80\xA6", "\xE3\x80\x82"};
    static const char *const clause[] = {",", ";", ":"};
    for (size_t i = 0; i < sizeof closing / sizeof *closing;) {
        StrView close = sv(closing[i++]);
        if (!sv_ends(word, close)) continue;
        word.length -= close.length;
        i = 0;
    }
    if (word.length == 0) return before;
    for (size_t i = 0; i < sizeof sentence / sizeof *sentence; i++)
        if (sv_ends(word, sv(sentence[i]))) return CUT_SENTENCE;
    for (size_t i = 0; i < sizeof clause / sizeof *clause; i++)
        if (sv_ends(word, sv(clause[i]))) return CUT_CLAUSE;
    return CUT_WORD;
}

/* The first `count` code points of a word. */
static size_t code_points_length(StrView word, int count) {
    size_t position = 0;
    while (count-- > 0 && position < word.length) utf8_next(word, &position);
    return position;
}

/* Length in bytes of the first piece of `line`. */
static size_t first_piece(Segmenter *segmenter, StrView line, int limit, IdList *scratch) {
    size_t best[CUT_SENTENCE + 1] = {0};
    StrView rest = line, word;
    CutKind kind = CUT_WORD;
    for (int count = 0; sv_next_word(&rest, &word);) {
        /* A word of very many bytes is not worth tokenizing, which may take long. */
        bool huge = word.length / 8 >= (size_t)limit;
        int tokens = huge ? limit + 1 : token_count(segmenter, word, scratch);
        if (count + tokens > limit) {
            for (int k = CUT_SENTENCE; k >= CUT_WORD; k--)
                if (best[k] > 0) return best[k];
            return (size_t)(word.data - line.data) + code_points_length(word, limit);
        }
        count += tokens;
        kind = word_cut_kind(word, kind);
        size_t behind = best[CUT_WORD] = (size_t)(rest.data - line.data);
        if (kind > CUT_WORD && count > limit / 4) best[kind] = behind;
    }
    return line.length;
}

void split_line(Segmenter *segmenter, StrView line, int limit, PieceList *pieces) {
    IdList scratch = {0};
    line = sv_trim(line);
    /* Nearly all lines are short enough, which shows at once. */
    bool fits = line.length <= (size_t)limit;
    if (!fits && line.length / 32 < (size_t)limit) fits = token_count(segmenter, line, &scratch) <= limit;
    if (fits) {
        piece_add(pieces, line);
    } else {
        while (line.length > 0) {
            size_t length = first_piece(segmenter, line, limit, &scratch);
            piece_add(pieces, (StrView){line.data, length});
            line = sv_trim((StrView){line.data + length, line.length - length});
        }
    }
    id_list_free(&scratch);
}
