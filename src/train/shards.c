/* shards.c - assigns the sentences of a batch to parts, and runs each part on its own tape. */
#include "train/shards.h"

#include <stdlib.h>
#include "base/mem.h"
#include "autograd/gradients.h"
#include "autograd/tapes.h"
#include "distributed/group.h"

/* Rows are source and target tokens, with both </s>. */
enum {
    SHARD_ROWS = 1000,  /* of a shard, about */
    SHARDS_MAX = 8,     /* of a batch */
    PART_ROWS = 60,     /* of a part, about, */
    PART_SENTENCES = 2, /* and its least number of sentences: steps of fewer sentences are slow */
    PARTS_MIN = 8,      /* of a batch, if it has enough sentences */
    PARTS_MAX = 128,    /* of a batch, unless their rows become too many */
};

/* The size of a pass. */
typedef struct {
    int rows;   /* of a pass, about; more if that is too little work for the threads */
    int joined; /* tapes whose weight gradients are one product; they are in one pass */
} PassSize;

enum { LARGE = 20000000 }; /* parameters. Tapes of a large model need the most memory: 600 KB a row */
static const PassSize PASS = {1000, 16}, PASS_OF_LARGE = {250, 4};

/* A part of a micro-batch: the sentences on one tape. */
typedef struct {
    int batch;         /* number of its micro-batch */
    int shard;         /* number of its shard in the update */
    int number, parts; /* its number among the parts of its micro-batch */
    int position;      /* ... among the parts of its shard */
    long rows;         /* mean of its micro-batch */
    BatchLoss loss;
} Part;

/* What one update computes. */
typedef struct {
    const MicroBatch *batches; /* [batch_count], each with its longest sentences first */
    int batch_count;
    double label_smoothing, scale;
    Part *parts; /* [part_count], shard after shard */
    size_t part_count, part_capacity;
    size_t *shard_start; /* [shards + 1] into parts */
    size_t shard_capacity;
    int shards;
} Update;

/* The parts whose tapes are in memory at once, and the gradients of their shards. */
typedef struct {
    size_t first, end; /* of the update's parts */
    int queues;        /* of parts: a thread takes a queue and runs its tapes side by side */
    Tape *tapes;       /* [tape_count], one for each part, in the memory of the thread that runs it */
    size_t tape_count, tape_capacity;
    int first_shard;
    bool continues;        /* the pass before has begun the first shard: blocks[0] is its block */
    Gradients **gradients; /* [gradient_count], of each shard, and the blocks that they are added to */
    real **blocks;
    size_t gradient_count, gradient_capacity, block_capacity;
} Pass;

struct Shards {
    const Seq2Seq *model;
    const Corpus *corpus;
    Workers *workers;
    Tape **tapes; /* [threads], which own the memory of the parts' tapes */
    SumTree *sum;
    Update update;
    PassSize pass_size;
    Pass pass;
};

Shards *shards_new(const Seq2Seq *model, const Corpus *corpus, Workers *workers) {
    Shards *s = mem_alloc(1, sizeof *s);
    *s = (Shards){.model = model, .corpus = corpus, .workers = workers};
    s->pass_size = seq2seq_params(model)->size < LARGE ? PASS : PASS_OF_LARGE;
    s->sum = sum_tree_new(seq2seq_params(model)->size);
    s->tapes = mem_alloc((size_t)workers_count(workers), sizeof *s->tapes);
    for (int i = 0; i < workers_count(workers); i++) s->tapes[i] = tape_new(seq2seq_params(model), true);
    return s;
}

void shards_free(Shards *s) {
    if (!s) return;
    Pass *pass = &s->pass;
    for (int i = 0; i < workers_count(s->workers); i++) tape_free(s->tapes[i]);
    for (size_t i = 0; i < pass->tape_count; i++) tape_deferred_free(&pass->tapes[i]);
    for (size_t i = 0; i < pass->gradient_count; i++) gradients_free(pass->gradients[i]);
    mem_free(pass->gradients);
    mem_free(pass->blocks);
    mem_free(pass->tapes);
    mem_free(s->update.parts);
    mem_free(s->update.shard_start);
    mem_free(s->tapes);
    sum_tree_free(s->sum);
    mem_free(s);
}

