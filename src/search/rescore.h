/* rescore.h - search with models of both directions: left to right, and right to left.
 *
 * Models of one direction are an ensemble: each next token has the mean of their probabilities (scorer.h).
 * Models of different directions can only score finished translations: each direction scores the hypotheses
 * of the other's beam that could be among the n best, or all score given translations. Then log p of a token
 * is the mean over all models; an ensemble counts as often as it has models. Liu et al. 2016, "Agreement on
 * target-bidirectional neural machine translation". The last tokens that a model writes depend on all tokens
 * before them, mistakes included; a model of the other direction begins with these tokens. A model with two
 * decoders (model.decoder.bidirectional) is one model of each direction. The forward models are those with
 * the direction of the first model; with constraints only they search.
 *
 * Shapes  B sentences; sources [models, B], models in the order of the caller
 * Owner   the models must outlive the Rescorer; results as in search.h
 * Threads one Rescorer per thread; the models are shared
 */
#ifndef SEARCH_RESCORE_H
#define SEARCH_RESCORE_H

#include "search/search.h"

/* Does the model write the last token first (model.decoder.right_to_left)? */
bool model_is_right_to_left(const Seq2Seq *model);
/* STATUS_USAGE if it does: `what` needs the beginning of a translation first. */
Status model_require_left_to_right(const Seq2Seq *model, const char *what);

typedef struct Rescorer Rescorer;

/* `left_to_right`: use only the first decoder of models with two. */
Rescorer *rescorer_new(const Seq2Seq *const *models, int count, bool left_to_right);
void rescorer_free(Rescorer *rescorer);
/* The scorer of all models, in the order of the caller, if all write from left to right: then
 * rescorer_search is no more than a search with this scorer. Else NULL. */
Scorer *rescorer_only_scorer(Rescorer *rescorer);
/* As scorer_first_nonfinite, among all models. */
int rescorer_first_nonfinite(const Rescorer *rescorer);

typedef struct {
    const Tokens *sources;
    const Tokens *targets;          /* [B] given translations to score, or NULL: search */
    const Constraints *constraints; /* [B] for models that write from left to right, or NULL */
    int B;
} SearchInput;

/* Searches, or scores the given translations. With options->alternatives each best hypothesis gets the best
 * next tokens at each of its steps. The tokens of results are in reading order, </s> last, for models of both
 * directions. */
void rescorer_search(Rescorer *rescorer, const SearchInput *input, const SearchOptions *options,
                     HypothesisList *results);

#endif
