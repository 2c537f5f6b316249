/* pool.c - a line of jobs, threads that take texts out of it, and two counted references. */
#include "serve/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"

/* Seconds that a thread waits for more texts, for each that it has just answered; it looks after each nap. */
static const double PATIENCE = 1e-4;
enum { NAP_NANOSECONDS = 50000 };
enum { OLDEST_EVERY = 4 /* batches */, PART_SENTENCES = 4 /* of a long text */ };

/* A model with those who use it: the pool while it is current, and each batch. */
typedef struct {
    attn_mt_model *model;
    int users; /* under the pool's lock */
} Served;

/* A result with the jobs that have texts in it. */
struct SharedResult {
    attn_mt_result *result;
    atomic_int users;
};

struct Pool {
    PoolOptions options;
    const char **paths; /* of the models */
    Served *served;
    pthread_t *threads;
    int started;
    pthread_mutex_t lock;
    pthread_cond_t work;
    Job *first, *last; /* the line, in the order of arrival */
    int idle;          /* threads */
    int long_batches;  /* in work */
    long trims;        /* calls of pool_trim */
    bool stop;
    PoolFigures figures;
};

/* ---- models ---- */

static Status served_open(const Pool *pool, Served **served) {
    attn_mt_error error;
    attn_mt_model *model;
    attn_mt_result *nothing = NULL;
    attn_mt_options options = {.shortlist = pool->options.shortlist};
    attn_mt_status failed =
        attn_mt_open(&model, pool->paths, (int)pool->options.models->count, pool->options.precision, &error);
    /* Of no texts: are the options possible? */
    if (!failed) failed = attn_mt_translate(model, NULL, 0, &options, &nothing, &error);
    attn_mt_release(nothing);
    if (failed) {
        attn_mt_close(model);
        Status status = failed == ATTN_MT_MEMORY ? STATUS_RUNTIME : (Status)failed;
        status_fail(status, "%s", error.message);
        if (error.hint[0]) status_hint(status, "%s", error.hint);
        return status;
    }
    *served = mem_alloc(1, sizeof **served);
    **served = (Served){model, 1};
    return STATUS_OK;
}

/* Outside of the lock: closing takes time. */
static void served_leave(Pool *pool, Served *served) {
    pthread_mutex_lock(&pool->lock);
    bool last = --served->users == 0;
    pthread_mutex_unlock(&pool->lock);
    if (!last) return;
    attn_mt_close(served->model);
    mem_free(served);
    mem_trim(); /* threads may have put what they keep between the weights */
}

Status pool_reload(Pool *pool) {
    Served *fresh;
    TRY(served_open(pool, &fresh));
    pthread_mutex_lock(&pool->lock);
    Served *old = pool->served;
    pool->served = fresh;
    pool->figures.reloads++;
    pthread_mutex_unlock(&pool->lock);
    served_leave(pool, old);
    return STATUS_OK;
}

/* ---- the line ---- */

static size_t text_characters(const char *text) { return utf8_count(sv(text)) + 1; }

size_t pool_characters(const char *const *texts, int count) {
    size_t characters = 0;
    for (int i = 0; i < count; i++) characters += text_characters(texts[i]);
    return characters;
}

/* Under the lock, as all of this section. */
static void line_add(Pool *pool, Job *job) {
    job->next = NULL;
    job->previous = pool->last;
    *(pool->last ? &pool->last->next : &pool->first) = job;
    pool->last = job;
}

static void line_remove(Pool *pool, const Job *job) {
    *(job->previous ? &job->previous->next : &pool->first) = job->next;
    *(job->next ? &job->next->previous : &pool->last) = job->previous;
}

/* Take jobs that nobody waits for out of the line. Those of which no thread has a text are returned: nobody
 * else ends them. */
static Job *drop_unwanted(Pool *pool) {
    Job *dropped = NULL;
    for (Job *job = pool->first, *next; job; job = next) {
        next = job->next;
        if (!job->unwanted(job->context)) continue;
        line_remove(pool, job);
        job->dropped = true;
        pool->figures.waiting -= job->count - job->taken;
        pool->figures.characters -= job->left;
        job->unfinished -= job->count - job->taken;
        if (job->unfinished > 0) continue;
        job->next = dropped;
        dropped = job;
    }
    return dropped;
}

