/* shards.c - dealing out a batch, and running each part on its own tape. */
#include "train/shards.h"

#include <stdlib.h>
#include "distributed/comm.h"
#include "base/mem.h"
#include "autograd/gradients.h"
#include "autograd/tapes.h"

/* Rows are source and target tokens, with both </s>. */
enum {
    SHARD_ROWS = 1000,    /* of a shard, about */
    ROWS_TOGETHER = 1000, /* of short tapes in memory at once, unless that is too little work for threads */
    JOINED = 16,          /* short tapes whose weight gradients are one product, in memory at once */
    SHARDS_MOST = 8,      /* of a batch */
    SHORT_ROWS = 60,      /* of a short tape, about, */
    SHORT_SENTENCES = 2,  /* and at least so many: steps of fewer sentences are slow */
    PARTS_LEAST = 8,      /* of a batch, if it has enough sentences */
    PARTS_MOST = 128,     /* of a batch, unless their rows become too many */
};

/* One short tape: a part of a shard. */
typedef struct {
    int batch, leaf;
    int number, of; /* of the short tapes of its batch */
    int place;      /* among those of its leaf */
    long rows;      /* on average of those */
    BatchLoss loss;
} Run;

struct Shards {
    const Seq2Seq *model;
    const Corpus *corpus;
    Workers *workers;
    int threads; /* for which short tapes go together */
    SumTree *sum;
    Tape **tape; /* per thread */
    /* of the update being run */
    const ShardBatch *batches; /* [batch_count], each longest sentences first */
    int batch_count;
    double label_smoothing, scale;
    Run *runs; /* [run_count], shard after shard */
    size_t run_count, run_capacity;
    size_t first_run, end_run; /* those that are in memory together, */
    int groups;                /* dealt to so many tasks */
    Tape *run_tape;            /* [tape_count], of those, each on the memory of the thread that runs it */
    size_t tape_count, tape_capacity;
    Gradients **gradients; /* [leaf_count], and the blocks they are added to, of the leaves of those */
    real **block;
    size_t leaf_count, leaf_capacity, block_capacity;
    int first_leaf;
};

Shards *shards_new(const Seq2Seq *model, const Corpus *corpus, Workers *workers) {
    Shards *s = mem_alloc(1, sizeof *s);
    *s = (Shards){.model = model, .corpus = corpus, .workers = workers};
    s->threads = workers_count(workers);
    s->sum = sum_tree_new(seq2seq_params(model)->size);
    s->tape = mem_alloc((size_t)workers_count(workers), sizeof *s->tape);
    for (int i = 0; i < workers_count(workers); i++) s->tape[i] = tape_new(seq2seq_params(model), true);
    return s;
}

void shards_free(Shards *s) {
    if (!s) return;
    for (int i = 0; i < workers_count(s->workers); i++) tape_free(s->tape[i]);
    for (size_t i = 0; i < s->tape_count; i++) tape_deferred_free(&s->run_tape[i]);
    for (size_t i = 0; i < s->leaf_count; i++) gradients_free(s->gradients[i]);
    mem_free(s->gradients);
    mem_free(s->block);
    mem_free(s->run_tape);
    mem_free(s->runs);
    mem_free(s->tape);
    sum_tree_free(s->sum);
    mem_free(s);
}

SumRest shards_gradients(Shards *s) { return sum_tree_rest(s->sum); }

void batch_loss_add(BatchLoss *sum, BatchLoss part) {
    sum->loss += part.loss;
    sum->likelihood += part.likelihood;
    sum->tokens += part.tokens;
}

/* With both </s>. */
static int rows_of(const Corpus *corpus, int pair) {
    return corpus_source_length(corpus, pair) + corpus_target_length(corpus, pair) + 2;
}

