/* scorer.h - probabilities of the next token, from one model or from several that vote.
 *
 * An ensemble's probability is the mean of its models' probabilities (as in Sutskever et al. 2014, section
 * 3.6). Its models may cut the source text into different tokens, but they share one target vocabulary.
 * Attention is the first model's.
 *
 *     scorer_encode(scorer, sources, B);
 *     ScorerStep step = scorer_step(scorer, options, row_sentence, tokens, NULL, rows);
 *     scorer_select(scorer, index, rows);
 *
 * A step for each target token; in between rows that move or vanish are selected.
 *
 * Shapes  rows are hypotheses, each belonging to one sentence; after scorer_encode row b is sentence b
 * Owner   what scorer_step returns is valid until the next call of scorer_step or scorer_encode
 * Threads one scorer per thread; the models are read-only and shared
 */
#ifndef SEARCH_SCORER_H
#define SEARCH_SCORER_H

#include "base/status.h"
#include "models/seq2seq.h"

typedef struct Backpointers Backpointers; /* search/backpointers.h */

/* What the configuration says, and what the caller wants to know. */
typedef struct {
    DecodeOptions decode;
    int n_best;             /* hypotheses returned per sentence, at most decode.beam_size */
    int shortlist;          /* of each of the models' lists so many tokens may be chosen; 0: all tokens */
    int alternatives;       /* the best next tokens at each step of given translations; 0: not wanted */
    bool tokens_only;       /* of greedy search no scores are wanted: they are 0, and cost nothing */
    bool attention;         /* keep attention weights ... */
    AttentionChoice choice; /* ... these of them */
    Backpointers *tree;     /* an empty one that takes all that the search of one sentence kept and, of each
                               step of a beam, the best SEARCH_PRUNED that it did not; or NULL */
} SearchOptions;

enum { SEARCH_PRUNED = 3 };

typedef struct {
    int token;
    double log_p; /* of the token, given the source and the hypothesis of the row */
} ScoredToken;

/* What is wanted of one row: the best `top` tokens among those that are allowed, or the best and then the
 * given ones whatever they are. */
typedef struct {
    int top;
    const bool *allowed; /* [V]; NULL: all, and only then may there be given ones */
    const int *given;
    int given_count;
} RowChoice;

typedef struct {
    int rows, top;
    const ScoredToken *tokens;  /* [rows, top] best first; equal ones by id, <unk> and </s> before words */
    const int *count;           /* [rows] how many: fewer than wanted only if there are not so many numbers */
    AttentionWeights attention; /* only if asked for */
} ScorerStep;

typedef struct Scorer Scorer;

/* Can these models vote? STATUS_USAGE if their target vocabularies differ. */
Status scorer_check(const Seq2Seq *const *models, int count);
/* `backwards`: they write from right to left. */
Scorer *scorer_new(const Seq2Seq *const *models, int count, bool right_to_left);
void scorer_free(Scorer *scorer);
/* sources [models, B]: the same sentences as tokens of each model. */
void scorer_encode(Scorer *scorer, const Tokens *sources, int B);
/* The tokens that the next sentence, from the first on, has: `allowed` [V], the special ones among them. Its
 * translations have no others, and probabilities are shared among them alone. For none or each of them; the
 * models have shortlists. */
void scorer_allow(Scorer *scorer, const bool *allowed);
const Seq2Seq *scorer_model(const Scorer *scorer, int m); /* NULL after the last */
/* tokens[r]: the last token of row r, VOCAB_BOS at first. `choices` [rows]; NULL: the best beam_size tokens
 * of each row, and those that a tree is to have besides. */
ScorerStep scorer_step(Scorer *scorer, const SearchOptions *options, const int *row_sentence,
                       const int *tokens, const RowChoice *choices, int rows);
/* Row i of the state becomes what was row index[i]. */
void scorer_select(Scorer *scorer, const int *index, int rows);
/* The first model some of whose scores were not finite since scorer_new; -1: there is none. What a search
 * finds with such scores means nothing. */
int scorer_first_nonfinite(const Scorer *scorer);

#endif
