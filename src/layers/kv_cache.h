/* kv_cache.h - keys and values of earlier steps of self-attention, and which of them belong to which row.
 *
 * What a step made stays where it is. Each row remembers by which row of every step it came, so that a
 * hypothesis is copied, moved or dropped for the price of a few numbers, and rows that share a beginning
 * share its keys and values.
 *
 * Shapes  a step has rows of its own; path[r, t] is the row of step t that row r came by
 * Owner   the lists live on the tape of the call; what a step made, on a tape that outlives all of them
 */
#ifndef LAYERS_KV_CACHE_H
#define LAYERS_KV_CACHE_H

#include "autograd/ops.h"

typedef struct {
    real *keys, *values; /* [rows of the step, size] of one block */
} KvStep;

typedef struct {
    int steps, rows;
    const KvStep *const *step; /* [steps] for each an array of one per block */
    const int *path;           /* [rows, steps] */
} KvCache;

/* Room for one more step of `blocks` blocks, on `tape`. */
KvStep *kv_step_new(Tape *tape, int blocks, int rows, int size);
/* The cache with `now` behind it: row r came by row r of it. */
KvCache kv_cache_append(Tape *tape, const KvCache *cache, const KvStep *now, int rows);
/* Row i becomes what was row index[i]. */
KvCache kv_cache_select(Tape *tape, const KvCache *cache, const int *index, int rows);
/* The keys or values of one block, row after row, each from its first step to its last. */
const real *const *kv_cache_rows(Tape *tape, const KvCache *cache, int block, bool values, int size);
/* Of `rows` rows that look at `steps` of these each. */
const Spans *kv_cache_spans(Tape *tape, int steps, int rows);

#endif
