/* optimizer.c - reduce, clip, Adam, average, repack: each one parallel pass over memory. */
#include "train/optimizer.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "num/kern.h"

enum { CHUNK = 1 << 15 }; /* numbers: five streams of it fit into the second-level cache */

typedef struct {
    Optimizer *optimizer;
    real *const *grads;
    int shards;
    const OptimizerStep *step;
    double *partial; /* sum of squares of each chunk */
    real scale, rate, correction;
} Pass;

static size_t chunk_count(const ParamSet *params) { return (params->size + CHUNK - 1) / CHUNK; }
static size_t chunk_size(const ParamSet *params, size_t first) {
    return params->size - first < CHUNK ? params->size - first : CHUNK;
}

static void reduce_chunk(void *context, int task, int thread) {
    Pass *pass = context;
    size_t first = (size_t)task * CHUNK, n = chunk_size(pass->optimizer->params, first);
    (void)thread;
    for (int s = 1; s < pass->shards; s++) kern->add(n, pass->grads[s] + first, pass->grads[0] + first);
    pass->partial[task] = kern->sum_squares(n, pass->grads[0] + first);
}

static void update_chunk(void *context, int task, int thread) {
    Pass *pass = context;
    Optimizer *o = pass->optimizer;
    const OptimizerStep *step = pass->step;
    size_t first = (size_t)task * CHUNK, n = chunk_size(o->params, first);
    (void)thread;
    kern->adam(n, o->params->data + first, pass->grads[0] + first, o->m + first, o->v + first,
               o->average ? o->average + first : NULL, pass->scale, (real)step->beta1, (real)step->beta2,
               (real)step->epsilon, pass->rate, pass->correction,
               (real)(step->learning_rate * step->weight_decay), (real)step->average_rate);
    for (int s = 0; s < pass->shards; s++) memset(pass->grads[s] + first, 0, n * sizeof(real));
}

static void pack_task(void *context, int task, int thread) {
    (void)thread;
    params_pack(context, task);
}

void optimizer_repack(Optimizer *o) { workers_run(o->workers, o->params->count, pack_task, o->params); }

Optimizer *optimizer_new(ParamSet *params, Workers *workers, bool average) {
    Optimizer *o = mem_alloc(1, sizeof *o);
    *o = (Optimizer){
        .params = params, .workers = workers, .m = params_block(params), .v = params_block(params)};
    if (average) {
        o->average = params_block(params);
        memcpy(o->average, params->data, params->size * sizeof(real));
    }
    params->packs_backward = true;
    params->format = FORMAT_BF16X3;
    optimizer_repack(o);
    return o;
}

void optimizer_free(Optimizer *o) {
    if (!o) return;
    mem_free(o->m);
    mem_free(o->v);
    mem_free(o->average);
    mem_free(o);
}

/* The first parameter with a number in `block` that is not finite, or NULL. */
static const Param *find_not_finite(const ParamSet *params, const real *block) {
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        size_t size = (size_t)p->rows * (size_t)p->columns;
        for (size_t j = 0; j < size; j++)
            if (!isfinite((double)block[p->offset + j])) return p;
    }
    return NULL;
}

static Status not_finite(const Optimizer *o, const real *grad) {
    const Param *p = find_not_finite(o->params, grad);
    if (p)
        return status_fail(STATUS_DIVERGED, "the gradient of '%s' is not finite at update %ld", p->name,
                           o->updates + 1);
    return status_fail(STATUS_DIVERGED, "the norm of the gradient is not finite at update %ld",
                       o->updates + 1);
}

Status optimizer_check(const Optimizer *o) {
    const Param *p = find_not_finite(o->params, o->params->data);
    if (!p && o->average) p = find_not_finite(o->params, o->average);
    if (!p) return STATUS_OK;
    return status_fail(STATUS_DIVERGED, "the weight '%s' is not finite after update %ld", p->name,
                       o->updates);
}

Status optimizer_update(Optimizer *o, real *const *grads, int shards, const OptimizerStep *step,
                        double *norm) {
    int chunks = (int)chunk_count(o->params);
    Pass pass = {.optimizer = o, .grads = grads, .shards = shards, .step = step};
    pass.partial = mem_alloc((size_t)chunks, sizeof *pass.partial);
    Phase before = profiler_phase(o->profiler, PHASE_REDUCE);
    workers_run(o->workers, chunks, reduce_chunk, &pass);
    double total = 0;
    for (int c = 0; c < chunks; c++) total += pass.partial[c];
    mem_free(pass.partial);
    *norm = sqrt(total);
    if (!isfinite(*norm)) return not_finite(o, grads[0]);

    double t = (double)++o->updates;
    pass.scale = (real)(step->clip > 0 && *norm > step->clip ? step->clip / (*norm + 1e-6) : 1);
    pass.rate = (real)(step->learning_rate / (1 - pow(step->beta1, t)));
    pass.correction = (real)(1 / sqrt(1 - pow(step->beta2, t)));
    profiler_phase(o->profiler, PHASE_UPDATE);
    workers_run(o->workers, chunks, update_chunk, &pass);
    profiler_phase(o->profiler, PHASE_PACK);
    optimizer_repack(o);
    profiler_phase(o->profiler, before);
    return STATUS_OK;
}

void optimizer_swap_average(Optimizer *o) {
    if (!o->average) return;
    real *weights = o->params->data;
    o->params->data = o->average;
    o->average = weights;
    optimizer_repack(o);
}