/* Is the text that comes next of the job long? */
static bool job_is_long(const Job *job) { return job->items[job->taken].characters >= POOL_LONG_TEXT; }

/* Must a free thread be spared for short texts? */
static bool is_spared(const Pool *pool) {
    return pool->options.threads > 1 && pool->long_batches + 1 >= pool->options.threads;
}

/* The job that a thread turns to, of those whose next text is short if `spared`; NULL if there is none. See
 * the head of pool.h. */
static Job *choose(const Pool *pool, bool spared) {
    bool oldest = pool->figures.batches % OLDEST_EVERY == OLDEST_EVERY - 1;
    Job *best = NULL;
    for (Job *job = pool->first; job && !(oldest && best); job = job->next) {
        if (spared && job_is_long(job)) continue;
        if (!best || job->left < best->left) best = job;
    }
    return best;
}

/* ---- batches ---- */

/* One text of a batch. */
typedef struct {
    Job *job;
    int number; /* of the text in the job */
} Place;

/* What a thread translates at a time. Its texts are of one kind, and all long or all short. */
typedef struct {
    Place *places;      /* [count] */
    const char **texts; /* [count] */
    int count, characters;
    JobKind kind;
    bool is_long;
    Served *served;
} Batch;

typedef struct {
    Pool *pool;
    Batch batch, aside; /* aside: short texts, between the parts of a long one */
} Worker;

static Batch batch_new(const Pool *pool) {
    size_t most = (size_t)pool->options.batch;
    Batch batch = {0};
    batch.places = mem_alloc(most, sizeof *batch.places);
    batch.texts = mem_alloc(most, sizeof *batch.texts);
    return batch;
}

static void batch_free(Batch *batch) {
    mem_free(batch->places);
    mem_free(batch->texts);
}

static bool same_kind(JobKind a, JobKind b) {
    return a.html == b.html && a.n_best == b.n_best && a.attention == b.attention;
}

/* Add texts of the job to the batch, which has room for `most` in all. Under the lock. */
static void batch_add(Pool *pool, Batch *batch, Job *job, int most) {
    while (job->taken < job->count && batch->count < most) {
        int characters = job->items[job->taken].characters;
        if (!same_kind(job->kind, batch->kind) || job_is_long(job) != batch->is_long) return;
        if (batch->count > 0 && batch->characters + characters > POOL_BATCH_CHARACTERS) return;
        batch->texts[batch->count] = job->texts[job->taken];
        batch->places[batch->count++] = (Place){job, job->taken++};
        batch->characters += characters;
        job->left -= (size_t)characters;
    }
    if (job->taken == job->count) line_remove(pool, job);
}

/* Take this thread's share of what waits: texts of the chosen job, and others like its first. Under the
 * lock. */
static void batch_take(Pool *pool, Batch *batch, Job *chosen) {
    int free_threads = pool->idle + 1;
    int share = (pool->figures.waiting + free_threads - 1) / free_threads;
    int most = share < pool->options.batch ? share : pool->options.batch;
    batch->count = batch->characters = 0;
    batch->kind = chosen->kind;
    batch->is_long = job_is_long(chosen);
    batch->served = pool->served;
    batch->served->users++;
    batch_add(pool, batch, chosen, most);
    for (Job *job = pool->first, *next; job && batch->count < most; job = next) {
        next = job->next;
        batch_add(pool, batch, job, most);
    }
    pool->figures.waiting -= batch->count;
    pool->figures.characters -= (size_t)batch->characters;
    pool->figures.texts += batch->count;
    pool->figures.batches++;
    pool->long_batches += batch->is_long;
}

static void set_result(const Batch *batch, int first, int count, SharedResult *shared,
                       attn_mt_status status) {
    for (int i = 0; i < count; i++) {
        const Place *place = &batch->places[first + i];
        place->job->items[place->number] = (JobText){.result = shared, .number = i, .status = status};
    }
}

static void between_parts(void *context, double share);

