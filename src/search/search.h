/* search.h - from source sentences to target sentences: greedy, beam and forced.
 *
 * A hypothesis ends with </s>, or where it reaches its maximal length. <pad> and <s> are never chosen, <unk>
 * only if allowed. Between equal scores the lower token id and the better-ranked parent win. What is found
 * for a sentence does not depend on the other sentences of the batch, which share nothing but the matrix
 * products.
 *
 * Shapes  B sentences; sources [models, B] as in scorer_encode; results [B]
 * Units   scores are sums of natural logarithms of probabilities
 * Owner   the caller gives zeroed HypothesisLists and releases each with hypotheses_free
 */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include "search/constraints.h"
#include "search/scorer.h"

typedef struct {
    int *ids; /* [length], without </s> */
    int length;
    int steps;                 /* length + 1 if it ended with </s>, else length */
    double score;              /* log p of all steps */
    double normalized;         /* score / steps^length_penalty */
    int met;                   /* tokens of its guide's constraints that are in it */
    double placement;          /* what is added to the score for where they are: constraints.h */
    float *token_scores;       /* [steps] log p of each token */
    float *attention;          /* [steps, source_length] or NULL */
    ScoredToken *alternatives; /* [steps, alternatives] best first, of forced search; token -1: no more */
} Hypothesis;

typedef struct {
    Hypothesis *items; /* best first */
    int count;
    int source_length; /* tokens with </s>: columns of the attention weights */
} HypothesisList;

void hypotheses_free(HypothesisList *list);
void hypotheses_truncate(HypothesisList *list, int count); /* of the best no more than so many */
/* Puts the best first: those that were cut come last, those with more of their constraints before those with
 * fewer. Constrained ones are compared by log p and placement, the others by `normalized`. Equals stay in
 * their order. */
void hypotheses_rank(HypothesisList *list);
bool hypothesis_is_better(const Hypothesis *a, const Hypothesis *b); /* does a come before b there? */

/* Each step takes the best token. The same as a beam of 1, with less work. `guides` [B]: what translations
 * must be like, but for constraints, which need a beam; or NULL. A prefix may be longer than the maximal
 * length, which then is its length and max_length_extra. */
void greedy_search(Scorer *scorer, const Tokens *sources, const Constraints *constraints, int B,
                   const SearchOptions *options, HypothesisList *results);

/* Given translations: of each of the B sentences one, or as many as `sentence` says. */
typedef struct {
    const Tokens *items;
    int count;
    const int *sentence; /* [count] whose they are, in the order of the sentences; NULL: the i-th's */
} ForcedTargets;

/* Score them: results [count], one hypothesis each. */
void forced_search(Scorer *scorer, const Tokens *sources, int B, const ForcedTargets *targets,
                   const SearchOptions *options, HypothesisList *results);

/* Beam search. Each step extends the hypotheses of a sentence by their best tokens and keeps the best
 * `beam_size` of all; those that end leave the beam, which shrinks by as many. A sentence is done when the
 * beam is empty, or when no hypothesis in it could still rank among the n best: scores only fall, so its best
 * possible rank is score / max_steps^length_penalty, with constraints log p and placement but for what of
 * that may be taken back. Hypotheses that were cut at the maximal length rank after all that ended by
 * themselves. `guides` [B], or NULL: with constraints, too. */
void beam_search(Scorer *scorer, const Tokens *sources, const Constraints *constraints, int B,
                 const SearchOptions *options, HypothesisList *results);

/* The beginning of each: scorer_encode, and the tokens that each sentence has of the shortlists, if the
 * options ask for them; with those of `targets` and of `guides`, which may be NULL. */
void search_begin(Scorer *scorer, const SearchOptions *options, const Tokens *sources, int B,
                  const ForcedTargets *targets, const Constraints *constraints);
int forced_sentence(const ForcedTargets *targets, int i); /* whose the i-th is */

int search_max_steps(const DecodeOptions *options, int source_length);
/* The same for a translation that is guided; `guide` may be NULL. */
int constraints_max_steps(const Constraints *constraints, const DecodeOptions *options, int source_length);
double search_normalize(const DecodeOptions *options, double score, int steps);

#endif
