/* translation.h - the translation of a line of text.
 *
 * If a line is cut into chunks, the translations of its chunks are joined: their tokens follow each other,
 * with the </s> of the last one only. Attention weights stay in blocks, one for each chunk, which lie along
 * the diagonal of the line's matrix. The matrix of a long line would have hundreds of times as many weights.
 *
 * Owner   the caller releases a Translation with translation_free
 */
#ifndef POSTPROCESS_TRANSLATION_H
#define POSTPROCESS_TRANSLATION_H

#include "search/search.h"
#include "postprocess/marked_chunks.h"
#include "postprocess/memory.h"

/* The attention weights of one chunk. */
typedef struct {
    int row, column;      /* of its first weight in the line's matrix */
    int columns;          /* source tokens of the chunk; the last chunk has </s>, too */
    const float *weights; /* [rows, columns] */
} AttentionBlock;

/* The weights of one step for source tokens `first` to first + count - 1, where </s> follows the last token.
 * The weights of all other tokens are 0. */
typedef struct {
    const float *weights; /* [count] */
    int first, count;
} AttentionRow;

/* What is probably wrong with a translation; problems.h describes and names them. */
enum { PROBLEM_EMPTY, PROBLEM_REPETITION, PROBLEM_LENGTH, PROBLEM_KINDS };
enum { PROBLEM_REPEATS = 4 };

/* One candidate. */
typedef struct {
    StrBuf text;
    int *ids; /* [length] */
    int length;
    int steps;                 /* length + 1 if the last chunk ended with </s>, else length */
    double score, normalized;  /* as in hypothesis.h, over all chunks */
    float *token_scores;       /* [steps] */
    AttentionBlock *attention; /* [blocks] one for each chunk, in order; NULL without options.attention */
    int blocks;
    ScoredToken *alternatives; /* [steps, alternatives] as in hypothesis.h; only of the best item */
    int *word;                 /* [length] number of the word that the token belongs to */
    int words;
    bool problems[PROBLEM_KINDS];
} TranslationItem;

typedef struct {
    int *source; /* [source_length] ids of the first model, without </s> */
    int source_length;
    int *source_word; /* [source_length] number of the word that the token belongs to */
    int source_words;
    int alternatives;       /* at each step of the best item */
    StrList source_unknown; /* texts of the <unk>s in `source`, in their order */
    StrList copied;         /* words of the source that the first model cannot spell */
    StrList target_unknown; /* texts of the <unk>s in the given translation, or in the prefix */
    int chunks;             /* 0: nothing to translate */
    StrBuf pivot;           /* the text that the models read, with options.pivot; otherwise empty */
    TranslationItem *items; /* best first, at least one */
    int count;
    bool from_memory;                           /* all of the text is the memory's */
    MemoryMatch match;                          /* in the translation memory */
    StrList constraints_met, constraints_unmet; /* by the best item; see translator.h */
} Translation;

void translation_free(Translation *translation);
/* Row t of blocks [count]. */
AttentionRow attention_row(const AttentionBlock *blocks, int count, int t);
/* Of step t of an item that has attention. */
AttentionRow translation_attention(const TranslationItem *item, int t);
/* Appends the text of one hypothesis. Line ends and form feeds become spaces, even if the vocabulary contains
 * them: a translation is one line. `unknown`: texts of the first <unk>s, or NULL. */
void translation_text(const Tokenizer *target, const Hypothesis *hypothesis, const StrList *unknown,
                      StrBuf *text);
/* Keeps the first item of each text (items of the same text differ in their tokens), and at most `most`
 * items. */
void translation_keep_different(Translation *translation, int most);

/* The chunks of a line with their hypotheses. */
typedef struct {
    const Seq2Seq *model;  /* the first one */
    const Tokens *sources; /* [chunks, models]; only the first model's tokens are used */
    int models, alternatives;
    const HypothesisList *results; /* [chunks] */
    const bool *capitals;          /* [chunks] translations in capitals */
    int chunks;
    const MarkedChunk *marked; /* [chunks] chunks with markup have their outputs as texts; or NULL */
    const StrList *unknown;    /* texts of the <unk>s in the first chunk's prefix */
    const StrView
        *gaps; /* [chunks + 1] text before, between and after the chunks; NULL: spaces between them */
} ChunkResults;

/* A line without chunks gives one item with no text but its gap. A gap of one space, or of nothing, as
 * between Chinese sentences, becomes nothing after Chinese or Japanese, else a space. */
void translation_join(Translation *out, const ChunkResults *line, const DecodeOptions *options);

#endif
