/* repetition.h - hypotheses that repeat themselves.
 *
 * Loops     A hypothesis that repeats a phrase of at most LOOP_PHRASE tokens more than LOOP_MAX times in a
 *           row rarely ends before the length limit. The search ends it without </s>, so that it ranks after
 *           all that ended. The source may repeat, too: as often as it does, the hypothesis may.
 * n-grams   With decode.no_repeat_ngram = n no n-gram of tokens occurs twice in a hypothesis, as with
 *           CTranslate2's no_repeat_ngram_size.
 */
#ifndef SEARCH_REPETITION_H
#define SEARCH_REPETITION_H

#include "search/backpointers.h"

enum {
    LOOP_PHRASE = 16,
    LOOP_MAX = 8,
    LOOP_EVERY = 16 /* steps between two checks of a hypothesis */
};

/* How often a phrase of at most LOOP_PHRASE tokens follows itself; at least 1. */
int tokens_repeats(const int *ids, int count);
/* The repeats that a hypothesis for that source may have. */
int loop_limit(const SearchOptions *options, Tokens source);
/* Does the hypothesis end with more than `limit` repeats of a phrase? Looks at its last `count` tokens, those
 * after a prefix. */
bool hypothesis_loops(const Backpointers *tree, int node, int count, int limit);

/* Tokens that may not come next: buffers for the rows of one step. */
typedef struct {
    int *ids, *tokens;
    size_t ids_count, ids_capacity, tokens_capacity;
} RepeatFilter;

/* Before the rows of a step, hypotheses of `steps` tokens. */
void repeat_filter_begin(RepeatFilter *filter, int rows, int steps);
/* Bans the tokens that complete an n-gram which the hypothesis has; valid until repeat_filter_begin. */
void repeat_filter_ban(RepeatFilter *filter, const Backpointers *tree, int node, int steps, int n,
                       RowChoice *choice);
void repeat_filter_free(RepeatFilter *filter);

#endif
