/* pool.c - the queue of jobs, the threads that translate batches of their texts, and the count of the
 * references to their results. */
#include "serve/pool.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/signals.h"
#include "base/utf8.h"

/* Seconds that a thread waits for more texts, for each text of its last batch. It checks after each nap. */
static const double WAIT_PER_TEXT = 1e-4;
enum { NAP_NANOSECONDS = 50000 };
enum { OLDEST_EVERY = 4 /* batches */, LONG_TEXT_SENTENCES = 4 /* between two looks at the queue */ };

/* The result of a batch. Each text holds a reference. */
struct SharedResult {
    attn_mt_result *result;
    atomic_int references;
};

struct Pool {
    PoolOptions options;
    ModelCache *models;
    pthread_t *threads;
    int started; /* threads */
    /* Under the lock: */
    pthread_mutex_t lock;
    pthread_cond_t work;
    Job *first, *last; /* the queue, oldest job first */
    int idle;          /* threads */
    int long_batches;  /* being translated */
    long trims;        /* calls of pool_trim */
    bool stop;
    PoolStats stats;
};

/* ---- the queue ---- */

static size_t text_characters(const char *text) { return utf8_count(sv(text)) + 1; }

size_t pool_characters(const char *const *texts, int count) {
    size_t characters = 0;
    for (int i = 0; i < count; i++) characters += text_characters(texts[i]);
    return characters;
}

/* The functions of this section need the lock. */

static void queue_add(Pool *pool, Job *job) {
    job->next = NULL;
    job->previous = pool->last;
    *(pool->last ? &pool->last->next : &pool->first) = job;
    pool->last = job;
}

static void queue_remove(Pool *pool, const Job *job) {
    *(job->previous ? &job->previous->next : &pool->first) = job->next;
    *(job->next ? &job->next->previous : &pool->last) = job->previous;
}

/* Cancels the jobs whose clients have gone. Returns a list of those that have no text in a batch, for
 * finish_cancelled; batch_finish ends the others. */
static Job *cancel_abandoned(Pool *pool) {
    Job *cancelled = NULL;
    for (Job *job = pool->first, *next; job; job = next) {
        next = job->next;
        if (!job->client_gone(job->context)) continue;
        queue_remove(pool, job);
        job->cancelled = true;
        pool->stats.queued_texts -= job->count - job->scheduled;
        pool->stats.queued_characters -= job->queued_characters;
        cached_model_leave(job->kind.model, job->count - job->scheduled);
        job->unfinished -= job->count - job->scheduled;
        if (job->unfinished > 0) continue;
        job->next = cancelled;
        cancelled = job;
    }
    return cancelled;
}

static bool next_text_is_long(const Job *job) {
    return job->items[job->scheduled].characters >= POOL_LONG_TEXT;
}

/* Is this the last thread without a long text? Rule 3 of pool.h. */
static bool is_last_for_short_texts(const Pool *pool) {
    return pool->options.threads > 1 && pool->long_batches + 1 >= pool->options.threads;
}

/* The job for a free thread, by rule 1 of pool.h; NULL if there is none. `short_only`: its next text is
 * short. */
static Job *choose_job(const Pool *pool, bool short_only) {
    bool oldest = pool->stats.batches % OLDEST_EVERY == OLDEST_EVERY - 1;
    Job *best = NULL;
    for (Job *job = pool->first; job && !(oldest && best); job = job->next) {
        if (!cached_model_is_ready(job->kind.model) || (short_only && next_text_is_long(job))) continue;
        if (!best || job->queued_characters < best->queued_characters) best = job;
    }
    return best;
}

/* ---- batches ---- */

typedef struct {
    Job *job;
    int text; /* index in the job */
} BatchItem;

/* Texts that a thread translates together. They have the same kind, and are all long or all short. */
typedef struct {
    BatchItem *items;   /* [count] */
    const char **texts; /* [count] */
    int count, characters;
    JobKind kind;
    bool is_long;
    LoadedModel *model;     /* a reference; NULL: the model cannot be loaded */
    attn_mt_status failure; /* then */
} Batch;

typedef struct {
    Pool *pool;
    Batch batch;
    Batch short_batch; /* short texts that interrupt a long one */
} Worker;

static Batch batch_new(const Pool *pool) {
    size_t capacity = (size_t)pool->options.max_batch;
    Batch batch = {0};
    batch.items = mem_alloc(capacity, sizeof *batch.items);
    batch.texts = mem_alloc(capacity, sizeof *batch.texts);
    return batch;
}

