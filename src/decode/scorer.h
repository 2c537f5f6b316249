/* scorer.h - probabilities of the next token, from one model or from several that vote.
 *
 * An ensemble's probability is the mean of its models' probabilities (as in Sutskever et al. 2014, section
 * 3.6). Its models may cut the source text into different tokens, but they share one target vocabulary.
 * Attention is the first model's.
 *
 *     scorer_encode(scorer, sources, B);
 *     ScorerStep step = scorer_step(scorer, row_sentence, tokens, rows, &wish);     again and again, with
 *     scorer_select(scorer, index, rows);                                     in between when rows move or
 *                                                                             vanish
 *
 * Shapes  rows are hypotheses, each belonging to one sentence; after scorer_encode row b is sentence b
 * Owner   what scorer_step returns is valid until the next call of scorer_step or scorer_encode
 * Threads one scorer per thread; the models are read-only and shared
 */
#ifndef DECODE_SCORER_H
#define DECODE_SCORER_H

#include "base/status.h"
#include "models/seq2seq.h"

/* What a search wants to know about the next token of each row. */
typedef struct {
    int top;                          /* the so many most probable tokens that may be chosen; at least 1 */
    bool allow_unk;                   /* <unk> may be */
    const int *given;                 /* [rows] only this token of each row instead, or NULL */
    bool scores;                      /* log p of the tokens, too; else 0 */
    const AttentionChoice *attention; /* which weights, or NULL */
} ScorerWish;

typedef struct {
    int token;
    double log_p; /* of the token, given the source and the hypothesis of the row */
} ScoredToken;

typedef struct {
    int rows, top;
    const ScoredToken *tokens;  /* [rows, top] best first; equal ones by id, <unk> and </s> before words */
    const int *count;           /* [rows] how many: fewer than `top` only if there are not so many numbers */
    AttentionWeights attention; /* only if asked for */
} ScorerStep;

typedef struct Scorer Scorer;

/* Can these models vote? STATUS_USAGE if their target vocabularies differ. */
Status scorer_check(const Seq2Seq *const *models, int count);
Scorer *scorer_new(const Seq2Seq *const *models, int count);
void scorer_free(Scorer *scorer);
/* sources [models, B]: the same sentences as tokens of each model. */
void scorer_encode(Scorer *scorer, const Tokens *sources, int B);
/* tokens[r]: the last token of row r, VOCAB_BOS at first. */
ScorerStep scorer_step(Scorer *scorer, const int *row_sentence, const int *tokens, int rows,
                       const ScorerWish *wish);
/* Row i of the state becomes what was row index[i]. */
void scorer_select(Scorer *scorer, const int *index, int rows);

#endif
