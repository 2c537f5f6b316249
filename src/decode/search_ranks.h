/* search_ranks.h - sentences that are dealt over ranks (base/comm.h) to be searched, and what they find.
 *
 * Rank 0 has the sentences and gets the results; the others search what they are given. What is found for a
 * sentence does not depend on who searches it.
 */
#ifndef DECODE_SEARCH_RANKS_H
#define DECODE_SEARCH_RANKS_H

#include "decode/search.h"

typedef struct {
    const Tokens *sources; /* [total, models] */
    const Tokens *targets; /* [total] given translations, or NULL */
    const Guide *guides;   /* [total], or NULL */
    int models, total;
} Sentences;

/* Search them here: results [total]. What it returns is for the caller of search_ranks. */
typedef int (*SearchHere)(void *context, const Sentences *sentences, HypothesisList *results);

/* Rank 0: search them together. Returns the greatest number that any rank's search returned.
 * `alternatives`: as many at each step. */
int search_ranks(const Sentences *sentences, int alternatives, SearchHere search, void *context,
                 HypothesisList *results);
/* All other ranks: take part in each search_ranks of rank 0, until it calls search_ranks_end. `target`: of
 * the guides. */
void search_ranks_help(int models, const Segmenter *target, int alternatives, SearchHere search,
                       void *context);
void search_ranks_end(void);

/* Rank r has found those of every comm_size()-th sentence from the r-th on. Afterwards rank 0 has all. */
void search_ranks_collect(HypothesisList *found, int count, int alternatives);

#endif