static void batch_free(Batch *batch) {
    mem_free(batch->items);
    mem_free(batch->texts);
}

static bool same_target(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool same_kind(JobKind a, JobKind b) {
    return a.model == b.model && same_target(a.target, b.target) && a.html == b.html &&
           a.document == b.document && a.n_best == b.n_best && a.attention == b.attention &&
           a.accelerator == b.accelerator;
}

static void copy_failure(Batch *batch, Job *job) {
    const char *reason;
    batch->failure = cached_model_failure(job->kind.model, &reason);
    snprintf(job->reason, sizeof job->reason, "%s", reason);
}

/* Moves texts of the job to the batch, until it has `limit` texts. Under the lock. */
static void batch_add(Pool *pool, Batch *batch, Job *job, int limit) {
    while (job->scheduled < job->count && batch->count < limit) {
        int characters = job->items[job->scheduled].characters;
        if (!same_kind(job->kind, batch->kind) || next_text_is_long(job) != batch->is_long) return;
        if (batch->count > 0 && batch->characters + characters > POOL_BATCH_CHARACTERS) return;
        batch->texts[batch->count] = job->texts[job->scheduled];
        batch->items[batch->count++] = (BatchItem){job, job->scheduled++};
        batch->characters += characters;
        job->queued_characters -= (size_t)characters;
        if (!batch->model) copy_failure(batch, job);
    }
    if (job->scheduled == job->count) queue_remove(pool, job);
}

/* Fills the batch with this thread's quota: texts of job `first`, then texts of the same kind from other
 * jobs. Rule 2 of pool.h. Under the lock. */
static void batch_fill(Pool *pool, Batch *batch, Job *first) {
    int free_threads = pool->idle + 1;
    CachedModel *model = first->kind.model;
    int quota = (cached_model_waiting(model) + free_threads - 1) / free_threads;
    int limit = quota < pool->options.max_batch ? quota : pool->options.max_batch;
    batch->count = batch->characters = 0;
    batch->kind = first->kind;
    batch->is_long = next_text_is_long(first);
    batch->model = cached_model_take(model);
    batch_add(pool, batch, first, limit);
    for (Job *job = pool->first, *next; job && batch->count < limit; job = next) {
        next = job->next;
        batch_add(pool, batch, job, limit);
    }
    pool->stats.queued_texts -= batch->count;
    pool->stats.queued_characters -= (size_t)batch->characters;
    cached_model_leave(model, batch->count);
    pool->stats.texts += batch->model ? batch->count : 0;
    pool->stats.batches++;
    pool->long_batches += batch->is_long;
}

static void set_result(const Batch *batch, int first, int count, SharedResult *shared,
                       attn_mt_status status) {
    for (int i = 0; i < count; i++) {
        const BatchItem *item = &batch->items[first + i];
        item->job->items[item->text] = (JobText){.result = shared, .index = i, .status = status};
    }
}

static void serve_short_texts(void *context, double fraction);

/* Translates texts first..first+count-1 of the batch. If that fails, translates them one by one, so that one
 * text cannot fail the others. */
static void batch_translate(Worker *worker, const Batch *batch, int first, int count) {
    const Pool *pool = worker->pool;
    if (!batch->model) {
        set_result(batch, first, count, NULL, batch->failure);
        return;
    }
    const DocumentFormat *document = batch->kind.document;
    attn_mt_guide guide = loaded_model_guide(batch->model, batch->kind.target);
    guide.tags = guide.confidence = document != NULL;
    guide.wrapped = document && document->is_wrapped;
    guide.tags_aside = document && document->has_many_tags;
    attn_mt_options options = {.memory_limit = pool->options.batch_memory,
                               .beam_size = pool->options.beam_size,
                               .n_best = batch->kind.n_best,
                               .batch_size = batch->is_long ? LONG_TEXT_SENTENCES : pool->options.max_batch,
                               .progress = batch->is_long ? serve_short_texts : NULL,
                               .progress_context = worker,
                               .split = pool->options.split || document,
                               .markup = batch->kind.html,
                               .attention = batch->kind.attention,
                               .accelerator = batch->kind.accelerator,
                               .shortlist = pool->options.shortlist,
                               .guide = &guide};
    if (options.beam_size > 0 && options.beam_size < options.n_best) options.beam_size = options.n_best;
    attn_mt_result *result;
    attn_mt_status status = attn_mt_translate(loaded_model_handle(batch->model), batch->texts + first, count,
                                              &options, &result, NULL);
    /* NOANALYZE(malloc-leak): after the loop of set_result gcc knows only the last text that has it */
    SharedResult *shared = status == ATTN_MT_OK ? malloc(sizeof *shared) : NULL;
    if (status == ATTN_MT_OK && !shared) status = ATTN_MT_MEMORY;
    if (shared) {
        shared->result = result;
        atomic_init(&shared->references, count);
        set_result(batch, first, count, shared, status);
        return;
    }
    attn_mt_release(result);
    if (count == 1) set_result(batch, first, 1, NULL, status);
    for (int i = 0; count > 1 && i < count; i++) batch_translate(worker, batch, first + i, 1);
}

/* Calls `done` of the jobs that this batch completes. */
static void batch_finish(Pool *pool, const Batch *batch) {
    pthread_mutex_lock(&pool->lock);
    pool->long_batches -= batch->is_long;
    if (batch->model) loaded_model_release(batch->model);
    if (batch->is_long) pthread_cond_broadcast(&pool->work); /* a thread may wait for this: rule 3 */
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < batch->count; i++) {
        Job *job = batch->items[i].job;
        pthread_mutex_lock(&pool->lock);
        bool last = --job->unfinished == 0;
        pthread_mutex_unlock(&pool->lock);
        if (last) job->done(job->context, job);
    }
}

