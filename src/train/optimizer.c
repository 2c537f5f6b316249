/* optimizer.c - sum, clip, Adam, average, repack: each one parallel pass over memory; schedules. */
#include "train/optimizer.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "distributed/group.h"
#include "kern/kern.h"

enum { CHUNK = 1 << 15 }; /* numbers: five streams of it fit into the second-level cache */

typedef struct {
    Optimizer *optimizer;
    const PartialSums *grads; /* of the shards of this process */
    PartialSums sum;          /* of all shards, for the own slice: chunks first .. first + count - 1 */
    size_t first, count;
    double *partial; /* sum of squares of each chunk */
    AdamStep step;
} Pass;

static size_t chunk_count(const ParamSet *params) { return (params->size + CHUNK - 1) / CHUNK; }
static size_t chunk_size(const ParamSet *params, size_t first) {
    return params->size - first < CHUNK ? params->size - first : CHUNK;
}

/* Task t is chunk t of the own slice. */
static void reduce_chunk(void *context, int task, int thread) {
    Pass *pass = context;
    size_t first = ((size_t)task + pass->first) * CHUNK, n = chunk_size(pass->optimizer->params, first);
    size_t at = first - pass->first * CHUNK;
    (void)thread;
    partial_sums_add(&pass->sum, at, n);
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

void optimizer_repack(Optimizer *o) { params_pack_parallel(o->params, o->workers); }

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
    o->partition = partition_new(params->size, CHUNK);
    params->packs_backward = true;
    params->format = format;
    optimizer_repack(o);
    return o;
}

void optimizer_free_moments(Optimizer *o) {
    mem_free(o->m);
    mem_free(o->v);
    mem_free(o->average);
    o->m = o->v = o->average = NULL;
}

void optimizer_free(Optimizer *o) {
    if (!o) return;
    partition_free(o->partition);
    optimizer_free_moments(o);
    mem_free(o);
}

/* The first parameter that has a number that is not finite among numbers first .. end - 1 of the parameter
 * block, which begin at `numbers`; params->count if there is none. */
static int find_not_finite(const ParamSet *params, const real *numbers, size_t first, size_t end) {
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        size_t size = (size_t)p->rows * (size_t)p->columns;
        for (size_t j = p->offset; j < p->offset + size; j++)
            if (j >= first && j < end && !isfinite((double)numbers[j - first])) return i;
    }
    return params->count;
}

static Status fail_gradient(const Optimizer *o, const real *grad) {
    size_t first, end;
    partition_slice(o->partition, &first, &end);
    int param = find_not_finite(o->params, grad, first, end);
    param = (int)-group_max(-param);
    if (param < o->params->count)
        return status_fail(STATUS_DIVERGED, "the gradient of '%s' is not finite at update %lld",
                           o->params->items[param]->name, o->updates + 1);
    return status_fail(STATUS_DIVERGED, "the norm of the gradient is not finite at update %lld",
                       o->updates + 1);
}

Status optimizer_check(const Optimizer *o) {
    size_t size = o->params->size;
    int param = find_not_finite(o->params, o->params->data, 0, size);
    if (param == o->params->count && o->average) param = find_not_finite(o->params, o->average, 0, size);
    if (param == o->params->count) return STATUS_OK;
    return status_fail(STATUS_DIVERGED, "the weight '%s' is not finite after update %lld",
                       o->params->items[param]->name, o->updates);
}

void optimizer_collect(Optimizer *o) {
    if (o->average) partition_all_gather(o->partition, o->average);
    partition_gather_root(o->partition, o->m);
    partition_gather_root(o->partition, o->v);
}

/* The norm of the whole gradient, from the squares of each chunk, always added in the same order. */
static double sum_gradients(Optimizer *o, Pass *pass) {
    size_t chunks = chunk_count(o->params);
    double squares = 0;
    pass->partial = mem_alloc(chunks, sizeof *pass->partial);
    pass->sum = partition_reduce_scatter(o->partition, pass->grads, o->workers);
    workers_run(o->workers, (int)pass->count, reduce_chunk, pass);
    partition_all_gather_chunks(o->partition, pass->partial);
    for (size_t c = 0; c < chunks; c++) squares += pass->partial[c];
    mem_free(pass->partial);
    return sqrt(squares);
}

Status optimizer_update(Optimizer *o, const PartialSums *grads, const TrainOptions *options,
                        double learning_rate, double average_rate, double *norm) {
    size_t first, end;
    partition_slice(o->partition, &first, &end);
    Pass pass = {.optimizer = o, .grads = grads, .first = first / CHUNK};
    pass.count = (end + CHUNK - 1) / CHUNK - pass.first;
    *norm = sum_gradients(o, &pass);
    if (!isfinite(*norm)) return fail_gradient(o, pass.sum.blocks[0]);

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
    workers_run(o->workers, (int)chunk_count(o->params), update_chunk, &pass);
    partition_all_gather(o->partition, o->params->data);
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

/* ---- schedules ----------------------------------------------------------------------------------------- */

/* What is left of the way from the end of warm-up (1) to the end of the training (0). The updates so far and
 * their fraction of the training give the length of the warm-up. */
static double fraction_left(const TrainOptions *o, long long update, double done) {
    if (done >= 1) return 0;
    double warmed = o->warmup > 1 && update > 1 ? done * (o->warmup - 1) / (double)(update - 1) : 0;
    return (1 - done) / (1 - warmed);
}

double optimizer_learning_rate(const TrainOptions *o, long long update, double done, int cuts) {
    double rate = o->learning_rate, warmup = o->warmup;
    if (update < o->warmup) return rate * (double)update / warmup;
    switch (config_schedule(o)) {
    case SCHEDULE_INVERSE_SQRT:
        return rate * sqrt((warmup > 1 ? warmup : 1) / (double)update);
    case SCHEDULE_PLATEAU:
        return rate * pow(o->decay_factor, cuts);
    case SCHEDULE_LINEAR:
        return rate * fraction_left(o, update, done);
    case SCHEDULE_CONSTANT:
    case SCHEDULE_AUTO:
        break;
    }
    return rate;
}

double optimizer_average_rate(const TrainOptions *o, long long update) {
    if (o->average <= 0) return 0;
    double early = 9 / (10 + (double)update);
    return early > o->average ? early : o->average;
}
