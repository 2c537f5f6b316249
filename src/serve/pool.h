/* pool.h - threads that translate the texts of queued jobs in batches.
 *
 * A job is the list of texts of one request. Its life:
 *
 *     pool_submit --> queue --> batches --> job->done --> job_release
 *          |            |
 *          |            +--> the client has gone: job->cancelled, job->done
 *          +--> no space in the queue: false
 *
 * A batch can have texts of several jobs, and a job can have texts in several batches. A job leaves the queue
 * when its last text is in a batch, and is done when all of its batches are. A job waits in the queue until
 * its model is in memory (model_cache.h); all texts of a batch have one model.
 *
 * The scheduler. Size is counted in characters. A connection has at most one job in the queue.
 *   1. A free thread chooses the job with the fewest characters left. Every fourth batch begins with the
 *      oldest job instead, so that no job starves.
 *   2. A batch has at most PoolOptions.max_batch texts and POOL_BATCH_CHARACTERS characters, or one text that
 *      is longer. A thread takes at most its quota: the number of queued texts of the model divided by the
 *      number of free threads. So a single text is translated at once, and many texts together.
 *   3. A text of POOL_LONG_TEXT characters or more is long. If there are several threads, at least one of
 *      them has no long text. A thread with a long text looks at the queue after every few sentences. If
 *      short texts are queued and no thread is free, it translates a batch of them first.
 *   4. A job is refused if it is larger than half of the space left in the queue. So the fuller the queue,
 *      the smaller the jobs that it accepts. A job that goes on with the results of another is not refused.
 *   5. While the queue holds more than one batch, jobs whose clients have gone are cancelled.
 *
 * After a batch a thread waits for the answered clients to send their next requests: at most a ten-thousandth
 * of a second for each text.
 *
 *   Memory    each batch has a limit, and the batch of short texts beside a long one has the same. If that is
 *             not enough, the texts of the batch are translated one by one
 *   Reload    a batch keeps the models that it began with
 *   Fails     pool_new: STATUS_RUNTIME. If a model cannot be loaded, its jobs fail with the reason
 *   Threads   any, except pool_new and pool_free
 */
#ifndef SERVE_POOL_H
#define SERVE_POOL_H

#include <stdbool.h>
#include "base/status.h"
#include "base/strview.h"
#include "documents/document.h"
#include "library/attn_mt.h"
#include "serve/model_cache.h"

typedef struct Pool Pool;
typedef struct SharedResult SharedResult;

/* How the texts of a job are translated. The texts of a batch have the same kind. */
typedef struct {
    CachedModel *model;
    const char *target; /* language token of the model, as in attn_mt_guide; or NULL */
    bool html;
    const DocumentFormat *document;     /* that the texts are from: they have a confidence; or NULL */
    int n_best, attention, accelerator; /* as in attn_mt_options */
} JobKind;

enum { POOL_BATCH_CHARACTERS = 2000, POOL_LONG_TEXT = 500 };

/* One text of a job, with its result. */
typedef struct {
    int characters;       /* private: the size of the text, at least 1 */
    SharedResult *result; /* NULL if the translation failed */
    int index;            /* of the text in the result */
    attn_mt_status status;
} JobText;

/* Owner: the caller owns the job and its arrays, which must live until `done` is called. */
typedef struct Job {
    JobKind kind;
    const char *const *texts; /* [count] */
    JobText *items;           /* [count] */
    int count;
    /* Called on a thread of the pool when the job is complete or cancelled. The pool no longer uses the
     * job. */
    void (*done)(void *context, struct Job *job);
    bool (*client_gone)(void *context); /* called with the pool's lock held */
    void *context;                      /* of both */
    bool goes_on;                       /* with the results of a job that was accepted: never refused */
    bool cancelled;                     /* the client has gone, and some texts have no result */
    char reason[256];                   /* why the model cannot be loaded; otherwise empty */
    /* Private. */
    struct Job *next, *previous;
    int scheduled, unfinished; /* texts: in a batch so far; without a result */
    size_t queued_characters;  /* of the texts that are in no batch yet */
} Job;

typedef struct {
    attn_mt_precision precision;
    int threads, max_batch; /* max_batch: texts */
    int beam_size;          /* 0: the model's own */
    int shortlist;          /* as in attn_mt_options */
    bool split;
    size_t max_queued;   /* characters */
    size_t batch_memory; /* bytes */
    size_t model_memory; /* bytes of all models but fixed ones; 0: no limit */
} PoolOptions;

typedef struct {
    int queued_texts;
    size_t queued_characters;
    long batches, texts; /* since the start */
} PoolStats;

Status pool_new(Pool **pool, const PoolOptions *options);
void pool_free(Pool *pool); /* the queue must be empty, and no catalog left */
ModelCache *pool_models(Pool *pool);
/* The size of texts [count] in the queue: their characters, and one more for each text. */
size_t pool_characters(const char *const *texts, int count);
/* False if the queue has no space for the job; then nothing has happened. A job has at least one text. */
bool pool_submit(Pool *pool, Job *job);
/* Returns freed memory to the system. */
void pool_trim(Pool *pool);
PoolStats pool_stats(Pool *pool);

/* The results of a text whose status is ATTN_MT_OK. NULL: there is no candidate of this rank, or no
 * weights. */
const attn_mt_candidate *job_candidate(const Job *job, int text, int rank);
const attn_mt_matrix *job_attention(const Job *job, int text);
/* 0 to 1: 0 if something is wrong with the translation, 1 if the text was copied. For texts of documents. */
double job_confidence(const Job *job, int text);
bool job_from_memory(const Job *job, int text);
/* Frees the results. */
void job_release(Job *job);

#endif