TrainingBatch shard_batch(Tape *tape, const Corpus *corpus, const int *pairs, int count,
                          uint64_t seed_update) {
    size_t n = (size_t)count;
    Tokens *source = tape_alloc(tape, n * sizeof *source), *target = tape_alloc(tape, n * sizeof *target);
    uint32_t *sentence = tape_alloc(tape, n * sizeof *sentence);
    for (int i = 0; i < count; i++) {
        size_t tokens = (size_t)rows_of(corpus, pairs[i]);
        int *ids = tape_alloc(tape, tokens * sizeof *ids);
        source[i] = corpus_source(corpus, pairs[i], ids);
        target[i] = corpus_target(corpus, pairs[i], ids + source[i].length);
        sentence[i] = (uint32_t)pairs[i];
    }
    return (TrainingBatch){count, source, target, sentence, seed_update};
}

/* ---- sentences ----------------------------------------------------------------------------------------- */

/* What is dealt in this round, if there and back again: to hands 0 1 2 2 1 0 0 1 ... */
static int dealt(int round, int hands, int hand) {
    return round * hands + (round % 2 ? hands - 1 - hand : hand);
}

/* The pairs of a batch that a shard gets. */
static int deal(const ShardBatch *batch, int shards, int shard, int *hand) {
    int count = 0;
    for (int round = 0; round * shards < batch->count; round++) {
        int i = dealt(round, shards, shard);
        if (i < batch->count) hand[count++] = batch->pairs[i];
    }
    return count;
}

/* ---- parts --------------------------------------------------------------------------------------------- */

static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }
static int quotient_up(int a, int b) { return (a + b - 1) / b; }
/* Powers of two, which is mostly how many threads and ranks share the work: the largest that is not above n,
 * or 1; and one that is near n. */
static int power_below(int n) {
    int power = 1;
    while (power <= n / 2) power *= 2;
    return power;
}
static int power_near(int n) { return power_below(n + n / 3); }

ShardPlan shards_plan(int sentences, long rows) {
    int n = (int)(rows < 1 ? 1 : rows < 1 << 30 ? rows : 1 << 30);
    int shards = n > SHARD_ROWS && sentences > 1 ? 2 : 1;
    /* Of 1,500 rows at most, unless they are SHARDS_MOST or some would have no sentence. */
    while (shards < SHARDS_MOST && 2 * shards <= sentences && n > shards * SHARD_ROWS / 2 * 3) shards *= 2;
    int wanted = least(most(SHORT_ROWS, n / PARTS_MOST), SHARD_ROWS);
    int tapes = most(quotient_up(n, shards * wanted), quotient_up(PARTS_LEAST, shards));
    int room = power_below(sentences / (shards * SHORT_SENTENCES));
    if (shards == 1 && sentences > 1 && room < 2) room = 2; /* nobody has less than two threads */
    return (ShardPlan){shards, shards * least(power_near(tapes), room)};
}

/* Appends the short tapes of a batch; returns how many shards they are. */
static int plan_batch(Shards *s, int b, int leaves) {
    const ShardBatch *batch = &s->batches[b];
    long rows = 0;
    for (int i = 0; i < batch->count; i++) rows += rows_of(s->corpus, batch->pairs[i]);
    ShardPlan plan = shards_plan(batch->count, rows);
    int tapes = plan.parts / plan.shards;
    MEM_GROW(s->runs, s->run_capacity, s->run_count + (size_t)plan.parts);
    for (int i = 0; i < plan.parts; i++)
        s->runs[s->run_count++] = (Run){.batch = b,
                                        .leaf = leaves + i / tapes,
                                        .number = i,
                                        .of = plan.parts,
                                        .place = i % tapes,
                                        .rows = rows / plan.parts};
    return plan.shards;
}

/* The sentences of a short tape, which begins here. */
static TrainingBatch begin_run(const Shards *s, const Run *run, Tape *tape, int thread) {
    const ShardBatch *batch = &s->batches[run->batch];
    int *pairs = mem_alloc((size_t)(batch->count / run->of + 1), sizeof *pairs);
    int count = deal(batch, run->of, run->number, pairs);
    tape_deferred_init(tape, s->tape[thread]);
    TrainingBatch part = shard_batch(tape, s->corpus, pairs, count, batch->seed_update);
    mem_free(pairs);
    return part;
}