void shards_release_tapes(Shards *s) {
    for (int i = 0; i < workers_count(s->workers); i++) {
        tape_free(s->tapes[i]);
        s->tapes[i] = tape_new(seq2seq_params(s->model), true);
    }
}

PartialSums shards_gradients(Shards *s) { return sum_tree_partial_sums(s->sum); }

void batch_loss_add(BatchLoss *sum, BatchLoss part) {
    sum->loss += part.loss;
    sum->likelihood += part.likelihood;
    sum->tokens += part.tokens;
}

/* With both </s>. */
static int rows_of(const Corpus *corpus, int pair) {
    return corpus_source_length(corpus, pair) + corpus_target_length(corpus, pair) + 2;
}

TrainingBatch micro_batch_collate(const MicroBatch *batch, const Corpus *corpus, Tape *tape) {
    size_t n = (size_t)batch->count;
    Tokens *source = tape_alloc(tape, n * sizeof *source), *target = tape_alloc(tape, n * sizeof *target);
    uint32_t *sentence = tape_alloc(tape, n * sizeof *sentence);
    for (int i = 0; i < batch->count; i++) {
        int pair = batch->pairs[i];
        int *ids = tape_alloc(tape, (size_t)rows_of(corpus, pair) * sizeof *ids);
        source[i] = corpus_source(corpus, pair, ids);
        target[i] = corpus_target(corpus, pair, ids + source[i].length);
        sentence[i] = (uint32_t)pair;
    }
    return (TrainingBatch){batch->count, source, target, sentence, batch->seed_update};
}

/* ---- the plan of a batch ------------------------------------------------------------------------------- */

static int min_int(int a, int b) { return a < b ? a : b; }
static int max_int(int a, int b) { return a > b ? a : b; }
static int quotient_up(int a, int b) { return (a + b - 1) / b; }
/* Powers of two, as the number of threads and of processes mostly is: the largest that is not above n, or 1;
 * and one that is near n. */
static int power_below(int n) {
    int power = 1;
    while (power <= n / 2) power *= 2;
    return power;
}
static int power_near(int n) { return power_below(n + n / 3); }

ShardPlan shards_plan(int sentences, long rows) {
    int n = (int)(rows < 1 ? 1 : rows < 1 << 30 ? rows : 1 << 30);
    int shards = n > SHARD_ROWS && sentences > 1 ? 2 : 1;
    /* At most 1,500 rows in each, up to SHARDS_MAX shards and one sentence in each. */
    while (shards < SHARDS_MAX && 2 * shards <= sentences && n > shards * SHARD_ROWS / 2 * 3) shards *= 2;
    int part_rows = min_int(max_int(PART_ROWS, n / PARTS_MAX), SHARD_ROWS);
    int parts = max_int(quotient_up(n, shards * part_rows), quotient_up(PARTS_MIN, shards)); /* of a shard */
    int limit = power_below(sentences / (shards * PART_SENTENCES));
    if (shards == 1 && sentences > 1 && limit < 2) limit = 2; /* enough for two threads */
    return (ShardPlan){shards, shards * min_int(power_near(parts), limit)};
}

static void add_part(Update *u, Part part) {
    MEM_GROW(u->shard_start, u->shard_capacity, (size_t)part.shard + 2);
    MEM_GROW(u->parts, u->part_capacity, u->part_count + 1);
    if (part.position == 0) u->shard_start[part.shard] = u->part_count;
    u->parts[u->part_count++] = part;
    u->shard_start[part.shard + 1] = u->part_count;
}

/* Appends the shards of a micro-batch and their parts. */
static void plan_batch(Shards *s, int b) {
    Update *u = &s->update;
    const MicroBatch *batch = &u->batches[b];
    long rows = 0;
    for (int i = 0; i < batch->count; i++) rows += rows_of(s->corpus, batch->pairs[i]);
    ShardPlan plan = shards_plan(batch->count, rows);
    int in_shard = plan.parts / plan.shards;
    for (int i = 0; i < plan.parts; i++)
        add_part(u, (Part){.batch = b,
                           .shard = u->shards + i / in_shard,
                           .number = i,
                           .parts = plan.parts,
                           .position = i % in_shard,
                           .rows = rows / plan.parts});
    u->shards += plan.shards;
}

