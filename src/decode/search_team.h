/* search_team.h - search any number of sentences, in groups of equal length, on all threads.
 *
 * Owner   results as in search.h; the team keeps one scorer per thread between calls
 */
#ifndef DECODE_SEARCH_TEAM_H
#define DECODE_SEARCH_TEAM_H

#include "base/workers.h"
#include "decode/search.h"

typedef struct SearchTeam SearchTeam;

/* `models` and `workers` must outlive the team. */
SearchTeam *search_team_new(const Seq2Seq *const *models, int count, Workers *workers);
void search_team_free(SearchTeam *team);
/* At most `group` sentences together. sources [count, models]; targets [count]: score them; NULL: search. */
void search_team_run(SearchTeam *team, const Tokens *sources, const Tokens *targets, int count,
                     const SearchOptions *options, int group, HypothesisList *results);

#endif