/* Each of the groups gets long and short sentences. */
static void run_group(void *context, int task, int thread) {
    Shards *s = context;
    int all = (int)(s->end_run - s->first_run), count = 0;
    Run *runs[TAPES_MAX];
    Tape *tapes[TAPES_MAX] = {NULL};
    TrainingBatch parts[TAPES_MAX] = {{0}};
    CrossEntropy sums[TAPES_MAX] = {{0}};
    long tokens[TAPES_MAX];
    for (int round = 0; round * s->groups < all; round++) {
        int i = dealt(round, s->groups, task);
        if (i >= all) continue;
        runs[count] = &s->runs[s->first_run + (size_t)i];
        tapes[count] = &s->run_tape[i];
        parts[count] = begin_run(s, runs[count], tapes[count], thread);
        count++;
    }
    for (int i = 0; i < count; i++)
        tokens[i] = seq2seq_put_loss(s->model, tapes[i], &parts[i], s->label_smoothing, s->scale, &sums[i]);
    tapes_run(tapes, count);
    for (int i = 0; i < count; i++) runs[i]->loss = (BatchLoss){sums[i].loss, sums[i].likelihood, tokens[i]};
}

/* As many for each thread, and as few as can be. */
static int plan_groups(const Shards *s) {
    int runs = (int)(s->end_run - s->first_run);
    return least(runs, s->threads * quotient_up(runs, s->threads * TAPES_MAX));
}

static void add_slice(void *context, int task, int thread) {
    Shards *s = context;
    int slices = gradients_slices(s->gradients[0]), leaf = task / slices;
    gradients_add(s->gradients[leaf], task % slices, s->tape[thread], s->block[leaf]);
}

static void complete_leaf(void *context, int task, int thread) {
    Shards *s = context;
    (void)thread;
    sum_tree_complete(s->sum, s->first_leaf + task, s->block[task]);
}

/* Room for so many tapes and leaves at once. */
static void make_room(Shards *s, size_t tapes, size_t leaves) {
    const ParamSet *params = seq2seq_params(s->model);
    MEM_GROW(s->run_tape, s->tape_capacity, tapes);
    while (s->tape_count < tapes) s->run_tape[s->tape_count++] = (Tape){0};
    MEM_GROW(s->gradients, s->leaf_capacity, leaves);
    MEM_GROW(s->block, s->block_capacity, leaves);
    while (s->leaf_count < leaves) s->gradients[s->leaf_count++] = gradients_new(params, s->threads);
}

/* The runs from first_run on that go together; `open`: the first leaf has a block already. Returns whether
 * the last one is still open. */
static bool run_together(Shards *s, bool open) {
    s->first_leaf = s->runs[s->first_run].leaf;
    int leaves = s->runs[s->end_run - 1].leaf - s->first_leaf + 1;
    make_room(s, s->end_run - s->first_run, (size_t)leaves);
    for (int i = 0; i < workers_count(s->workers); i++) tape_reset(s->tape[i]);
    s->groups = plan_groups(s);
    workers_run(s->workers, s->groups, run_group, s);
    for (size_t leaf = 0, first = s->first_run, end; leaf < (size_t)leaves; leaf++, first = end) {
        for (end = first; end < s->end_run && s->runs[end].leaf == s->first_leaf + (int)leaf;) end++;
        gradients_collect(s->gradients[leaf], s->run_tape + (first - s->first_run), (int)(end - first),
                          JOINED);
        if (leaf || !open) s->block[leaf] = sum_tree_block(s->sum);
    }
    workers_run(s->workers, leaves * gradients_slices(s->gradients[0]), add_slice, s);
    open = s->end_run < s->run_count && s->runs[s->end_run].leaf == s->runs[s->end_run - 1].leaf;
    workers_run(s->workers, leaves - open, complete_leaf, s);
    if (open) s->block[0] = s->block[leaves - 1];
    return open;
}

/* The first short tape of a shard, or the end of all. */
static int first_run_of(const Shards *s, int leaf) {
    size_t run = 0;
    while (run < s->run_count && s->runs[run].leaf < leaf) run++;
    return (int)run;
}

