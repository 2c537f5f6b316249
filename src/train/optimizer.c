/* optimizer.c - sum, clip, Adam, average, repack: each one parallel pass over memory. */
#include "train/optimizer.h"

#include <math.h>
#include <string.h>
#include "distributed/comm.h"
#include "base/mem.h"
#include "kern/kern.h"

enum { CHUNK = 1 << 15 }; /* numbers: five streams of it fit into the second-level cache */

typedef struct {
    Optimizer *optimizer;
    const SumRest *grads; /* of the shards of this rank */
    SumRest sum;          /* of all shards, for the chunks of this rank */
    size_t first, count;  /* these chunks */
    double *partial;      /* sum of squares of each chunk */
    AdamStep step;
} Pass;

static size_t chunk_count(const ParamSet *params) { return (params->size + CHUNK - 1) / CHUNK; }
static size_t chunk_size(const ParamSet *params, size_t first) {
    return params->size - first < CHUNK ? params->size - first : CHUNK;
}

/* Of the own slice. */
static void reduce_chunk(void *context, int task, int thread) {
    Pass *pass = context;
    size_t first = ((size_t)task + pass->first) * CHUNK, n = chunk_size(pass->optimizer->params, first);
    size_t at = first - pass->first * CHUNK;
    (void)thread;
    sum_rest(&pass->sum, at, n);
    pass->partial[task + (int)pass->first] = kern->sum_squares(n, pass->sum.blocks[0] + at);
}

static void update_chunk(void *context, int task, int thread) {
    Pass *pass = context;
    Optimizer *o = pass->optimizer;
    size_t first = (size_t)task * CHUNK, n = chunk_size(o->params, first), base = pass->first * CHUNK;
    (void)thread;
    if ((size_t)task >= pass->first && (size_t)task < pass->first + pass->count)
        kern->adam(n, o->params->data + first, pass->sum.blocks[0] + first - base, o->m + first, o->v + first,
                   o->average ? o->average + first : NULL, pass->step);
    for (int i = 0; i < pass->grads->count; i++) memset(pass->grads->blocks[i] + first, 0, n * sizeof(real));
}

void optimizer_repack(Optimizer *o) { params_pack_by(o->params, o->workers); }

WeightFormat optimizer_format(const TrainOptions *options) {
    bool rounds = options->precision == WEIGHT_BF16 && kern->weights[WEIGHT_BF16].outer;
    return rounds ? WEIGHT_BF16 : WEIGHT_BF16X3;
}

Optimizer *optimizer_new(ParamSet *params, Workers *workers, WeightFormat format, bool average) {
    Optimizer *o = mem_alloc(1, sizeof *o);
    *o = (Optimizer){
        .params = params, .workers = workers, .m = params_block(params), .v = params_block(params)};
    if (average) {
        o->average = params_block(params);
        memcpy(o->average, params->data, params->size * sizeof(real));
    }
    int ranks = comm_size(), chunks = (int)chunk_count(params), first;
    o->slices = mem_alloc((size_t)ranks + 1, sizeof *o->slices);
    for (int r = 0; r < ranks; r++) comm_share(chunks, r, &first), o->slices[r] = (size_t)first * CHUNK;
    o->slices[ranks] = params->size;
    o->ranks = sum_ranks_new(o->slices);
    params->packs_backward = true;
    params->format = format;
    optimizer_repack(o);
    return o;
}

void optimizer_free(Optimizer *o) {
    if (!o) return;
    sum_ranks_free(o->ranks);
    mem_free(o->slices);
    mem_free(o->m);
    mem_free(o->v);
    mem_free(o->average);
    mem_free(o);
}

/* The first parameter with a number that is not finite among those from `first` to `end`, of which `block`
 * has the first one first; params->count if there is none. */
static int find_not_finite(const ParamSet *params, const real *block, size_t first, size_t end) {
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        size_t size = (size_t)p->rows * (size_t)p->columns;
        for (size_t j = p->offset; j < p->offset + size; j++)
            if (j >= first && j < end && !isfinite((double)block[j - first])) return i;
    }
    return params->count;
}

