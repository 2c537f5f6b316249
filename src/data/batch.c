/* batch.c - see batch.h. */
#include "data/batch.h"

#include <assert.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/rng.h"

enum { STREAM_PAIRS = 1, STREAM_BATCHES = 2 }; /* third part of the random key */

typedef struct {
    int pair, source, target; /* lengths */
    int rank;                 /* position in the shuffled order: breaks ties */
} Item;

static int shorter_first(const void *a, const void *b) {
    const Item *p = a, *q = b;
    if (p->target != q->target) return p->target < q->target ? -1 : 1;
    if (p->source != q->source) return p->source < q->source ? -1 : 1;
    return p->rank < q->rank ? -1 : 1;
}

static int longer_first(const void *a, const void *b) { return shorter_first(b, a); }

/* The size of one pair, in units of the batch. */
static int cost(const Item *item, BatchUnit unit) { return unit == BATCH_TOKENS ? item->target + 1 : 1; }

enum { TASK_ITEMS = 1 << 16 };

typedef struct {
    const Corpus *corpus;
    const int *order;
    Item *items;
} ItemFill;

/* Random reads of lengths are bound by memory latency, so all threads read at once. */
static void fill_items(void *context, int task, int thread) {
    const ItemFill *fill = context;
    const Corpus *corpus = fill->corpus;
    int first = task * TASK_ITEMS, remaining = corpus->count - first;
    (void)thread;
    for (int i = first; i < first + (remaining < TASK_ITEMS ? remaining : TASK_ITEMS); i++) {
        int pair = fill->order[i];
        fill->items[i] =
            (Item){pair, corpus_source_length(corpus, pair), corpus_target_length(corpus, pair), i};
    }
}

static Item *shuffled_items(const Corpus *corpus, uint64_t seed, int epoch, Workers *workers) {
    int *order = mem_alloc((size_t)corpus->count + 1, sizeof *order);
    for (int i = 0; i < corpus->count; i++) order[i] = i;
    Rng rng = rng_new(rng_key(seed, (uint64_t)epoch, STREAM_PAIRS, 0));
    rng_shuffle(&rng, order, (size_t)corpus->count);
    ItemFill fill = {corpus, order, mem_alloc((size_t)corpus->count + 1, sizeof *fill.items)};
    workers_run(workers, (int)(((unsigned)corpus->count + TASK_ITEMS - 1) / TASK_ITEMS), fill_items, &fill);
    mem_free(order);
    return fill.items;
}

typedef struct {
    Item *items;
    int *start; /* [windows + 1] */
} Windows;

/* Every other window is sorted downwards, so that lengths are similar where two windows share a batch. */
static void sort_window(void *context, int task, int thread) {
    const Windows *windows = context;
    const int *start = windows->start + task;
    (void)thread;
    qsort(windows->items + start[0], (size_t)(start[1] - start[0]), sizeof *windows->items,
          task % 2 ? longer_first : shorter_first);
}

static void sort_windows(Item *items, int count, BatchUnit unit, long long window_cost, Workers *workers) {
    Windows windows = {items, NULL};
    size_t capacity = 0;
    int window_count = 0;
    for (int start = 0, end; start < count; start = end) {
        long long sum = 0;
        for (end = start; end < count && (end == start || sum + cost(&items[end], unit) <= window_cost);
             end++)
            sum += cost(&items[end], unit);
        MEM_GROW(windows.start, capacity, (size_t)window_count + 2);
        windows.start[window_count++] = start;
        windows.start[window_count] = end;
    }
    workers_run(workers, window_count, sort_window, &windows);
    mem_free(windows.start);
}

/* Cuts the sorted items into batches: sets plan->start and plan->count. */
static void cut_batches(BatchPlan *plan, const Item *items, int count, BatchUnit unit, int size) {
    size_t capacity = 0;
    long long sum = 0;
    for (int i = 0; i < count; i++) {
        int need = cost(&items[i], unit);
        if (i == 0 || sum + need > size) {
            MEM_GROW(plan->start, capacity, (size_t)plan->count + 2);
            plan->start[plan->count++] = i;
            sum = 0;
        }
        sum += need;
    }
    if (!plan->start) plan->start = mem_alloc(1, sizeof *plan->start);
    plan->start[plan->count] = count;
}

static void shuffle_batches(BatchPlan *plan, const Item *items, int count, uint64_t seed, int epoch) {
    int *order = mem_alloc((size_t)plan->count + 1, sizeof *order);
    int *start = mem_alloc((size_t)plan->count + 1, sizeof *start);
    for (int i = 0; i < plan->count; i++) order[i] = i;
    Rng rng = rng_new(rng_key(seed, (uint64_t)epoch, STREAM_BATCHES, 0));
    rng_shuffle(&rng, order, (size_t)plan->count);
    int filled = 0;
    for (int i = 0; i < plan->count; i++) {
        start[i] = filled;
        for (int at = plan->start[order[i]]; at < plan->start[order[i] + 1]; at++)
            plan->pairs[filled++] = items[at].pair;
    }
    start[plan->count] = filled;
    assert(filled == count);
    (void)count;
    mem_free(order);
    mem_free(plan->start);
    plan->start = start;
}

BatchPlan *batch_plan_new(const Corpus *corpus, BatchUnit unit, int size, int window, uint64_t seed,
                          int epoch, Workers *workers) {
    assert(size > 0);
    BatchPlan *plan = mem_alloc(1, sizeof *plan);
    plan->pairs = mem_alloc((size_t)corpus->count + 1, sizeof *plan->pairs);
    Item *items = shuffled_items(corpus, seed, epoch, workers);
    sort_windows(items, corpus->count, unit, (long long)size * (window > 1 ? window : 1), workers);
    cut_batches(plan, items, corpus->count, unit, size);
    shuffle_batches(plan, items, corpus->count, seed, epoch);
    mem_free(items);
    return plan;
}

void batch_plan_free(BatchPlan *plan) {
    if (!plan) return;
    mem_free(plan->start);
    mem_free(plan->pairs);
    mem_free(plan);
}