/* Every rank has the losses of its shards; all get those of all, to add them up in the same order. */
static void gather_losses(const Shards *s, int shards) {
    int ranks = comm_size();
    if (ranks == 1) return;
    size_t *first = mem_alloc((size_t)ranks + 1, sizeof *first);
    for (int r = 0, shard = 0; r <= ranks; r++) {
        if (r < ranks)
            comm_share(shards, r, &shard);
        else
            shard = shards;
        first[r] = (size_t)first_run_of(s, shard) * sizeof *s->runs;
    }
    comm_gather(s->runs, first);
    mem_free(first);
}

/* Are the runs before end_run, of so many rows with it, enough for all threads? Where a shard ends, fewer
 * rows are: its gradients are added at one go. */
static bool is_round(const Shards *s, long rows) {
    size_t runs = s->end_run - s->first_run, threads = (size_t)s->threads;
    if (runs < 2 * threads) return false;
    if (s->runs[s->end_run].place == 0) return rows > ROWS_TOGETHER / 2;
    if (s->runs[s->end_run].place % JOINED) return false;
    return rows > ROWS_TOGETHER && (runs % threads == 0 || rows > 3 * ROWS_TOGETHER);
}

/* Short tapes, so that there is work for many threads, in shards of about SHARD_ROWS, so that there are few
 * gradient blocks; how many tapes go together decides about time and memory alone. */
static BatchLoss run_short_tapes(Shards *s) {
    int leaves = 0;
    bool open = false;
    BatchLoss sum = {0};
    s->run_count = 0;
    for (int b = 0; b < s->batch_count; b++) leaves += plan_batch(s, b, leaves);
    sum_tree_begin(s->sum, leaves);
    int first, count = comm_share(leaves, comm_rank(), &first);
    size_t end = (size_t)first_run_of(s, first + count);
    for (s->first_run = (size_t)first_run_of(s, first); s->first_run < end; s->first_run = s->end_run) {
        long rows = 0;
        for (s->end_run = s->first_run; s->end_run < end; s->end_run++) {
            rows += s->runs[s->end_run].rows;
            if (is_round(s, rows)) break;
        }
        open = run_together(s, open);
    }
    gather_losses(s, leaves);
    for (size_t i = 0; i < s->run_count; i++) batch_loss_add(&sum, s->runs[i].loss);
    return sum;
}

/* ---- the update ---------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The pairs by the work that they make, most first, and by number where that is the same. */
static int *longest_first(const Corpus *corpus, const int *pairs, int count) {
    uint64_t *keys = mem_alloc((size_t)count, sizeof *keys);
    int *sorted = mem_alloc((size_t)count, sizeof *sorted);
    for (int i = 0; i < count; i++) {
        uint32_t work = 2 * (uint32_t)corpus_target_length(corpus, pairs[i]) +
                        (uint32_t)corpus_source_length(corpus, pairs[i]);
        keys[i] = (uint64_t)(UINT32_MAX - work) << 32 | (uint32_t)pairs[i];
    }
    qsort(keys, (size_t)count, sizeof *keys, ascending);
    for (int i = 0; i < count; i++) sorted[i] = (int)(keys[i] & UINT32_MAX);
    mem_free(keys);
    return sorted;
}

BatchLoss shards_run(Shards *s, const ShardBatch *batches, int count, double label_smoothing, double scale) {
    ShardBatch *sorted = mem_alloc((size_t)count, sizeof *sorted);
    for (int b = 0; b < count; b++) {
        sorted[b] = batches[b];
        sorted[b].pairs = longest_first(s->corpus, batches[b].pairs, batches[b].count);
    }
    s->batches = sorted;
    s->batch_count = count;
    s->label_smoothing = label_smoothing;
    s->scale = scale;
    BatchLoss sum = run_short_tapes(s);
    for (int b = 0; b < count; b++) mem_free((int *)sorted[b].pairs);
    mem_free(sorted);
    return sum;
}
