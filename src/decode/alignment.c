/* alignment.c - merge tokens into words, pick pairs. */
#include "decode/alignment.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

/* One side of the matrix: which unit each token belongs to, and what the units are called. */
typedef struct {
    int tokens, units; /* with </s>, if it is there */
    int *unit;         /* [tokens] */
    int *size;         /* [units] tokens in each */
    char **labels;     /* [units] */
} Side;

/* The text of tokens first..end-1 as one word, or of one token with its marker. `unknown`: what their <unk>s
 * stand for. */
static char *unit_label(const Segmenter *segmenter, const int *ids, int first, int end, AlignmentLevel level,
                        const StrList *unknown) {
    StrBuf label = {0};
    if (level == ALIGNMENT_WORD)
        segmenter_decode_spelled(segmenter, ids + first, (size_t)(end - first), unknown, &label);
    if (label.length == 0 && ids[first] == VOCAB_UNK && unknown->count > 0)
        segmenter_label_unknown(unknown->items[0], &label);
    if (label.length == 0) segmenter_label(segmenter, ids[first], &label);
    char *copy = mem_strdup(strbuf_text(&label));
    strbuf_free(&label);
    return copy;
}

static Side side_make(const Segmenter *segmenter, const int *ids, const int *word, int count, int words,
                      bool end, AlignmentLevel level, const StrList *unknown) {
    Side side = {.tokens = count + end, .units = (level == ALIGNMENT_WORD ? words : count) + end};
    side.unit = mem_alloc((size_t)side.tokens, sizeof *side.unit);
    side.size = mem_alloc((size_t)side.units, sizeof *side.size);
    side.labels = mem_alloc((size_t)side.units, sizeof *side.labels);
    for (int i = 0; i < count; i++) side.unit[i] = level == ALIGNMENT_WORD ? word[i] : i;
    if (end) side.unit[count] = side.units - 1;
    for (int i = 0; i < side.tokens; i++) side.size[side.unit[i]]++;
    StrList left = *unknown;
    for (int first = 0, next; first < count; first = next) {
        next = first + side.size[side.unit[first]];
        side.labels[side.unit[first]] = unit_label(segmenter, ids, first, next, level, &left);
        unknown_pass(&left, ids + first, next - first);
    }
    if (end) side.labels[side.units - 1] = mem_strdup("</s>");
    return side;
}

static void side_free(Side *side) {
    mem_free(side->unit);
    mem_free(side->size);
}

static Side source_side(const Translation *translation, AlignmentLevel level, const Segmenter *source) {
    return side_make(source, translation->source, translation->source_word, translation->source_length,
                     translation->source_words, true, level, &translation->source_unknown);
}

static Side target_side(const Translation *translation, const TranslationItem *item, AlignmentLevel level,
                        const Segmenter *target) {
    return side_make(target, item->ids, item->word, item->length, item->words, item->steps > item->length,
                     level, &translation->target_unknown);
}

/* <s> and the target tokens without </s>. */
static Side input_side(const Translation *translation, AlignmentLevel level, const Segmenter *target) {
    const TranslationItem *item = &translation->items[0];
    Side side = side_make(target, item->ids, item->word, item->length, item->words, true, level,
                          &translation->target_unknown);
    int end = side.units - 1; /* the place of </s>: all others move behind it, in a circle */
    mem_free(side.labels[end]);
    memmove(side.labels + 1, side.labels, (size_t)end * sizeof *side.labels);
    side.labels[0] = mem_strdup("<s>");
    for (int i = side.tokens - 1; i > 0; i--) side.unit[i] = side.unit[i - 1] + 1;
    side.unit[0] = 0;
    return side;
}

/* Merges the weights of an item, or [rows->tokens, columns->tokens]; releases both sides but their labels. */
static Alignment merge(const TranslationItem *item, const float *weights, Side *rows, Side *columns,
                       bool ended) {
    float *merged = mem_alloc((size_t)rows->units * (size_t)columns->units, sizeof *merged);
    for (int t = 0; t < rows->tokens; t++) {
        AttentionRow from =
            item ? translation_attention(item, t)
                 : (AttentionRow){weights + (size_t)t * (size_t)columns->tokens, 0, columns->tokens};
        float *to = merged + (size_t)rows->unit[t] * (size_t)columns->units;
        for (int s = 0; s < from.count; s++)
            to[columns->unit[from.first + s]] += from.weights[s] / (float)rows->size[rows->unit[t]];
    }
    Alignment alignment = {.rows = rows->units,
                           .columns = columns->units,
                           .target_count = rows->units - ended,
                           .weights = merged,
                           .row_labels = rows->labels,
                           .column_labels = columns->labels};
    side_free(rows);
    side_free(columns);
    return alignment;
}

void alignment_make(Alignment *alignment, const Translation *translation, int rank, AlignmentLevel level,
                    const Segmenter *source, const Segmenter *target) {
    const TranslationItem *item = &translation->items[rank];
    Side columns = source_side(translation, level, source);
    Side rows = target_side(translation, item, level, target);
    *alignment = merge(item, NULL, &rows, &columns, item->steps > item->length);
    alignment->source_count = alignment->columns - 1;
}

void alignment_make_self(Alignment *alignment, const Translation *translation, const float *weights,
                         AlignmentSelf kind, AlignmentLevel level, const Segmenter *segmenter) {
    const TranslationItem *item = &translation->items[0];
    bool source = kind == ALIGNMENT_SOURCE;
    Side rows = source ? source_side(translation, level, segmenter)
                       : target_side(translation, item, level, segmenter);
    Side columns = source                     ? source_side(translation, level, segmenter)
                   : kind == ALIGNMENT_INPUTS ? input_side(translation, level, segmenter)
                                              : target_side(translation, item, level, segmenter);
    *alignment = merge(NULL, weights, &rows, &columns, source || item->steps > item->length);
    alignment->source_count = alignment->target_count;
}

void alignment_free(Alignment *alignment) {
    for (int t = 0; t < alignment->rows; t++) mem_free(alignment->row_labels[t]);
    for (int s = 0; s < alignment->columns; s++) mem_free(alignment->column_labels[s]);
    mem_free(alignment->row_labels);
    mem_free(alignment->column_labels);
    mem_free(alignment->weights);
    *alignment = (Alignment){0};
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
        const float *weights = alignment->weights + (size_t)t * (size_t)alignment->columns;
        int best = 0;
        MEM_GROW(*pairs, capacity, (size_t)count + (size_t)alignment->source_count + 1);
        for (int s = 0; s < alignment->source_count; s++) {
            if (threshold > 0 && (double)weights[s] >= threshold) (*pairs)[count++] = (AlignmentPair){s, t};
            if (weights[s] > weights[best]) best = s;
        }
        if (threshold <= 0 && alignment->source_count > 0) (*pairs)[count++] = (AlignmentPair){best, t};
    }
    if (count > 0) qsort(*pairs, (size_t)count, sizeof **pairs, pair_compare);
    return count;
}