/* Called while a long text is translated, after every few sentences. If short texts are queued and no thread
 * is free, translates a batch of them. */
static void serve_short_texts(void *context, double fraction) {
    Worker *worker = context;
    Pool *pool = worker->pool;
    (void)fraction;
    pthread_mutex_lock(&pool->lock);
    Job *job = pool->idle == 0 ? choose_job(pool, true) : NULL;
    if (job) batch_fill(pool, &worker->short_batch, job);
    pthread_mutex_unlock(&pool->lock);
    if (!job) return;
    batch_translate(worker, &worker->short_batch, 0, worker->short_batch.count);
    batch_finish(pool, &worker->short_batch);
}

static void finish_cancelled(Job *job) {
    for (Job *next; job; job = next) {
        next = job->next;
        job->done(job->context, job);
    }
}

/* Clients often send their next request as soon as they have a response. Waits until `expected` texts are
 * queued, as if every client did so, or the time is over. Then the texts share a batch. Under the lock. */
static void wait_for_more(Pool *pool, int answered, int expected) {
    if (expected > pool->options.max_batch) expected = pool->options.max_batch;
    if (expected <= 1 || pool->idle > 1) return; /* no batch to form, or another thread is free */
    double until = clock_seconds() + WAIT_PER_TEXT * answered;
    while (pool->stats.queued_texts < expected && !pool->stop && clock_seconds() < until) {
        pthread_mutex_unlock(&pool->lock);
        nanosleep(&(struct timespec){.tv_nsec = NAP_NANOSECONDS}, NULL);
        pthread_mutex_lock(&pool->lock);
    }
}

/* Is more queued than one batch can take? */
static bool is_crowded(const Pool *pool) {
    return pool->stats.queued_texts > pool->options.max_batch ||
           pool->stats.queued_characters > POOL_BATCH_CHARACTERS;
}

/* Waits for a job for this thread; NULL: the pool stops. An idle thread returns memory to the system if its
 * `trims` is behind the pool's: mem_trim reaches the end of an arena only from the arena's own thread. Under
 * the lock. */