/* Translate some texts of the batch; where that fails, each by itself: one cannot spoil the others. */
static void batch_translate(Worker *worker, const Batch *batch, int first, int count) {
    const Pool *pool = worker->pool;
    attn_mt_options options = {.memory_limit = pool->options.memory,
                               .beam_size = pool->options.beam_size,
                               .n_best = batch->kind.n_best,
                               .batch_size = batch->is_long ? PART_SENTENCES : pool->options.batch,
                               .progress = batch->is_long ? between_parts : NULL,
                               .progress_context = worker,
                               .split = pool->options.split,
                               .markup = batch->kind.html,
                               .attention = batch->kind.attention,
                               .shortlist = pool->options.shortlist};
    if (options.beam_size > 0 && options.beam_size < options.n_best) options.beam_size = options.n_best;
    attn_mt_result *result;
    attn_mt_status status =
        attn_mt_translate(batch->served->model, batch->texts + first, count, &options, &result, NULL);
    /* NOANALYZE(malloc-leak): after the loop of set_result gcc knows only the last text that has it */
    SharedResult *shared = status == ATTN_MT_OK ? malloc(sizeof *shared) : NULL;
    if (status == ATTN_MT_OK && !shared) status = ATTN_MT_MEMORY;
    if (shared) {
        shared->result = result;
        atomic_init(&shared->users, count);
        set_result(batch, first, count, shared, status);
        return;
    }
    attn_mt_release(result);
    if (count == 1) set_result(batch, first, 1, NULL, status);
    for (int i = 0; count > 1 && i < count; i++) batch_translate(worker, batch, first + i, 1);
}

/* Tell the jobs that have no more unfinished texts. */
static void batch_finish(Pool *pool, const Batch *batch) {
    pthread_mutex_lock(&pool->lock);
    pool->long_batches -= batch->is_long;
    if (batch->is_long) pthread_cond_broadcast(&pool->work); /* a thread was spared */
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < batch->count; i++) {
        Job *job = batch->places[i].job;
        pthread_mutex_lock(&pool->lock);
        bool last = --job->unfinished == 0;
        pthread_mutex_unlock(&pool->lock);
        if (last) job->done(job->context, job);
    }
    served_leave(pool, batch->served);
}

/* A long text has come as far as this. If short ones wait and no thread is free, they come first. */
static void between_parts(void *context, double share) {
    Worker *worker = context;
    Pool *pool = worker->pool;
    (void)share;
    pthread_mutex_lock(&pool->lock);
    Job *chosen = pool->idle == 0 ? choose(pool, true) : NULL;
    if (chosen) batch_take(pool, &worker->aside, chosen);
    pthread_mutex_unlock(&pool->lock);
    if (!chosen) return;
    batch_translate(worker, &worker->aside, 0, worker->aside.count);
    batch_finish(pool, &worker->aside);
}

static void finish_dropped(Job *dropped) {
    for (Job *next; dropped; dropped = next) {
        next = dropped->next;
        dropped->done(dropped->context, dropped);
    }
}

/* Who was just answered often asks again at once: wait a moment until as many texts are there as would be if
 * all did, so that they are translated together. Under the lock. */
static void await_more(Pool *pool, int answered, int wanted) {
    if (wanted > pool->options.batch) wanted = pool->options.batch;
    if (wanted <= 1 || pool->idle > 1) return; /* nothing to put together, or somebody else to take it */
    double until = clock_seconds() + PATIENCE * answered;
    while (pool->figures.waiting < wanted && !pool->stop && clock_seconds() < until) {
        pthread_mutex_unlock(&pool->lock);
        nanosleep(&(struct timespec){.tv_nsec = NAP_NANOSECONDS}, NULL);
        pthread_mutex_lock(&pool->lock);
    }
}

/* Does more wait than one batch takes? */
static bool is_crowded(const Pool *pool) {
    return pool->figures.waiting > pool->options.batch || pool->figures.characters > POOL_BATCH_CHARACTERS;
}

/* Wait until there is a job for this thread; NULL: there will be none any more. An idle thread gives memory
 * back, because mem_trim reaches the end of its arena only from there: if `trims` is behind the pool's.
 * Under the lock. */
