/* searcher.c - see searcher.h. */
#include "translate/searcher.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "search/rescore.h"
#include "translate/translator.h"

struct Searcher {
    const Seq2Seq **models; /* [count] */
    int count;
    SearchOptions options;
    Workers *workers;
    Rescorer **rescorers; /* [threads], each made in its thread's first group */
    void (*progress)(void *context, double fraction);
    void *context;
};

Searcher *searcher_new(const Seq2Seq *const *models, int count, const TranslatorOptions *options,
                       Workers *workers) {
    Searcher *searcher = mem_alloc(1, sizeof *searcher);
    *searcher = (Searcher){.count = count,
                           .options = options->search,
                           .workers = workers,
                           .progress = options->progress,
                           .context = options->progress_context};
    searcher->models = mem_alloc((size_t)count, sizeof *searcher->models);
    memcpy(searcher->models, models, (size_t)count * sizeof *searcher->models);
    searcher->rescorers = mem_alloc((size_t)workers_count(workers), sizeof *searcher->rescorers);
    return searcher;
}

void searcher_free(Searcher *searcher) {
    if (!searcher) return;
    for (int i = 0; i < workers_count(searcher->workers); i++) rescorer_free(searcher->rescorers[i]);
    mem_free(searcher->rescorers);
    mem_free(searcher->models);
    mem_free(searcher);
}

int searcher_first_nonfinite(const Searcher *searcher) {
    int model = -1;
    for (int i = 0; i < workers_count(searcher->workers) && model < 0; i++)
        if (searcher->rescorers[i]) model = rescorer_first_nonfinite(searcher->rescorers[i]);
    return model;
}

typedef struct {
    int length, sentence;
} SentenceLength;

static int longest_first(const void *a, const void *b) {
    const SentenceLength *x = a, *y = b;
    if (x->length != y->length) return x->length > y->length ? -1 : 1;
    return (x->sentence > y->sentence) - (x->sentence < y->sentence);
}

/* The groups of one call of workers_run. */
typedef struct {
    Searcher *searcher;
    const Sentences *sentences;
    HypothesisList *results;     /* [sentences->total] */
    const SentenceLength *order; /* longest first, so that the last groups to start are short */
    int total, group;            /* sentences of the job, and of a group */
    int beam_size;
    const Constraints *constraints; /* [sentences->total]; NULL: none of the job's sentences has any */
    pthread_mutex_t *lock;          /* guards `done` and the calls of progress */
    double *done, all;              /* source tokens, over all jobs */
} GroupJob;

static void group_done(const GroupJob *job, const Tokens *sources, int B) {
    const Searcher *searcher = job->searcher;
    if (!searcher->progress || job->sentences->search) return; /* searched again: they have been counted */
    pthread_mutex_lock(job->lock);
    for (int b = 0; b < B; b++) *job->done += sources[b].length;
    searcher->progress(searcher->context, job->all > 0 ? *job->done / job->all : 1);
    pthread_mutex_unlock(job->lock);
}

