/* pool.h - threads that translate what waits, many texts at a time, with a model that can be replaced.
 *
 * Who is next. Size is counted in characters. A connection has one job in the line at a time.
 *   1. A free thread turns to the job with the least left to translate. Every fourth batch begins with the
 *      job that has waited longest, so that each comes to its end.
 *   2. A batch has at most PoolOptions.batch texts and POOL_BATCH_CHARACTERS characters, or one text that is
 *      longer. A thread takes no more than its share: the texts that wait, divided by the free threads. So
 *      one text is translated at once, and many are translated together.
 *   3. Texts of POOL_LONG_TEXT characters or more are long. Of several threads one takes none while all
 *      others have one in work. If short texts wait and no thread is free, a thread that has a long text in
 *      work translates a batch of them after every few sentences.
 *   4. A job is refused if it is larger than half of the room that the line has left. So the fuller the line,
 *      the shorter what it still takes.
 *   5. While more waits than one batch takes, jobs leave the line whose clients have gone.
 *
 * After a batch a thread waits a moment, a ten-thousandth of a second for each text, for clients that were
 * answered to ask again.
 *
 *   Memory    of one batch is bounded, and as much again for short texts beside a long one. Where that is not
 *             enough, the texts of the batch are translated one by one
 *   Reload    a batch keeps the model that it began with
 *   Fails     pool_new, pool_reload: as attn_mt_open
 *   Threads   all functions but pool_new and pool_free may be called on any thread
 */
#ifndef SERVE_POOL_H
#define SERVE_POOL_H

#include <stdbool.h>
#include "base/status.h"
#include "base/strview.h"
#include "library/attn_mt.h"

typedef struct Pool Pool;
typedef struct SharedResult SharedResult;

/* How texts are to be translated; those of one batch are alike in that. */
typedef struct {
    bool html;
    int n_best, attention; /* as in attn_mt_options */
} JobKind;

enum { POOL_BATCH_CHARACTERS = 2000, POOL_LONG_TEXT = 500 };

/* One text of a job, and what became of it. */
typedef struct {
    int characters;       /* the pool's own: what it counts for, at least 1 */
    SharedResult *result; /* or NULL: it failed */
    int number;           /* of the text in the result */
    attn_mt_status status;
} JobText;

/* Texts that are answered together. The pool touches nothing else of whoever has it. */
typedef struct Job {
    JobKind kind;
    const char *const *texts; /* [count] */
    JobText *items;           /* [count] */
    int count;
    void (*done)(void *context,
                 struct Job *job);   /* on a thread of the pool; then the job is the owner's again */
    bool (*unwanted)(void *context); /* does nobody wait for it any more? Called under the pool's lock */
    void *context;                   /* of both */
    bool dropped;                    /* by the pool, for that reason: not all texts have a result */
    /* The pool's own. */
    struct Job *next, *previous;
    int taken, unfinished; /* texts */
    size_t left;           /* characters of the texts that no thread has taken */
} Job;

typedef struct {
    const StrList *models;
    attn_mt_precision precision;
    int threads, batch, beam_size; /* beam_size 0: the model's own */
    int shortlist;                 /* as in attn_mt_options */
    bool split;
    size_t most_waiting; /* characters */
    size_t memory;       /* of a batch, bytes */
} PoolOptions;

enum { POOL_LANGUAGE = 40 }; /* characters of the name of a language, with its NUL */

typedef struct {
    int waiting;       /* texts */
    size_t characters; /* of them */
    long batches, texts, reloads;
} PoolFigures;

typedef struct {
    char source[POOL_LANGUAGE], target[POOL_LANGUAGE]; /* of the models that are served; "" if not known */
} PoolLanguages;

Status pool_new(Pool **pool, const PoolOptions *options);
void pool_free(Pool *pool); /* no job may wait */
/* What texts [count] count for: their characters, and one more each. */
size_t pool_characters(const char *const *texts, int count);
/* False if too much waits: then nothing was taken. `job` needs at least one text. */
bool pool_submit(Pool *pool, Job *job);
/* Give memory that was freed back to the system. */
void pool_trim(Pool *pool);
/* Load the models again; with what they were, if that fails. */
Status pool_reload(Pool *pool);
PoolFigures pool_figures(Pool *pool);
PoolLanguages pool_languages(Pool *pool);

/* What was found for a text, which must not have failed; NULL: there are not so many candidates, or no
 * weights. */
const attn_mt_candidate *job_candidate(const Job *job, int text, int rank);
const attn_mt_matrix *job_attention(const Job *job, int text);
/* Give the results back. */
void job_release(Job *job);

#endif
