/* alignment.h - attention weights between the words of a source and of its translation.
 *
 * The weights are those of tokens, or merged into words: the weights of a target word are the mean over its
 * tokens, the weight of a source word is the sum over its tokens. So each row keeps its sum.
 *
 * Weights stay in blocks, one for each chunk of the line (translation.h).
 *
 * Shapes  weights [rows, columns]; the last column is the source's </s>; the last row is the target's </s>
 *         if the translation ended with it
 * Owner   the caller releases with alignment_free
 */
#ifndef POSTPROCESS_ALIGNMENT_H
#define POSTPROCESS_ALIGNMENT_H

#include "postprocess/translation.h"

typedef enum { ALIGNMENT_WORD, ALIGNMENT_SUBWORD } AlignmentLevel;
#define ALIGNMENT_LEVELS "word|subword"

typedef struct {
    int rows, columns;
    int target_count, source_count; /* rows and columns without those of </s> */
    AttentionBlock *attention;      /* [blocks] */
    int blocks;
    char **row_labels, **column_labels;
} Alignment;

/* `rank`: the index of the item, which must have attention weights; the translation must have a chunk. */
void alignment_make(Alignment *alignment, const Translation *translation, int rank, AlignmentLevel level,
                    const Tokenizer *source, const Tokenizer *target);
/* The same for self-attention weights, of the best item: between source tokens [S, S]; between target tokens
 * [steps, steps]; or of target tokens as rows to the decoder's inputs as columns, which are <s> and the
 * target tokens without </s> [steps, length + 1]. `tokenizer`: of that side. */
typedef enum { ALIGNMENT_SOURCE, ALIGNMENT_OUTPUTS, ALIGNMENT_INPUTS } AlignmentSelf;
void alignment_make_self(Alignment *alignment, const Translation *translation, const float *weights,
                         AlignmentSelf kind, AlignmentLevel level, const Tokenizer *tokenizer);
void alignment_free(Alignment *alignment);
AttentionRow alignment_row(const Alignment *alignment, int row);
/* All weights [rows, columns]: turns the blocks into one, which is large for long lines. */
const float *alignment_matrix(Alignment *alignment);

typedef struct {
    int source, target;
} AlignmentPair;

/* Pairs of words (never </s>), sorted by source, then target: all pairs with a weight of at least
 * `threshold`, or, if it is 0, each target word with the source word of greatest weight. Returns the number
 * of pairs; the caller releases *pairs with mem_free. */
int alignment_pairs(const Alignment *alignment, double threshold, AlignmentPair **pairs);

#endif
