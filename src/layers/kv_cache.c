/* kv_cache.c - see kv_cache.h. */
#include "layers/kv_cache.h"

KvStep *kv_step_new(Tape *tape, int blocks, int rows, int size) {
    size_t numbers = (size_t)rows * (size_t)size;
    KvStep *step = tape_alloc(tape, (size_t)blocks * sizeof *step);
    for (int b = 0; b < blocks; b++) {
        step[b].keys = tape_alloc(tape, 2 * numbers * sizeof(real));
        step[b].values = step[b].keys + numbers;
    }
    return step;
}

/* A cache of `steps` steps that begins with those of `from`. The caller fills the path, and later steps. */
static KvCache cache_new(Tape *tape, const KvCache *from, int steps, int rows, int **path) {
    const KvStep **list = tape_alloc(tape, (size_t)steps * sizeof *list);
    *path = tape_alloc(tape, (size_t)rows * (size_t)steps * sizeof **path);
    for (int t = 0; t < from->steps; t++) list[t] = from->step[t];
    return (KvCache){.steps = steps, .rows = rows, .step = list, .path = *path};
}

KvCache kv_cache_append(Tape *tape, const KvCache *cache, const KvStep *now, int rows) {
    int *path, steps = cache->steps;
    KvCache longer = cache_new(tape, cache, steps + 1, rows, &path);
    ((const KvStep **)longer.step)[steps] = now;
    for (int r = 0; r < rows; r++) {
        for (int t = 0; t < steps; t++) *path++ = cache->path[r * steps + t];
        *path++ = r;
    }
    return longer;
}

KvCache kv_cache_select(Tape *tape, const KvCache *cache, const int *index, int rows) {
    int *path, steps = cache->steps;
    KvCache selected = cache_new(tape, cache, steps, rows, &path);
    for (int r = 0; r < rows; r++, path += steps)
        for (int t = 0; t < steps; t++) path[t] = cache->path[index[r] * steps + t];
    return selected;
}

const real *const *kv_cache_rows(Tape *tape, const KvCache *cache, int block, bool values, int size) {
    int steps = cache->steps, total = cache->rows * steps;
    const real **base = tape_alloc(tape, (size_t)steps * sizeof *base),
               **row = tape_alloc(tape, (size_t)total * sizeof *row);
    for (int t = 0; t < steps; t++)
        base[t] = values ? cache->step[t][block].values : cache->step[t][block].keys;
    for (int r = 0, i = 0; r < cache->rows; r++)
        for (int t = 0; t < steps; t++, i++) row[i] = base[t] + (size_t)cache->path[i] * (size_t)size;
    return row;
}

const Spans *kv_cache_spans(Tape *tape, int steps, int rows) {
    int *first = tape_alloc(tape, 2 * (size_t)rows * sizeof *first), *length = first + rows;
    for (int r = 0; r < rows; r++) {
        first[r] = r * steps;
        length[r] = steps;
    }
    return spans_new(tape, first, length, rows);
}