static Job *await_work(Pool *pool, long *trims) {
    Job *chosen;
    while (!(chosen = choose(pool, is_spared(pool))) && !pool->stop) {
        if (*trims == pool->trims) {
            pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        *trims = pool->trims;
        pthread_mutex_unlock(&pool->lock);
        mem_trim();
        pthread_mutex_lock(&pool->lock);
    }
    return chosen;
}

static void *pool_thread(void *context) {
    Pool *pool = context;
    Worker worker = {pool, batch_new(pool), batch_new(pool)};
    Batch *batch = &worker.batch;
    int wanted = 0;
    long trims = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        pool->idle++;
        await_more(pool, batch->count, wanted);
        Job *chosen = await_work(pool, &trims);
        pool->idle--;
        if (!chosen) break;
        Job *dropped = NULL;
        if (is_crowded(pool)) {
            dropped = drop_unwanted(pool);
            chosen = choose(pool, is_spared(pool));
        }
        batch->count = 0;
        if (chosen) batch_take(pool, batch, chosen);
        pthread_mutex_unlock(&pool->lock);
        finish_dropped(dropped);
        if (chosen && batch->is_long)
            trims = -1; /* its search takes far more memory than that of short ones */
        if (chosen) batch_translate(&worker, batch, 0, batch->count);
        wanted = pool_figures(pool).waiting + batch->count;
        if (chosen) batch_finish(pool, batch);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    batch_free(&worker.batch);
    batch_free(&worker.aside);
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
    job->dropped = false;
    job->taken = 0;
    job->unfinished = job->count;
    job->left = 0;
    for (int i = 0; i < job->count; i++) {
        size_t characters = text_characters(job->texts[i]);
        job->items[i].characters = (int)characters;
        job->left += characters;
    }
    pthread_mutex_lock(&pool->lock);
    bool fits = job->left <= (pool->options.most_waiting - pool->figures.characters) / 2;
    if (fits) {
        line_add(pool, job);
        pool->figures.waiting += job->count;
        pool->figures.characters += job->left;
        pthread_cond_broadcast(&pool->work);
    }
    pthread_mutex_unlock(&pool->lock);
    return fits;
}

PoolFigures pool_figures(Pool *pool) {
    pthread_mutex_lock(&pool->lock);
    PoolFigures figures = pool->figures;
    pthread_mutex_unlock(&pool->lock);
    return figures;
}

static void copy_language(char copy[POOL_LANGUAGE], const char *name) {
    bool fits = name && strlen(name) < POOL_LANGUAGE;
    snprintf(copy, POOL_LANGUAGE, "%s", fits ? name : "");
}

PoolLanguages pool_languages(Pool *pool) {
    PoolLanguages languages = {"", ""};
    pthread_mutex_lock(&pool->lock);
    copy_language(languages.source, attn_mt_source_language(pool->served->model));
    copy_language(languages.target, attn_mt_target_language(pool->served->model));
    pthread_mutex_unlock(&pool->lock);
    return languages;
}

/* Signals go to the thread that called. */
static Status start_threads(Pool *pool) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pool->threads = mem_alloc((size_t)pool->options.threads, sizeof *pool->threads);
    while (pool->started < pool->options.threads &&
           pthread_create(&pool->threads[pool->started], NULL, pool_thread, pool) == 0)
        pool->started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pool->started > 0 ? STATUS_OK : status_fail(STATUS_RUNTIME, "cannot start a thread");
}

Status pool_new(Pool **made, const PoolOptions *options) {
    Pool *pool = mem_alloc(1, sizeof *pool);
    pool->options = *options;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pool->paths = mem_alloc(options->models->count, sizeof *pool->paths);
    for (size_t i = 0; i < options->models->count; i++) pool->paths[i] = options->models->items[i];
    Status status = served_open(pool, &pool->served);
    if (status == STATUS_OK) status = start_threads(pool);
    if (status != STATUS_OK) pool_free(pool), pool = NULL;
    *made = pool;
    return status;
}

void pool_free(Pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->started; i++) pthread_join(pool->threads[i], NULL);
    if (pool->served) served_leave(pool, pool->served);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    mem_free(pool->threads);
    mem_free(pool->paths);
    mem_free(pool);
}

/* ---- results ---- */

const attn_mt_candidate *job_candidate(const Job *job, int text, int rank) {
    const JobText *item = &job->items[text];
    return attn_mt_candidate_at(item->result->result, item->number, rank);
}

const attn_mt_matrix *job_attention(const Job *job, int text) {
    const JobText *item = &job->items[text];
    return attn_mt_attention(item->result->result, item->number, 0);
}

void job_release(Job *job) {
    for (int i = 0; i < job->count; i++) {
        SharedResult *shared = job->items[i].result;
        if (!shared || atomic_fetch_sub(&shared->users, 1) > 1) continue;
        attn_mt_release(shared->result);
        free(shared);
    }
}
