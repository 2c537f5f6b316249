/* alignment.h - which source words a translation's words looked at.
 *
 * Attention weights between tokens, or merged into words: a target word's weights are the mean of its
 * tokens', a source word's the sum of its tokens'. So each row keeps its sum.
 *
 * Weights stay in blocks, one for each piece of the line (translation.h).
 *
 * Shapes  weights [rows, columns]; the last column is the source's </s>, and the last row the target's if it
 *         ended with it
 * Owner   the caller releases with alignment_free
 */
#ifndef TRANSLATE_ALIGNMENT_H
#define TRANSLATE_ALIGNMENT_H

#include "translate/translation.h"

typedef enum { ALIGNMENT_WORD, ALIGNMENT_SUBWORD } AlignmentLevel;
#define ALIGNMENT_LEVELS "word|subword"

typedef struct {
    int rows, columns;
    int target_count, source_count; /* rows and columns without those of </s> */
    AttentionBlock *attention;      /* [blocks] */
    int blocks;
    char **row_labels, **column_labels;
} Alignment;

/* `rank`: which of the translation's items; it must have attention weights, and at least one piece. */
void alignment_make(Alignment *alignment, const Translation *translation, int rank, AlignmentLevel level,
                    const Tokenizer *source, const Tokenizer *target);
/* The same of weights between tokens of one side, and of the best item: source tokens on both sides [S, S];
 * target tokens on both [steps, steps]; or target tokens as rows and what the decoder read as columns, <s>
 * and the target tokens without </s> [steps, length + 1]. `tokenizer`: of that side. */
typedef enum { ALIGNMENT_SOURCE, ALIGNMENT_OUTPUTS, ALIGNMENT_INPUTS } AlignmentSelf;
void alignment_make_self(Alignment *alignment, const Translation *translation, const float *weights,
                         AlignmentSelf kind, AlignmentLevel level, const Tokenizer *tokenizer);
void alignment_free(Alignment *alignment);
AttentionRow alignment_row(const Alignment *alignment, int row);
/* All weights [rows, columns], which takes one block of them: of long lines that is large. */
const float *alignment_matrix(Alignment *alignment);

typedef struct {
    int source, target;
} AlignmentPair;

/* Pairs of real words (never </s>), sorted by source, then target: those with a weight of at least
 * `threshold`, or, if it is 0, each target word with the source word of greatest weight. Returns how many;
 * mem_free *pairs. */
int alignment_pairs(const Alignment *alignment, double threshold, AlignmentPair **pairs);

#endif
