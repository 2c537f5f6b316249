/* shards.c - dealing out a batch, and running each part on its own tape. */
#include "train/shards.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

typedef struct {
    Tokens *source, *target;
    uint32_t *sentence;
    int count;
    size_t capacity;
} Hand; /* the sentence pairs of one shard */

typedef struct {
    Hand hand;
    BatchLoss loss;
} Shard;

enum { PIECE_ROWS = 1000 }; /* source and target tokens that a thread has in memory at once, about */

struct Shards {
    const Seq2Seq *model;
    const Corpus *corpus;
    Workers *workers;
    Profiler *profiler;
    int count;
    Shard *shard;
    real **grads;
    Tape **tape; /* per thread */
    /* of the batch being run */
    uint64_t seed_update;
    double label_smoothing, scale;
};

static void hand_add(Hand *hand, const Corpus *corpus, int pair) {
    size_t n = (size_t)hand->count + 1;
    if (n > hand->capacity) {
        hand->capacity = 2 * n;
        hand->source = mem_realloc(hand->source, hand->capacity, sizeof *hand->source);
        hand->target = mem_realloc(hand->target, hand->capacity, sizeof *hand->target);
        hand->sentence = mem_realloc(hand->sentence, hand->capacity, sizeof *hand->sentence);
    }
    int i = hand->count++;
    hand->source[i] = corpus_source(corpus, pair);
    hand->target[i] = corpus_target(corpus, pair);
    hand->sentence[i] = (uint32_t)pair;
}

static TrainingBatch hand_batch(const Hand *hand, int first, int count, uint64_t seed_update) {
    return (TrainingBatch){count, hand->source + first, hand->target + first, hand->sentence + first,
                           seed_update};
}

static int hand_rows(const Hand *hand, int i) { return hand->source[i].length + hand->target[i].length + 2; }

static void hand_free(Hand *hand) {
    mem_free(hand->source);
    mem_free(hand->target);
    mem_free(hand->sentence);
}

Shards *shards_new(const Seq2Seq *model, const Corpus *corpus, int count, Workers *workers) {
    Shards *s = mem_alloc(1, sizeof *s);
    *s = (Shards){.model = model, .corpus = corpus, .workers = workers, .count = count};
    s->shard = mem_alloc((size_t)count, sizeof *s->shard);
    s->grads = mem_alloc((size_t)count, sizeof *s->grads);
    for (int i = 0; i < count; i++) {
        s->grads[i] = params_block(seq2seq_params(model));
    }
    s->tape = mem_alloc((size_t)workers_count(workers), sizeof *s->tape);
    for (int i = 0; i < workers_count(workers); i++) s->tape[i] = tape_new(seq2seq_params(model), true);
    return s;
}

void shards_free(Shards *s) {
    if (!s) return;
    for (int i = 0; i < s->count; i++) {
        hand_free(&s->shard[i].hand);
        mem_free(s->grads[i]);
    }
    for (int i = 0; i < workers_count(s->workers); i++) tape_free(s->tape[i]);
    mem_free(s->tape);
    mem_free(s->shard);
    mem_free(s->grads);
    mem_free(s);
}

void shards_profile(Shards *s, Profiler *profiler) { s->profiler = profiler; }

real *const *shards_gradients(const Shards *s) { return s->grads; }

static void loss_add(BatchLoss *sum, BatchLoss part) {
    sum->loss += part.loss;
    sum->likelihood += part.likelihood;
    sum->tokens += part.tokens;
}

