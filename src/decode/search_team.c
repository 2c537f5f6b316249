/* search_team.c - sort by length, cut into groups, give the groups to the workers. */
#include "decode/search_team.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

struct SearchTeam {
    const Seq2Seq **models;
    int count;
    Workers *workers;
    Scorer **scorers; /* [threads], made when first needed */
};

typedef struct {
    int length, sentence;
} Place;

typedef struct {
    SearchTeam *team;
    const Tokens *sources, *targets;
    const SearchOptions *options;
    HypothesisList *results;
    const Place *order; /* longest first, so that the last groups to start are the short ones */
    int total, group;
} TeamJob;

SearchTeam *search_team_new(const Seq2Seq *const *models, int count, Workers *workers) {
    SearchTeam *team = mem_alloc(1, sizeof *team);
    team->models = mem_alloc((size_t)count, sizeof *team->models);
    memcpy(team->models, models, (size_t)count * sizeof *team->models);
    team->count = count;
    team->workers = workers;
    team->scorers = mem_alloc((size_t)workers_count(workers), sizeof *team->scorers);
    return team;
}

void search_team_free(SearchTeam *team) {
    if (!team) return;
    for (int i = 0; i < workers_count(team->workers); i++) scorer_free(team->scorers[i]);
    mem_free(team->scorers);
    mem_free(team->models);
    mem_free(team);
}

static int place_compare(const void *a, const void *b) {
    const Place *x = a, *y = b;
    if (x->length != y->length) return x->length > y->length ? -1 : 1;
    return (x->sentence > y->sentence) - (x->sentence < y->sentence);
}

/* Search the sentences of one group with this thread's scorer. */
static void group_run(void *context, int task, int thread) {
    const TeamJob *job = context;
    const Place *order = job->order + (size_t)task * (size_t)job->group;
    int rest = job->total - task * job->group, B = rest < job->group ? rest : job->group;
    int models = job->team->count;
    Scorer **scorer = &job->team->scorers[thread];
    if (!*scorer) *scorer = scorer_new(job->team->models, models);

    Tokens *sources = mem_alloc((size_t)(models + 1) * (size_t)B, sizeof *sources);
    Tokens *targets = sources + (size_t)models * (size_t)B;
    for (int b = 0; b < B; b++) {
        for (int m = 0; m < models; m++) sources[m * B + b] = job->sources[order[b].sentence * models + m];
        if (job->targets) targets[b] = job->targets[order[b].sentence];
    }
    HypothesisList *results = mem_alloc((size_t)B, sizeof *results);
    if (job->targets)
        forced_search(*scorer, sources, targets, B, job->options, results);
    else
        search_run(*scorer, sources, B, job->options, results);
    for (int b = 0; b < B; b++) job->results[order[b].sentence] = results[b];
    mem_free(results);
    mem_free(sources);
}

void search_team_run(SearchTeam *team, const Tokens *sources, const Tokens *targets, int total,
                     const SearchOptions *options, int group, HypothesisList *results) {
    int threads = workers_count(team->workers);
    if (total == 0) return;
    Place *order = mem_alloc((size_t)total, sizeof *order);
    for (int i = 0; i < total; i++) order[i] = (Place){sources[i * team->count].length, i};
    qsort(order, (size_t)total, sizeof *order, place_compare);
    int share = (total + threads - 1) / threads; /* little work: still something for every thread */
    if (group > share) group = share;
    TeamJob job = {team, sources, targets, options, results, order, total, group};
    workers_run(team->workers, (total + group - 1) / group, group_run, &job);
    mem_free(order);
}
