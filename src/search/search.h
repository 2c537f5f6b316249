/* search.h - from source sentences to target sentences: greedy, beam and forced.
 *
 * A hypothesis ends with </s>, at the maximal length, or when it loops (repetition.h). The search never
 * chooses <pad> and <s>, and <unk> only if decode.allow_unk. Between equal scores the lower token id and the
 * better-ranked parent win. The result of a sentence does not depend on the other sentences of the batch,
 * which share only the matrix products.
 *
 * Shapes  B sentences; sources [models, B] as in scorer_begin; results [B]
 * Units   scores are sums of natural logarithms of probabilities
 * Owner   the caller passes zeroed HypothesisLists and releases each with hypotheses_free
 */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include "search/constraints.h"
#include "search/hypothesis.h"
#include "search/scorer.h"

/* Each step takes the best token: a beam of 1 with less work. `constraints` [B], or NULL: prefixes; phrases
 * need a beam. */
void greedy_search(Scorer *scorer, const Tokens *sources, const Constraints *constraints, int B,
                   const SearchOptions *options, HypothesisList *results);

/* Scores given translations: results [targets->count], one hypothesis each. */
void forced_search(Scorer *scorer, const Tokens *sources, int B, const ForcedTargets *targets,
                   const SearchOptions *options, HypothesisList *results);

/* Adds the options->alternatives best next tokens at each step to the best hypothesis of each sentence:
 * follows it once more. */
void search_add_alternatives(Scorer *scorer, const Tokens *sources, int B, const SearchOptions *options,
                             HypothesisList *results);

/* Beam search. Each step extends the hypotheses of a sentence by their best tokens and keeps the best
 * `beam_size` of all; each hypothesis that ends leaves the beam and makes it smaller by one. The search of a
 * sentence ends when the beam is empty, or when no hypothesis in it can still become one of the n best: log p
 * only falls, so the best possible rank is score / max_steps^length_penalty; with phrases, log p and the
 * attention score without the part that may be taken back. Hypotheses at the maximal length without </s> rank
 * after all that ended. `constraints` [B], or NULL: prefixes and phrases.
 *
 * decode.early_stopping other than STOP_NARROW follows another program. Hypotheses at the maximal length
 * rank like those that ended. STOP_MARIAN changes nothing else. With STOP_TRANSFORMERS and STOP_CTRANSLATE2
 * the beam keeps its width if there are no constraints: of the candidates of a step, those </s> that are
 * among the best `beam_size` end, and the best `beam_size` others go on. The search of a sentence ends when
 * `beam_size` hypotheses have ended; with STOP_TRANSFORMERS only if also no growing score /
 * steps^length_penalty is above the worst of the best `beam_size` that ended. */
void beam_search(Scorer *scorer, const Tokens *sources, const Constraints *constraints, int B,
                 const SearchOptions *options, HypothesisList *results);

#endif
