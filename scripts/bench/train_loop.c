/* train_loop.c - epochs of updates, and the operations that they need, counted from the weights' sizes. */
#include "bench/train_loop.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "models/encoder.h"
#include "autograd/params.h"

TrainLoop *train_loop_new(const Config *config, const Corpus *corpus, Tokenizer *source, Tokenizer *target,
                          Workers *workers) {
    TrainLoop *loop = mem_alloc(1, sizeof *loop);
    Seq2Seq *model = seq2seq_new(config, source, target);
    params_initialize(seq2seq_params(model), (uint64_t)config->train.seed);
    *loop = (TrainLoop){.config = config, .corpus = corpus, .model = model, .workers = workers};
    loop->optimizer = optimizer_new(seq2seq_params(model), workers, optimizer_format(&config->train),
                                    config->train.average > 0);
    loop->shards = shards_new(model, corpus, workers);
    return loop;
}

static void next_batch(TrainLoop *loop) {
    const TrainOptions *o = &loop->config->train;
    if (loop->plan && ++loop->batch < loop->plan->count) return;
    if (loop->plan) loop->epoch++;
    batch_plan_free(loop->plan);
    loop->plan = batch_plan_new(loop->corpus, (BatchUnit)o->batch_unit, o->batch_size, o->batch_window,
                                (uint64_t)o->seed, loop->epoch, loop->workers);
    loop->batch = 0;
}

void train_loop_rewind(TrainLoop *loop) { loop->batch = -1; }

static void work_add(Work *work, int source_length, int target_length) {
    double s = source_length, t = target_length;
    work->sentences++;
    work->source += s;
    work->target += t;
    work->source_pairs += s * s;
    work->target_pairs += t * (t + 1) / 2;
    work->cross_pairs += s * t;
}

Status train_loop_update(TrainLoop *loop) {
    const TrainOptions *o = &loop->config->train;
    double norm, tokens = 0;
    next_batch(loop);
    int first = loop->plan->start[loop->batch], count = loop->plan->start[loop->batch + 1] - first;
    const int *pairs = loop->plan->pairs + first;
    for (int i = 0; i < count; i++) {
        int S = corpus_source_length(loop->corpus, pairs[i]) + 1,
            T = corpus_target_length(loop->corpus, pairs[i]) + 1;
        work_add(&loop->work, S, T);
        tokens += T;
    }
    uint64_t key = rng_key((uint64_t)o->seed, (uint64_t)loop->updates, 0, 1) | 1;
    MicroBatch batch = {pairs, count, key};
    loop->loss = shards_run(loop->shards, &batch, 1, o->label_smoothing, 1 / tokens).loss / tokens;
    if (!isfinite(loop->loss))
        return status_fail(STATUS_DIVERGED, "the loss is not finite at update %ld", loop->updates + 1);
    loop->updates++;
    PartialSums gradients = shards_gradients(loop->shards);
    TRY(optimizer_update(loop->optimizer, &gradients, o, optimizer_learning_rate(o, loop->updates, 0, 0),
                         optimizer_average_rate(o, loop->updates), &norm));
    if (!(norm > 0)) return status_fail(STATUS_RUNTIME, "update %ld: no gradient", loop->updates);
    return STATUS_OK;
}

Seq2Seq *train_loop_end(TrainLoop *loop) {
    if (!loop) return NULL;
    Seq2Seq *model = loop->model;
    if (loop->config->train.average > 0) optimizer_swap_average(loop->optimizer);
    optimizer_free(loop->optimizer);
    shards_free(loop->shards);
    batch_plan_free(loop->plan);
    mem_free(loop);
    return model;
}

/* ---- useful work ------------------------------------------------------------------------------------- */

static bool starts(const char *name, const char *prefix) { return !strncmp(name, prefix, strlen(prefix)); }

/* The number of rows that a weight multiplies, by its name: 0 for embeddings, unless tied to the output
 * layer. */
static double rows_of(const Param *p, const Work *work) {
    if (p->panel_use == PANELS_OUTPUT) return work->target;
    if (p->panel_use != PANELS_AFFINE) return 0;
    if (starts(p->name, "encoder.") || starts(p->name, "decoder.attention.key") ||
        strstr(p->name, ".cross.key") || strstr(p->name, ".cross.value"))
        return work->source;
    if (starts(p->name, "decoder.start")) return work->sentences;
    return work->target;
}

/* Multiplications of scores and contexts. */
static double attention_work(const ModelOptions *m, const Work *work) {
    double H = m->hidden, A = m->attention_size ? m->attention_size : H, sum = 0;
    if (m->encoder_style == ENCODER_SELF_ATTENTION) sum += m->encoder_layers * 2 * H * work->source_pairs;
    if (m->decoder_style == DECODER_TRANSFORMER)
        sum += m->decoder_layers * 2 * H * (work->target_pairs + work->cross_pairs);
    else
        sum += (A + model_annotation_size(m)) * work->cross_pairs;
    return sum;
}

double work_flops(const Seq2Seq *model, const Work *work) {
    const ParamSet *params = seq2seq_params(model);
    double sum = attention_work(&seq2seq_config(model)->model, work);
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        sum += (double)p->rows * (double)p->columns * rows_of(p, work);
    }
    return 6 * sum;
}