static Status not_finite(const Optimizer *o, const real *grad) {
    const size_t *slice = o->slices + comm_rank();
    int found = find_not_finite(o->params, grad, slice[0], slice[1]);
    found = (int)-comm_largest(-found);
    if (found < o->params->count)
        return status_fail(STATUS_DIVERGED, "the gradient of '%s' is not finite at update %lld",
                           o->params->items[found]->name, o->updates + 1);
    return status_fail(STATUS_DIVERGED, "the norm of the gradient is not finite at update %lld",
                       o->updates + 1);
}

Status optimizer_check(const Optimizer *o) {
    size_t size = o->params->size;
    int found = find_not_finite(o->params, o->params->data, 0, size);
    if (found == o->params->count && o->average) found = find_not_finite(o->params, o->average, 0, size);
    if (found == o->params->count) return STATUS_OK;
    return status_fail(STATUS_DIVERGED, "the weight '%s' is not finite after update %lld",
                       o->params->items[found]->name, o->updates);
}

/* Of blocks of numbers of which each rank has its slice; `unit` is the size of what there is one of in `per`
 * numbers. */
static void gather(const Optimizer *o, void *block, size_t unit, size_t per, bool to_all) {
    int ranks = comm_size();
    if (ranks == 1) return;
    size_t *first = mem_alloc((size_t)ranks + 1, sizeof *first);
    for (int r = 0; r <= ranks; r++) first[r] = (o->slices[r] + per - 1) / per * unit;
    (to_all ? comm_gather : comm_gather_root)(block, first);
    mem_free(first);
}

void optimizer_collect(Optimizer *o) {
    if (o->average) gather(o, o->average, sizeof(real), 1, true);
    gather(o, o->m, sizeof(real), 1, false);
    gather(o, o->v, sizeof(real), 1, false);
}

Status optimizer_update(Optimizer *o, const SumRest *grads, const TrainOptions *options, double learning_rate,
                        double average_rate, double *norm) {
    int chunks = (int)chunk_count(o->params);
    const size_t *slice = o->slices + comm_rank();
    Pass pass = {.optimizer = o, .grads = grads, .first = slice[0] / CHUNK};
    pass.count = (slice[1] + CHUNK - 1) / CHUNK - pass.first;
    pass.partial = mem_alloc((size_t)chunks, sizeof *pass.partial);
    pass.sum = sum_ranks_exchange(o->ranks, grads, o->workers);
    workers_run(o->workers, (int)pass.count, reduce_chunk, &pass);
    gather(o, pass.partial, sizeof *pass.partial, CHUNK, true);
    double total = 0;
    for (int c = 0; c < chunks; c++) total += pass.partial[c];
    mem_free(pass.partial);
    *norm = sqrt(total);
    if (!isfinite(*norm)) return not_finite(o, pass.sum.blocks[0]);

    double t = (double)++o->updates;
    bool clipped = options->clip > 0 && *norm > options->clip;
    pass.step = (AdamStep){.gradient_scale = (real)(clipped ? options->clip / (*norm + 1e-6) : 1),
                           .beta1 = (real)options->beta1,
                           .beta2 = (real)options->beta2,
                           .epsilon = (real)options->epsilon,
                           .rate = (real)(learning_rate / (1 - pow(options->beta1, t))),
                           .correction = (real)(1 / sqrt(1 - pow(options->beta2, t))),
                           .decay = (real)(learning_rate * options->weight_decay),
                           .average_rate = (real)average_rate};
    workers_run(o->workers, chunks, update_chunk, &pass);
    gather(o, o->params->data, sizeof(real), 1, true);
    optimizer_repack(o);
    return STATUS_OK;
}

void optimizer_swap_average(Optimizer *o) {
    if (!o->average) return;
    real *weights = o->params->data;
    o->params->data = o->average;
    o->average = weights;
    optimizer_repack(o);
}