/* Sorted items go to `n` takers in snake order: takers 0 1 2 2 1 0 0 1 2 ... take items 0 1 2 3 ... Returns
 * the item that `taker` takes in this turn. */
static int snake_item(int turn, int n, int taker) { return turn * n + (turn % 2 ? n - 1 - taker : taker); }

/* The pairs of a part: long and short ones, so that all parts have equal work. Returns the number of them. */
static int assign_pairs(const MicroBatch *batch, const Part *part, int *pairs) {
    int count = 0;
    for (int turn = 0; turn * part->parts < batch->count; turn++) {
        int i = snake_item(turn, part->parts, part->number);
        if (i < batch->count) pairs[count++] = batch->pairs[i];
    }
    return count;
}

/* ---- a pass -------------------------------------------------------------------------------------------- */

/* Are the parts of the pass, of `rows` rows together with the next one, enough for all threads? At the end of
 * a shard fewer rows are, since its gradients are then added at once. */
static bool pass_is_full(const Shards *s, long rows) {
    size_t parts = s->pass.end - s->pass.first, threads = (size_t)workers_count(s->workers);
    int position = s->update.parts[s->pass.end].position;
    if (parts < 2 * threads) return false;
    if (position == 0) return rows > s->pass_size.rows / 2;
    if (position % s->pass_size.joined) return false;
    return rows > s->pass_size.rows && (parts % threads == 0 || rows > 3 * s->pass_size.rows);
}

/* The pass that begins with part `first`, before part `end`. Every thread gets equally many queues, as few as
 * possible. */
static void plan_pass(Shards *s, size_t first, size_t end) {
    Pass *pass = &s->pass;
    long rows = 0;
    pass->first = first;
    for (pass->end = first; pass->end < end; pass->end++) {
        rows += s->update.parts[pass->end].rows;
        if (pass_is_full(s, rows)) break;
    }
    int parts = (int)(pass->end - first), threads = workers_count(s->workers);
    pass->queues = min_int(parts, threads * quotient_up(parts, threads * TAPES_MAX));
    pass->first_shard = s->update.parts[first].shard;
}

/* The tape of a part, and the tokens of its sentences there. */
static TrainingBatch begin_part(const Shards *s, const Part *part, Tape *tape, int thread) {
    const MicroBatch *batch = &s->update.batches[part->batch];
    int *pairs = mem_alloc((size_t)(batch->count / part->parts + 1), sizeof *pairs);
    MicroBatch own = {pairs, assign_pairs(batch, part, pairs), batch->seed_update};
    tape_deferred_init(tape, s->tapes[thread]);
    TrainingBatch tokens = micro_batch_collate(&own, s->corpus, tape);
    mem_free(pairs);
    return tokens;
}

/* Runs the parts of a queue side by side. Each queue gets parts with long and with short sentences. */
static void run_queue(void *context, int queue, int thread) {
    Shards *s = context;
    const Update *u = &s->update;
    int all = (int)(s->pass.end - s->pass.first), count = 0;
    Part *parts[TAPES_MAX];
    Tape *tapes[TAPES_MAX] = {NULL};
    TrainingBatch batches[TAPES_MAX] = {{0}};
    CrossEntropy sums[TAPES_MAX] = {{0}};
    long tokens[TAPES_MAX];
    for (int turn = 0; turn * s->pass.queues < all; turn++) {
        int i = snake_item(turn, s->pass.queues, queue);
        if (i >= all) continue;
        parts[count] = &u->parts[s->pass.first + (size_t)i];
        tapes[count] = &s->pass.tapes[i];
        batches[count] = begin_part(s, parts[count], tapes[count], thread);
        count++;
    }
    for (int i = 0; i < count; i++)
        tokens[i] =
            seq2seq_deferred_loss(s->model, tapes[i], &batches[i], u->label_smoothing, u->scale, &sums[i]);
    tapes_run(tapes, count);
    for (int i = 0; i < count; i++) parts[i]->loss = (BatchLoss){sums[i].loss, sums[i].likelihood, tokens[i]};
}