/* Search the sentences of one group with this thread's models. */
static void group_search(void *context, int task, int thread) {
    const GroupJob *job = context;
    const Sentences *sentences = job->sentences;
    SearchOptions options = sentences->search ? *sentences->search : job->searcher->options;
    const SentenceLength *order = job->order + (size_t)task * (size_t)job->group;
    int rest = job->total - task * job->group, B = rest < job->group ? rest : job->group;
    int models = job->searcher->count;
    Rescorer **rescorer = &job->searcher->rescorers[thread];
    if (!*rescorer) *rescorer = rescorer_new(job->searcher->models, models, options.decode.left_to_right);

    Tokens *sources = mem_alloc((size_t)models * (size_t)B, sizeof *sources); /* [models, B] */
    Tokens *targets = mem_alloc((size_t)B, sizeof *targets);
    Constraints *constraints = mem_alloc(job->constraints ? (size_t)B : 0, sizeof *constraints);
    HypothesisList *results = mem_alloc((size_t)B, sizeof *results);
    options.decode.beam_size = job->beam_size;
    if (options.n_best > job->beam_size) options.n_best = job->beam_size;
    for (int b = 0; b < B; b++) {
        if (job->constraints) constraints[b] = job->constraints[order[b].sentence];
        for (int m = 0; m < models; m++)
            sources[m * B + b] = sentences->sources[order[b].sentence * models + m];
        if (sentences->targets) targets[b] = sentences->targets[order[b].sentence];
    }
    SearchInput input = {.sources = sources,
                         .targets = sentences->targets ? targets : NULL,
                         .constraints = job->constraints ? constraints : NULL,
                         .B = B};
    Scorer *scorer = input.targets ? NULL : rescorer_only_scorer(*rescorer);
    if (!scorer)
        rescorer_search(*rescorer, &input, &options, results);
    else if (options.decode.beam_size > 1)
        beam_search(scorer, sources, input.constraints, B, &options, results);
    else
        greedy_search(scorer, sources, input.constraints, B, &options, results);
    if (scorer && options.alternatives > 0) search_add_alternatives(scorer, sources, B, &options, results);
    for (int b = 0; b < B; b++) job->results[order[b].sentence] = results[b];
    group_done(job, sources, B);
    mem_free(results);
    mem_free(constraints);
    mem_free(targets);
    mem_free(sources);
}

typedef enum { CONSTRAINED_NOT, CONSTRAINED_PREFIX, CONSTRAINED_PHRASES } ConstraintKind;

static ConstraintKind constraint_kind(const Constraints *constraints, int sentence) {
    if (!constraints) return CONSTRAINED_NOT;
    if (constraints[sentence].phrase_count > 0) return CONSTRAINED_PHRASES;
    return constraints[sentence].prefix.count > 0 ? CONSTRAINED_PREFIX : CONSTRAINED_NOT;
}

/* The size of a group, at most mini_batch. Groups have about the same size, and each thread gets the same
 * number of them. With 200 sentences, a mini_batch of 64 and two threads, four groups of 64, 64, 64 and 8
 * would leave one thread idle for a third of the time. */
static int group_size(int total, int mini_batch, int threads) {
    int groups = (total + mini_batch - 1) / mini_batch;
    groups = (groups + threads - 1) / threads * threads;
    return groups ? (total + groups - 1) / groups : 1;
}

/* Each kind of constraints has groups of its own:
 * phrases may need a wider beam, and models of one direction search for sentences with constraints
 * (rescore.h). */
void searcher_run(Searcher *searcher, const Sentences *sentences, HypothesisList *results) {
    const Tokens *sources = sentences->sources;
    int total = sentences->total;
    Workers *workers = searcher->workers;
    int beam = searcher->options.decode.beam_size, threads = workers_count(workers), count = 0;
    SentenceLength *order = mem_alloc((size_t)total, sizeof *order);
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    double done = 0, all = 0;
    for (int i = 0; i < total; i++) all += sources[(size_t)i * (size_t)searcher->count].length;
    for (ConstraintKind kind = CONSTRAINED_NOT; kind <= CONSTRAINED_PHRASES; kind++) {
        int first = count;
        for (int i = 0; i < total; i++)
            if (constraint_kind(sentences->constraints, i) == kind)
                order[count++] = (SentenceLength){sources[(size_t)i * (size_t)searcher->count].length, i};
        qsort(order + first, (size_t)(count - first), sizeof *order, longest_first);
        if (kind == CONSTRAINED_PHRASES && beam < CONSTRAINTS_BEAM) beam = CONSTRAINTS_BEAM;
        GroupJob job = {.searcher = searcher,
                        .sentences = sentences,
                        .results = results,
                        .order = order + first,
                        .total = count - first,
                        .group = group_size(count - first, searcher->options.decode.mini_batch, threads),
                        .beam_size = beam,
                        .constraints = kind != CONSTRAINED_NOT ? sentences->constraints : NULL,
                        .lock = &lock,
                        .done = &done,
                        .all = all};
        if (job.total > 0) workers_run(workers, (job.total + job.group - 1) / job.group, group_search, &job);
    }
    mem_free(order);
}
