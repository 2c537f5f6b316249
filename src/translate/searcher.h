/* searcher.h - searches sentences in groups on all threads, or scores their given translations.
 *
 * Sentences are sorted by length and cut into groups. Neither the groups nor the number of threads change
 * any result.
 *
 * Owner   models and workers must outlive the Searcher; release each result with hypotheses_free
 * Threads one call at a time
 */
#ifndef TRANSLATE_SEARCHER_H
#define TRANSLATE_SEARCHER_H

#include "translate/translator.h"

typedef struct {
    const Tokens *sources;          /* [total, models] */
    const Tokens *targets;          /* [total] given translations, or NULL */
    const Constraints *constraints; /* [total], or NULL */
    int models, total;
    const SearchOptions *search; /* NULL: the translator's; at most a whole beam is returned */
} Sentences;

typedef struct Searcher Searcher;

/* Of `options` it uses search and progress. */
Searcher *searcher_new(const Seq2Seq *const *models, int count, const TranslatorOptions *options,
                       Workers *workers);
void searcher_free(Searcher *searcher); /* NULL is allowed */
/* As translator_first_nonfinite. */
int searcher_first_nonfinite(const Searcher *searcher);
/* Writes results [sentences->total]. */
void searcher_run(Searcher *searcher, const Sentences *sentences, HypothesisList *results);

#endif
