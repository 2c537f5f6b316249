/* shards.c - dealing out a batch, and running each part on its own tape. */
#include "train/shards.h"

#include <stdlib.h>
#include "base/mem.h"
#include "num/kern.h"

enum { PIECE_ROWS = 1000 }; /* source and target tokens that a thread has in memory at once, about */

struct Shards {
    const Seq2Seq *model;
    const Corpus *corpus;
    Workers *workers;
    Profiler *profiler;
    int count;
    real **grads;    /* per shard */
    BatchLoss *loss; /* per shard */
    Tape **tape;     /* per thread */
    const Seq2Seq *const *teachers;
    int teacher_count;
    double teacher_share;
    Tape ***teacher_tape; /* per thread and teacher; NULL: nobody taught so far */
    int teacher_tapes;    /* per thread */
    /* of the batch being run */
    const int *pairs; /* longest first */
    int pair_count;
    uint64_t seed_update;
    double label_smoothing, scale;
};

Shards *shards_new(const Seq2Seq *model, const Corpus *corpus, int count, Workers *workers) {
    Shards *s = mem_alloc(1, sizeof *s);
    *s = (Shards){.model = model, .corpus = corpus, .workers = workers, .count = count};
    s->grads = mem_alloc((size_t)count, sizeof *s->grads);
    s->loss = mem_alloc((size_t)count, sizeof *s->loss);
    s->tape = mem_alloc((size_t)workers_count(workers), sizeof *s->tape);
    for (int i = 0; i < count; i++) s->grads[i] = params_block(seq2seq_params(model));
    for (int i = 0; i < workers_count(workers); i++) s->tape[i] = tape_new(seq2seq_params(model), true);
    return s;
}

void shards_free(Shards *s) {
    if (!s) return;
    for (int i = 0; i < s->count; i++) mem_free(s->grads[i]);
    for (int i = 0; i < workers_count(s->workers); i++) {
        tape_free(s->tape[i]);
        for (int t = 0; t < s->teacher_tapes; t++) tape_free(s->teacher_tape[i][t]);
        if (s->teacher_tape) mem_free(s->teacher_tape[i]);
    }
    mem_free(s->teacher_tape);
    mem_free(s->tape);
    mem_free(s->loss);
    mem_free(s->grads);
    mem_free(s);
}

void shards_profile(Shards *s, Profiler *profiler) { s->profiler = profiler; }

void shards_teach(Shards *s, const Seq2Seq *const *models, int count, double share) {
    s->teachers = models;
    s->teacher_count = count;
    s->teacher_share = share;
    if (count == 0 || s->teacher_tape) return;
    int threads = workers_count(s->workers);
    s->teacher_tapes = count;
    s->teacher_tape = mem_alloc((size_t)threads, sizeof *s->teacher_tape);
    for (int i = 0; i < threads; i++) {
        s->teacher_tape[i] = mem_alloc((size_t)count, sizeof **s->teacher_tape);
        for (int t = 0; t < count; t++) s->teacher_tape[i][t] = tape_new(seq2seq_params(models[t]), false);
    }
}

real *const *shards_gradients(const Shards *s) { return s->grads; }

void batch_loss_add(BatchLoss *sum, BatchLoss part) {
    sum->loss += part.loss;
    sum->likelihood += part.likelihood;
    sum->tokens += part.tokens;
}

TrainingBatch shard_batch(Tape *tape, const Corpus *corpus, const int *pairs, int count,
                          uint64_t seed_update) {
    size_t n = (size_t)count;
    Tokens *source = tape_alloc(tape, n * sizeof *source), *target = tape_alloc(tape, n * sizeof *target);
    uint32_t *sentence = tape_alloc(tape, n * sizeof *sentence);
    for (int i = 0; i < count; i++) {
        source[i] = corpus_source(corpus, pairs[i]);
        target[i] = corpus_target(corpus, pairs[i]);
        sentence[i] = (uint32_t)pairs[i];
    }
    return (TrainingBatch){count, source, target, sentence, seed_update};
}

/* ---- one shard ----------------------------------------------------------------------------------------- */

/* The pairs that a shard gets when all are dealt there and back again, to shards 0 1 2 2 1 0 0 1 ... */
static int deal(const Shards *s, int shard, int *hand) {
    int count = 0;
    for (int round = 0; round * s->count < s->pair_count; round++) {
        int i = round * s->count + (round % 2 ? s->count - 1 - shard : shard);
        if (i < s->pair_count) hand[count++] = s->pairs[i];
    }
    return count;
}

