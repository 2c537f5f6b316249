/* alignment.c - merges tokens into words, chooses pairs. */
#include "postprocess/alignment.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

/* One side of the matrix: the units are words or tokens. */
typedef struct {
    int tokens, units; /* including </s>, if there is one */
    int *unit;         /* [tokens] the unit of each token */
    int *size;         /* [units] the number of its tokens */
    char **labels;     /* [units] */
} Side;

/* The text of tokens first..end-1 as one word, or of one token with its marker. `unknown`: the texts of
 * their <unk>s. */
static char *unit_label(const Tokenizer *tokenizer, const int *ids, int first, int end, AlignmentLevel level,
                        const StrList *unknown) {
    StrBuf label = {0};
    if (level == ALIGNMENT_WORD)
        tokenizer_decode_spelled(tokenizer, ids + first, (size_t)(end - first), unknown, &label);
    if (label.length == 0 && ids[first] == VOCAB_UNK && unknown->count > 0)
        tokenizer_label_unknown(unknown->items[0], &label);
    if (label.length == 0) tokenizer_label(tokenizer, ids[first], &label);
    char *copy = mem_strdup(strbuf_text(&label));
    strbuf_free(&label);
    return copy;
}

static Side side_make(const Tokenizer *tokenizer, const int *ids, const int *word, int count, int words,
                      bool end, AlignmentLevel level, const StrList *unknown) {
    Side side = {.tokens = count + end, .units = (level == ALIGNMENT_WORD ? words : count) + end};
    side.unit = mem_alloc((size_t)side.tokens, sizeof *side.unit);
    side.size = mem_alloc((size_t)side.units, sizeof *side.size);
    side.labels = mem_alloc((size_t)side.units, sizeof *side.labels);
    for (int i = 0; i < count; i++) side.unit[i] = level == ALIGNMENT_WORD ? word[i] : i;
    if (end) side.unit[count] = side.units - 1;
    for (int i = 0; i < side.tokens; i++) side.size[side.unit[i]]++;
    StrList rest = *unknown;
    for (int first = 0, next; first < count; first = next) {
        next = first + side.size[side.unit[first]];
        side.labels[side.unit[first]] = unit_label(tokenizer, ids, first, next, level, &rest);
        unknown_skip(&rest, ids + first, next - first);
    }
    if (end) side.labels[side.units - 1] = mem_strdup("</s>");
    return side;
}

static void side_free(Side *side) {
    mem_free(side->unit);
    mem_free(side->size);
}

static Side source_side(const Translation *translation, AlignmentLevel level, const Tokenizer *source) {
    return side_make(source, translation->source, translation->source_word, translation->source_length,
                     translation->source_words, true, level, &translation->source_unknown);
}

static Side target_side(const Translation *translation, const TranslationItem *item, AlignmentLevel level,
                        const Tokenizer *target) {
    return side_make(target, item->ids, item->word, item->length, item->words, item->steps > item->length,
                     level, &translation->target_unknown);
}

/* <s> and the target tokens without </s>. */
static Side input_side(const Translation *translation, AlignmentLevel level, const Tokenizer *target) {
    const TranslationItem *item = &translation->items[0];
    Side side = side_make(target, item->ids, item->word, item->length, item->words, true, level,
                          &translation->target_unknown);
    int end = side.units - 1; /* the unit of </s> becomes that of <s>, before all others */
    mem_free(side.labels[end]);
    memmove(side.labels + 1, side.labels, (size_t)end * sizeof *side.labels);
    side.labels[0] = mem_strdup("<s>");
    for (int i = side.tokens - 1; i > 0; i--) side.unit[i] = side.unit[i - 1] + 1;
    side.unit[0] = 0;
    return side;
}

/* Merge one block, whose rows end before `end`. A word has tokens in one block only. */
static AttentionBlock merge_block(const AttentionBlock *block, int end, const Side *rows,
                                  const Side *columns) {
    bool empty = end == block->row;
    int row = block->row < rows->tokens ? rows->unit[block->row] : rows->units;
    int column = columns->unit[block->column];
    int height = empty ? 0 : rows->unit[end - 1] + 1 - row;
    int width = columns->unit[block->column + block->columns - 1] + 1 - column;
    float *merged = mem_alloc((size_t)height * (size_t)width, sizeof *merged);
    for (int t = block->row; t < end; t++) {
        const float *from = block->weights + (size_t)(t - block->row) * (size_t)block->columns;
        float *to = merged + (size_t)(rows->unit[t] - row) * (size_t)width;
        for (int s = 0; s < block->columns; s++)
            to[columns->unit[block->column + s] - column] += from[s] / (float)rows->size[rows->unit[t]];
    }
    return (AttentionBlock){row, column, width, merged};
}