/* Piece after piece: what they are depends on the sentences alone. */
static void run_shard(void *context, int task, int thread) {
    Shards *s = context;
    Shard *shard = &s->shard[task];
    Tape *tape = s->tape[thread];
    const Hand *hand = &shard->hand;
    tape->grads = s->grads[task];
    tape->profile = profiler_thread(s->profiler, thread);
    shard->loss = (BatchLoss){0};
    int rows = 0, done = 0;
    for (int i = 0; i < hand->count; i++) rows += hand_rows(hand, i);
    int pieces = (rows + PIECE_ROWS - 1) / PIECE_ROWS;
    for (int piece = 1, first = 0, next = 0; piece <= pieces; piece++, first = next) {
        while (next < hand->count && (double)done * pieces < (double)rows * piece)
            done += hand_rows(hand, next++);
        if (next == first) continue;
        tape_reset(tape);
        TrainingBatch batch = hand_batch(hand, first, next - first, s->seed_update);
        loss_add(&shard->loss, seq2seq_loss(s->model, tape, &batch, s->label_smoothing, s->scale));
        tape_backward(tape);
    }
}

typedef struct {
    int pair, work;
} Card;

static int longest_first(const void *a, const void *b) {
    const Card *x = a, *y = b;
    return x->work != y->work ? (x->work < y->work) - (x->work > y->work)
                              : (x->pair > y->pair) - (x->pair < y->pair);
}

BatchLoss shards_run(Shards *s, const int *pairs, int count, uint64_t seed_update, double label_smoothing,
                     double scale) {
    Card *cards = mem_alloc((size_t)count, sizeof *cards);
    for (int i = 0; i < count; i++)
        cards[i] = (Card){pairs[i], 2 * corpus_target(s->corpus, pairs[i]).length +
                                        corpus_source(s->corpus, pairs[i]).length};
    qsort(cards, (size_t)count, sizeof *cards, longest_first);
    for (int i = 0; i < s->count; i++) s->shard[i].hand.count = 0;
    for (int i = 0; i < count; i++) { /* there and back again: 0 1 2 2 1 0 0 1 ... */
        int turn = i % (2 * s->count);
        hand_add(&s->shard[turn < s->count ? turn : 2 * s->count - 1 - turn].hand, s->corpus, cards[i].pair);
    }
    mem_free(cards);
    s->seed_update = seed_update;
    s->label_smoothing = label_smoothing;
    s->scale = scale;
    workers_run(s->workers, s->count, run_shard, s);
    BatchLoss sum = {0};
    for (int i = 0; i < s->count; i++) loss_add(&sum, s->shard[i].loss);
    return sum;
}

/* ---- validation ----------------------------------------------------------------------------------------------------- */

enum { VALID_BATCH = 16 }; /* sentences */

typedef struct {
    const Seq2Seq *model;
    const Corpus *corpus;
    double label_smoothing;
    Tape **tape;     /* per thread */
    BatchLoss *loss; /* per task */
} Validation;

static void validate_task(void *context, int task, int thread) {
    Validation *v = context;
    Hand hand = {0};
    for (int pair = task * VALID_BATCH; pair < v->corpus->count && pair < (task + 1) * VALID_BATCH; pair++)
        hand_add(&hand, v->corpus, pair);
    tape_reset(v->tape[thread]);
    TrainingBatch batch = hand_batch(&hand, 0, hand.count, 0);
    v->loss[task] = seq2seq_loss(v->model, v->tape[thread], &batch, v->label_smoothing, 1);
    hand_free(&hand);
}

BatchLoss shards_validate(const Seq2Seq *model, const Corpus *corpus, double label_smoothing,
                          Workers *workers) {
    int tasks = (corpus->count + VALID_BATCH - 1) / VALID_BATCH, threads = workers_count(workers);
    Validation v = {model, corpus, label_smoothing, mem_alloc((size_t)threads, sizeof *v.tape),
                    mem_alloc((size_t)tasks + 1, sizeof *v.loss)};
    for (int i = 0; i < threads; i++) v.tape[i] = tape_new(seq2seq_params(model), false);
    workers_run(workers, tasks, validate_task, &v);
    BatchLoss sum = {0};
    for (int i = 0; i < tasks; i++) loss_add(&sum, v.loss[i]);
    for (int i = 0; i < threads; i++) tape_free(v.tape[i]);
    mem_free(v.tape);
    mem_free(v.loss);
    return sum;
}