/* With both </s>. */
static int rows_of(const Corpus *corpus, int pair) {
    return corpus_source(corpus, pair).length + corpus_target(corpus, pair).length + 2;
}

/* The mean of what all teachers predict, on the first one's tape. */
static const real *predict(const Shards *s, const TrainingBatch *batch, int thread) {
    real *mean = NULL;
    for (int t = 0; t < s->teacher_count; t++) {
        Tape *tape = s->teacher_tape[thread][t];
        tape_reset(tape);
        const Tensor *p = seq2seq_predict(s->teachers[t], tape, batch);
        size_t size = (size_t)p->rows * (size_t)p->columns;
        if (mean) kern->add(size, p->data, mean);
        if (!mean) mean = p->data;
        if (t > 0 && t + 1 == s->teacher_count) kern->scale(size, 1 / (real)s->teacher_count, mean, mean);
    }
    return mean;
}

static BatchLoss run_piece(const Shards *s, Tape *tape, const int *pairs, int count, int thread) {
    TrainingBatch batch = shard_batch(tape, s->corpus, pairs, count, s->seed_update);
    if (s->teacher_count == 0) return seq2seq_loss(s->model, tape, &batch, s->label_smoothing, s->scale);
    return seq2seq_taught_loss(s->model, tape, &batch, predict(s, &batch, thread), s->teacher_share,
                               s->label_smoothing, s->scale);
}

/* Piece after piece: what they are depends on the sentences alone. */
static void run_shard(void *context, int task, int thread) {
    Shards *s = context;
    Tape *tape = s->tape[thread];
    tape->grads = s->grads[task];
    tape->profile = profiler_thread(s->profiler, thread);
    s->loss[task] = (BatchLoss){0};
    int *pairs = mem_alloc((size_t)(s->pair_count / s->count + 1), sizeof *pairs);
    int count = deal(s, task, pairs), rows = 0, done = 0;
    for (int i = 0; i < count; i++) rows += rows_of(s->corpus, pairs[i]);
    int passes = seq2seq_passes(s->model, s->seed_update);
    int pieces = (passes * rows + PIECE_ROWS - 1) / PIECE_ROWS;
    for (int piece = 1, first = 0, next = 0; piece <= pieces; piece++, first = next) {
        while (next < count && (double)done * pieces < (double)rows * piece)
            done += rows_of(s->corpus, pairs[next++]);
        if (next == first) continue;
        tape_reset(tape);
        batch_loss_add(&s->loss[task], run_piece(s, tape, pairs + first, next - first, thread));
        tape_backward(tape);
    }
    mem_free(pairs);
}

/* ---- the batch ----------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The pairs by the work that they make, most first, and by number where that is the same. */
static int *longest_first(const Corpus *corpus, const int *pairs, int count) {
    uint64_t *keys = mem_alloc((size_t)count, sizeof *keys);
    int *sorted = mem_alloc((size_t)count, sizeof *sorted);
    for (int i = 0; i < count; i++) {
        uint32_t work = 2 * (uint32_t)corpus_target(corpus, pairs[i]).length +
                        (uint32_t)corpus_source(corpus, pairs[i]).length;
        keys[i] = (uint64_t)(UINT32_MAX - work) << 32 | (uint32_t)pairs[i];
    }
    qsort(keys, (size_t)count, sizeof *keys, ascending);
    for (int i = 0; i < count; i++) sorted[i] = (int)(keys[i] & UINT32_MAX);
    mem_free(keys);
    return sorted;
}

BatchLoss shards_run(Shards *s, const int *pairs, int count, uint64_t seed_update, double label_smoothing,
                     double scale) {
    int *sorted = longest_first(s->corpus, pairs, count);
    s->pairs = sorted;
    s->pair_count = count;
    s->seed_update = seed_update;
    s->label_smoothing = label_smoothing;
    s->scale = scale;
    workers_run(s->workers, s->count, run_shard, s);
    mem_free(sorted);
    BatchLoss sum = {0};
    for (int i = 0; i < s->count; i++) batch_loss_add(&sum, s->loss[i]);
    return sum;
}