/* Merge blocks [count] of tokens. Releases both sides; the alignment owns their labels. */
static Alignment merge(const AttentionBlock *blocks, int count, Side *rows, Side *columns, bool ended) {
    Alignment alignment = {.rows = rows->units,
                           .columns = columns->units,
                           .target_count = rows->units - ended,
                           .attention = mem_alloc((size_t)count, sizeof *alignment.attention),
                           .blocks = count,
                           .row_labels = rows->labels,
                           .column_labels = columns->labels};
    for (int b = 0; b < count; b++) {
        int end = b + 1 < count ? blocks[b + 1].row : rows->tokens;
        alignment.attention[b] = merge_block(&blocks[b], end, rows, columns);
    }
    side_free(rows);
    side_free(columns);
    return alignment;
}

void alignment_make(Alignment *alignment, const Translation *translation, int rank, AlignmentLevel level,
                    const Tokenizer *source, const Tokenizer *target) {
    const TranslationItem *item = &translation->items[rank];
    Side columns = source_side(translation, level, source);
    Side rows = target_side(translation, item, level, target);
    *alignment = merge(item->attention, item->blocks, &rows, &columns, item->steps > item->length);
    alignment->source_count = alignment->columns - 1;
}

void alignment_make_self(Alignment *alignment, const Translation *translation, const float *weights,
                         AlignmentSelf kind, AlignmentLevel level, const Tokenizer *tokenizer) {
    const TranslationItem *item = &translation->items[0];
    bool source = kind == ALIGNMENT_SOURCE;
    Side rows = source ? source_side(translation, level, tokenizer)
                       : target_side(translation, item, level, tokenizer);
    Side columns = source                     ? source_side(translation, level, tokenizer)
                   : kind == ALIGNMENT_INPUTS ? input_side(translation, level, tokenizer)
                                              : target_side(translation, item, level, tokenizer);
    AttentionBlock whole = {0, 0, columns.tokens, weights};
    *alignment = merge(&whole, 1, &rows, &columns, source || item->steps > item->length);
    alignment->source_count = alignment->target_count;
}

static void blocks_free(Alignment *alignment) {
    for (int b = 0; b < alignment->blocks; b++) mem_free((float *)alignment->attention[b].weights);
    mem_free(alignment->attention);
}

void alignment_free(Alignment *alignment) {
    for (int t = 0; t < alignment->rows; t++) mem_free(alignment->row_labels[t]);
    for (int s = 0; s < alignment->columns; s++) mem_free(alignment->column_labels[s]);
    mem_free(alignment->row_labels);
    mem_free(alignment->column_labels);
    blocks_free(alignment);
    *alignment = (Alignment){0};
}

AttentionRow alignment_row(const Alignment *alignment, int row) {
    return attention_row(alignment->attention, alignment->blocks, row);
}

const float *alignment_matrix(Alignment *alignment) {
    if (alignment->blocks == 1) return alignment->attention[0].weights;
    size_t columns = (size_t)alignment->columns;
    float *weights = mem_alloc((size_t)alignment->rows * columns, sizeof *weights);
    for (int t = 0; t < alignment->rows; t++) {
        AttentionRow row = alignment_row(alignment, t);
        memcpy(weights + (size_t)t * columns + row.first, row.weights, (size_t)row.count * sizeof *weights);
    }
    blocks_free(alignment);
    alignment->attention = mem_alloc(1, sizeof *alignment->attention);
    alignment->attention[0] = (AttentionBlock){0, 0, alignment->columns, weights};
    alignment->blocks = 1;
    return weights;
}

static int pair_compare(const void *a, const void *b) {
    const AlignmentPair *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return (x->target > y->target) - (x->target < y->target);
}

int alignment_pairs(const Alignment *alignment, double threshold, AlignmentPair **pairs) {
    int count = 0;
    size_t capacity = 0;
    *pairs = NULL;
    for (int t = 0; t < alignment->target_count; t++) {
        AttentionRow row = alignment_row(alignment, t);
        int words = alignment->source_count - row.first, best = 0;
        if (words > row.count) words = row.count;
        MEM_GROW(*pairs, capacity, (size_t)count + (size_t)row.count);
        for (int s = 0; s < words; s++) {
            bool enough = threshold > 0 && (double)row.weights[s] >= threshold;
            if (enough) (*pairs)[count++] = (AlignmentPair){row.first + s, t};
            if (row.weights[s] > row.weights[best]) best = s;
        }
        if (threshold <= 0 && words > 0) (*pairs)[count++] = (AlignmentPair){row.first + best, t};
    }
    if (count > 0) qsort(*pairs, (size_t)count, sizeof **pairs, pair_compare);
    return count;
}