static void add_slice(void *context, int task, int thread) {
    Shards *s = context;
    int slices = gradients_slices(s->pass.gradients[0]), shard = task / slices;
    gradients_add(s->pass.gradients[shard], task % slices, s->tapes[thread], s->pass.blocks[shard]);
}

static void complete_shard(void *context, int task, int thread) {
    Shards *s = context;
    (void)thread;
    sum_tree_complete(s->sum, s->pass.first_shard + task, s->pass.blocks[task]);
}

static void reserve(Shards *s, size_t tapes, size_t shards) {
    const ParamSet *params = seq2seq_params(s->model);
    Pass *pass = &s->pass;
    MEM_GROW(pass->tapes, pass->tape_capacity, tapes);
    while (pass->tape_count < tapes) pass->tapes[pass->tape_count++] = (Tape){0};
    MEM_GROW(pass->gradients, pass->gradient_capacity, shards);
    MEM_GROW(pass->blocks, pass->block_capacity, shards);
    while (pass->gradient_count < shards)
        pass->gradients[pass->gradient_count++] = gradients_new(params, workers_count(s->workers));
}

/* Forward and backward, then the sum of the weight gradients of each shard. */
static void run_pass(Shards *s) {
    const Update *u = &s->update;
    Pass *pass = &s->pass;
    int shards = u->parts[pass->end - 1].shard - pass->first_shard + 1;
    reserve(s, pass->end - pass->first, (size_t)shards);
    for (int i = 0; i < workers_count(s->workers); i++) tape_reset(s->tapes[i]);
    workers_run(s->workers, pass->queues, run_queue, s);
    for (int i = 0; i < shards; i++) {
        const size_t *start = u->shard_start + pass->first_shard + i;
        size_t first = start[0] > pass->first ? start[0] : pass->first,
               end = start[1] < pass->end ? start[1] : pass->end;
        gradients_collect(pass->gradients[i], pass->tapes + (first - pass->first), (int)(end - first),
                          s->pass_size.joined);
        if (i || !pass->continues) pass->blocks[i] = sum_tree_block(s->sum);
    }
    workers_run(s->workers, shards * gradients_slices(pass->gradients[0]), add_slice, s);
    pass->continues = pass->end < u->shard_start[pass->first_shard + shards];
    workers_run(s->workers, shards - pass->continues, complete_shard, s);
    if (pass->continues) pass->blocks[0] = pass->blocks[shards - 1];
}

/* ---- the update ---------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The pairs sorted by their work, most first; equal ones by number. */
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

/* Every process runs a range of the shards. Small parts give work to many threads, and shards of about
 * SHARD_ROWS need few gradient blocks. How many parts are in a pass affects time and memory alone. */
static BatchLoss run_update(Shards *s) {
    Update *u = &s->update;
    BatchLoss sum = {0};
    u->part_count = 0;
    u->shards = 0;
    for (int b = 0; b < u->batch_count; b++) plan_batch(s, b);
    sum_tree_begin(s->sum, u->shards);
    int first, count = group_range(u->shards, &first);
    size_t end = u->shard_start[first + count];
    s->pass.continues = false;
    for (size_t part = u->shard_start[first]; part < end; part = s->pass.end) {
        plan_pass(s, part, end);
        run_pass(s);
    }
    group_gather_ranges(u->parts, sizeof *u->parts, u->shard_start, u->shards);
    for (size_t i = 0; i < u->part_count; i++) batch_loss_add(&sum, u->parts[i].loss);
    return sum;
}

BatchLoss shards_run(Shards *s, const MicroBatch *batches, int count, double label_smoothing, double scale) {
    MicroBatch *sorted = mem_alloc((size_t)count, sizeof *sorted);
    for (int b = 0; b < count; b++) {
        sorted[b] = batches[b];
        sorted[b].pairs = longest_first(s->corpus, batches[b].pairs, batches[b].count);
    }
    s->update.batches = sorted;
    s->update.batch_count = count;
    s->update.label_smoothing = label_smoothing;
    s->update.scale = scale;
    BatchLoss sum = run_update(s);
    for (int b = 0; b < count; b++) mem_free((int *)sorted[b].pairs);
    mem_free(sorted);
    return sum;
}
