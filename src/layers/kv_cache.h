/* kv_cache.h - the key/value cache of self-attention: keys and values of earlier steps, and the path of
 * each row through them.
 *
 * The keys and values of a step are never moved. Each row has a path, its ancestor row at every step. So
 * copying, moving or dropping a hypothesis costs a few numbers, and hypotheses with a common beginning
 * share its keys and values.
 *
 * Shapes  each step has its own number of rows; path[r, t] is the row of step t that is the ancestor of row
 *         r
 * Owner   the lists live on the tape of the call; keys and values live on a tape that outlives all calls
 */
#ifndef LAYERS_KV_CACHE_H
#define LAYERS_KV_CACHE_H

#include "autograd/ops.h"

typedef struct {
    real *keys, *values; /* [rows of the step, size] of one Transformer block */
} KvStep;

typedef struct {
    int steps, rows;
    const KvStep *const *step; /* [steps][blocks] */
    const int *path;           /* [rows, steps] */
} KvCache;

/* Memory for the keys and values of one more step of `blocks` blocks, on `tape`. */
KvStep *kv_step_new(Tape *tape, int blocks, int rows, int size);
/* The cache with `now` appended: the path of row r ends with row r of `now`. */
KvCache kv_cache_append(Tape *tape, const KvCache *cache, const KvStep *now, int rows);
/* A cache whose row i is row index[i] of `cache`. */
KvCache kv_cache_select(Tape *tape, const KvCache *cache, const int *index, int rows);
/* Pointers to the keys or values of one block [rows, steps]: each row's path from the first step to the
 * last. */
const real *const *kv_cache_rows(Tape *tape, const KvCache *cache, int block, bool values, int size);
/* The spans of `rows` rows that attend to `steps` of these pointers each. */
const Spans *kv_cache_spans(Tape *tape, int steps, int rows);

#endif
