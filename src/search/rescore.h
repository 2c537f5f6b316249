/* rescore.h - models that translate together: some write from left to right, others from right to left.
 *
 * Models of one direction vote on each next token (scorer.h). Those of different directions can only vote on
 * translations that are finished: on what the beams of both hold and could be among the n best, or on given
 * ones. log p of a token is the mean over all models then, where an ensemble's counts as often as it has
 * models. Liu et al. 2016, "Agreement on target-bidirectional neural machine translation". What a model
 * writes last rests on all that it wrote before, mistakes included; the others begin there. A model of two
 * decoders (model.decoder.bidirectional) is one of each kind. Where a translation shall begin with something,
 * or have something in it, only models of the first one's direction search.
 *
 * Shapes  B sentences; sources [models, B], models in the order in which they were given
 * Owner   the models must outlive the voters; results as in search.h
 * Threads one for each thread; the models are shared
 */
#ifndef SEARCH_RESCORE_H
#define SEARCH_RESCORE_H

#include "search/search.h"

/* Does the model write the last token first (model.decoder.right_to_left)? */
bool model_is_right_to_left(const Seq2Seq *model);
/* STATUS_USAGE if it does: `what` needs to see the beginning first. */
Status model_require_left_to_right(const Seq2Seq *model, const char *what);

typedef struct Rescorer Rescorer;

/* `left_to_right`: of two decoders of a model, only the first one writes. */
Rescorer *rescorer_new(const Seq2Seq *const *models, int count, bool left_to_right);
void rescorer_free(Rescorer *rescorer);
/* As scorer_first_nonfinite, among all models. */
int rescorer_first_nonfinite(const Rescorer *rescorer);

/* What is looked for. */
typedef struct {
    const Tokens *sources;
    const Tokens *targets;          /* [B] given translations, or NULL */
    const Constraints *constraints; /* [B] for models that write from left to right, or NULL */
    int B;
} SearchInput;

/* Search, or score the given translations; with options->alternatives what else could have come at each step
 * of the best. Tokens are in the order of reading, </s> the last step, whoever wrote them. */
void rescorer_search(Rescorer *rescorer, const SearchInput *sentences, const SearchOptions *options,
                     HypothesisList *results);

#endif