static Job *wait_for_work(Pool *pool, long *trims) {
    Job *job;
    while (!(job = choose_job(pool, is_last_for_short_texts(pool))) && !pool->stop) {
        if (*trims == pool->trims) {
            pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        *trims = pool->trims;
        pthread_mutex_unlock(&pool->lock);
        mem_trim();
        pthread_mutex_lock(&pool->lock);
    }
    return job;
}

static void *pool_thread(void *context) {
    Pool *pool = context;
    Worker worker = {pool, batch_new(pool), batch_new(pool)};
    Batch *batch = &worker.batch;
    int expected = 0; /* texts, if every answered client asks again */
    long trims = 0;
    void *reserve = mem_reserve();
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        pool->idle++;
        wait_for_more(pool, batch->count, expected);
        Job *job = wait_for_work(pool, &trims);
        pool->idle--;
        if (!job) break;
        Job *cancelled = NULL;
        if (is_crowded(pool)) {
            cancelled = cancel_abandoned(pool);
            job = choose_job(pool, is_last_for_short_texts(pool));
        }
        batch->count = 0;
        if (job) batch_fill(pool, batch, job);
        pthread_mutex_unlock(&pool->lock);
        finish_cancelled(cancelled);
        if (job && batch->is_long) trims = -1; /* its search takes far more memory than that of short texts */
        if (job) batch_translate(&worker, batch, 0, batch->count);
        expected = pool_stats(pool).queued_texts + batch->count;
        if (job) batch_finish(pool, batch);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    batch_free(&worker.batch);
    batch_free(&worker.short_batch);
    free(reserve);
    return NULL;
}

/* ---- the pool ---- */

void pool_trim(Pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->trims++;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    mem_trim();
}

bool pool_submit(Pool *pool, Job *job) {
    job->cancelled = false;
    job->reason[0] = '\0';
    job->scheduled = 0;
    job->unfinished = job->count;
    job->queued_characters = 0;
    for (int i = 0; i < job->count; i++) {
        size_t characters = text_characters(job->texts[i]);
        job->items[i].characters = (int)characters;
        job->queued_characters += characters;
    }
    pthread_mutex_lock(&pool->lock);
    size_t queued = pool->stats.queued_characters, most = pool->options.max_queued;
    bool fits = job->goes_on || (queued < most && job->queued_characters <= (most - queued) / 2);
    if (fits) {
        queue_add(pool, job);
        cached_model_await(job->kind.model, job->count);
        pool->stats.queued_texts += job->count;
        pool->stats.queued_characters += job->queued_characters;
        pthread_cond_broadcast(&pool->work);
    }
    pthread_mutex_unlock(&pool->lock);
    return fits;
}

PoolStats pool_stats(Pool *pool) {
    pthread_mutex_lock(&pool->lock);
    PoolStats stats = pool->stats;
    pthread_mutex_unlock(&pool->lock);
    return stats;
}

ModelCache *pool_models(Pool *pool) { return pool->models; }

static Status start_threads(Pool *pool) {
    sigset_t before = signals_block();
    pool->threads = mem_alloc((size_t)pool->options.threads, sizeof *pool->threads);
    while (pool->started < pool->options.threads &&
           pthread_create(&pool->threads[pool->started], NULL, pool_thread, pool) == 0)
        pool->started++;
    signals_restore(before);
    return pool->started > 0 ? STATUS_OK : status_fail(STATUS_RUNTIME, "cannot start a thread");
}

Status pool_new(Pool **result, const PoolOptions *options) {
    Pool *pool = mem_alloc(1, sizeof *pool);
    pool->options = *options;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    ModelCacheOptions models = {.precision = options->precision,
                                .shortlist = options->shortlist,
                                .most_bytes = options->model_memory,
                                .lock = &pool->lock,
                                .changed = &pool->work};
    Status status = model_cache_new(&pool->models, &models);
    if (status == STATUS_OK) status = start_threads(pool);
    if (status != STATUS_OK) pool_free(pool), pool = NULL;
    *result = pool;
    return status;
}

void pool_free(Pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->started; i++) pthread_join(pool->threads[i], NULL);
    model_cache_free(pool->models);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    mem_free(pool->threads);
    mem_free(pool);
}

/* ---- results ---- */

const attn_mt_candidate *job_candidate(const Job *job, int text, int rank) {
    const JobText *item = &job->items[text];
    return attn_mt_candidate_at(item->result->result, item->index, rank);
}

const attn_mt_matrix *job_attention(const Job *job, int text) {
    const JobText *item = &job->items[text];
    return attn_mt_attention(item->result->result, item->index, 0);
}

double job_confidence(const Job *job, int text) {
    const JobText *item = &job->items[text];
    const attn_mt_confidence *confidence = attn_mt_confidence_at(item->result->result, item->index, 0);
    if (job_candidate(job, text, 0)->problems) return 0;
    if (!confidence) return 1;
    return isfinite(confidence->confidence) ? confidence->confidence : 0;
}

bool job_from_memory(const Job *job, int text) {
    const JobText *item = &job->items[text];
    const attn_mt_match *match = attn_mt_match_at(item->result->result, item->index);
    return match && match->used;
}

void job_release(Job *job) {
    for (int i = 0; i < job->count; i++) {
        SharedResult *shared = job->items[i].result;
        job->items[i].result = NULL; /* the array can serve another job */
        if (!shared || atomic_fetch_sub(&shared->references, 1) > 1) continue;
        attn_mt_release(shared->result);
        free(shared);
    }
}
