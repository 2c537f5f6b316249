/* translation.h - what a line of text was translated into.
 *
 * Where a line was cut, the translations of its pieces are joined: tokens one after the other, the </s> of
 * all but the last left out. Attention stays in blocks, which would lie along the diagonal of the whole
 * line's matrix: of long lines that has hundreds of times as many weights.
 *
 * Owner   whoever has a Translation releases it with translation_free
 */
#ifndef TRANSLATE_TRANSLATION_H
#define TRANSLATE_TRANSLATION_H

#include "search/search.h"

/* What one piece pays attention to. */
typedef struct {
    int row, column;      /* of its first weight in the whole line's matrix */
    int columns;          /* tokens of the piece, of the last one with </s> */
    const float *weights; /* [rows, columns] */
} AttentionBlock;

/* Weights of one step for source tokens `first` to first + count - 1, where </s> is behind the last one;
 * those of all others are 0. */
typedef struct {
    const float *weights; /* [count] */
    int first, count;
} AttentionRow;

/* One candidate. */
typedef struct {
    StrBuf text;
    int *ids; /* [length] */
    int length;
    int steps;                 /* length + 1 if the last piece ended with </s>, else length */
    double score, normalized;  /* as in search.h, over all pieces */
    float *token_scores;       /* [steps] */
    AttentionBlock *attention; /* [blocks] one for each piece, in order; NULL unless asked for */
    int blocks;
    ScoredToken *alternatives; /* [steps, alternatives] best first, token -1: no more; of the best item */
    int *word;                 /* [length] number of the word that the token belongs to */
    int words;
} TranslationItem;

typedef struct {
    int *source; /* [source_length] ids of the first model, without </s> */
    int source_length;
    int *source_word; /* [source_length] number of the word that the token belongs to */
    int source_words;
    int alternatives;       /* at each step of the best item */
    StrList source_unknown; /* text of the <unk>s in `source`, in their order */
    StrList target_unknown; /* of those in a given translation, or in its given prefix */
    int pieces;             /* 0: nothing to translate */
    TranslationItem *items; /* best first, at least one */
    int count;
    StrList constraints_met, constraints_unmet; /* by the best one; see translator.h */
} Translation;

void translation_free(Translation *translation);
/* Row t of blocks [count]. */
AttentionRow attention_row(const AttentionBlock *blocks, int count, int t);
/* Of step t of an item that has attention. */
AttentionRow translation_attention(const TranslationItem *item, int t);
/* Of items of one text, which differ in how it is cut into tokens, only the first stays; of all no more than
 * `most`. */
void translation_keep_different(Translation *translation, int most);

/* The pieces of a line with what was found for them. */
typedef struct {
    const Seq2Seq *model;  /* the first one: whose tokens these are */
    const Tokens *sources; /* [pieces, models]: of each piece the first counts */
    int models, alternatives;
    const HypothesisList *results; /* [pieces] */
    int pieces;
    const StrList *unknown; /* text of the <unk>s that the first piece was given */
    const StrView *gaps; /* [pieces + 1] text before, between and behind the pieces; NULL: spaces between */
} ChunkResults;

/* No pieces give one item, empty but for its gap. A single space between two pieces, or nothing, as
 * between Chinese sentences, becomes what the translation wants: nothing behind Chinese or Japanese, else a
 * space. */
void translation_join(Translation *out, const ChunkResults *found, const DecodeOptions *options);

#endif
