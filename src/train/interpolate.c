/* interpolate.c - see interpolate.h. */
#include "train/interpolate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "bleu/bleu.h"
#include "distributed/group.h"
#include "models/modelfile.h"
#include "train/validate.h"

static const double SHARES[INTERPOLATION_POINTS] = {0, 0.25, 0.5, 0.7, 1};

typedef struct {
    Checkpoint *checkpoint;
    const TrainingData *data;
    Workers *workers;
    volatile sig_atomic_t *stop;
    real *init, *tuned, *mean; /* blocks of weights */
    char **first;              /* translations of data.general by the model of fraction 0, in the root */
    int first_count;
    InterpolationPoint points[INTERPOLATION_POINTS];
    Calibration calibrations[INTERPOLATION_POINTS];
} Line;

/* ---- the choice ---------------------------------------------------------------------------------------- */

static double score_of(const InterpolationPoint *point, StopOn stop_on) {
    if (stop_on == STOP_ON_LOSS) return -point->loss;
    return stop_on == STOP_ON_CHRF ? point->chrf : point->bleu;
}

int interpolation_choose(const InterpolationPoint points[INTERPOLATION_POINTS], StopOn stop_on) {
    static const double ENOUGH = 0.95;
    double start = score_of(&points[0], stop_on), best = start;
    for (int i = 1; i < INTERPOLATION_POINTS; i++) best = fmax(best, score_of(&points[i], stop_on));
    int chosen = 0;
    while (score_of(&points[chosen], stop_on) < start + ENOUGH * (best - start)) chosen++;
    return chosen;
}

/* ---- the points ---------------------------------------------------------------------------------------- */

static void mix(Line *line, double fraction) {
    size_t size = seq2seq_params(line->checkpoint->model)->size;
    if (fraction <= 0) memcpy(line->mean, line->init, size * sizeof(real));
    if (fraction >= 1) memcpy(line->mean, line->tuned, size * sizeof(real));
    for (size_t i = 0; i < size && fraction > 0 && fraction < 1; i++)
        line->mean[i] = (real)((1 - fraction) * (double)line->init[i] + fraction * (double)line->tuned[i]);
}

/* Exchange the weights of the model and the mean. Call twice to undo. */
static void swap_weights(Line *line) {
    ParamSet *params = line->checkpoint->optimizer->params;
    real *weights = params->data;
    params->data = line->mean;
    line->mean = weights;
    optimizer_repack(line->checkpoint->optimizer);
}

/* In the root process. The translations of fraction 0 stay, as the reference of the others. */
static double compare_with_first(Line *line, ValidationScore *score) {
    if (!line->first) {
        line->first = score->hypotheses;
        line->first_count = score->count;
        score->hypotheses = NULL;
        score->count = 0;
        return 100;
    }
    StrView *now = mem_alloc((size_t)score->count + 1, sizeof *now),
            *first = mem_alloc((size_t)score->count + 1, sizeof *first);
    for (int i = 0; i < score->count; i++) now[i] = sv(score->hypotheses[i]), first[i] = sv(line->first[i]);
    const Config *config = line->checkpoint->config;
    double bleu = bleu_corpus_simple(now, first, (size_t)score->count, config->train.bleu_tokenizer,
                                     config->text.lowercase);
    mem_free(now);
    mem_free(first);
    return bleu;
}

static void measure_general(Line *line, InterpolationPoint *point) {
    const Config *config = line->checkpoint->config;
    point->general_bleu = point->same = NAN;
    if (line->data->general.count == 0) return;
    ValidationScore score =
        validate_model(line->checkpoint->model, &line->data->general, config, line->workers);
    point->general_bleu = score.bleu;
    if (group_is_root()) point->same = compare_with_first(line, &score);
    validation_score_free(&score);
}

static void measure(Line *line, int i) {
    InterpolationPoint *point = &line->points[i];
    mix(line, SHARES[i]);
    swap_weights(line);
    ValidationScore score =
        validate_model(line->checkpoint->model, &line->data->valid, line->checkpoint->config, line->workers);
    *point = (InterpolationPoint){SHARES[i], score.loss, score.bleu, score.chrf, 0, 0};
    line->calibrations[i] = score.calibration;
    validation_score_free(&score);
    measure_general(line, point);
    swap_weights(line);
}

/* ---- messages ------------------------------------------------------------------------------------------ */

static void show_point(const InterpolationPoint *point, bool chosen) {
    StrBuf text = {0};
    strbuf_format(&text, "         share %.2f  BLEU %.1f", point->fraction, point->bleu);
    if (isfinite(point->chrf)) strbuf_format(&text, "  chrF %.1f", point->chrf);
    strbuf_format(&text, "  loss %.3f", point->loss);
    if (isfinite(point->general_bleu))
        strbuf_format(&text, "  general BLEU %.1f, same %.0f", point->general_bleu, point->same);
    log_info("%s%s", strbuf_text(&text), chosen ? "  <- best.safetensors" : "");
    strbuf_free(&text);
}

static void report(const Line *line, int chosen) {
    const InterpolationPoint *points = line->points, *point = &points[chosen];
    log_info("mean     of the fine-tuned weights, with this share, and those of --init:");
    for (int i = 0; i < INTERPOLATION_POINTS; i++) show_point(&points[i], i == chosen);
    if (chosen == 0)
        log_warn(
            "fine-tuning gained nothing on the validation pairs: best.safetensors is the model of --init");
    if (isfinite(point->general_bleu))
        log_info("general  BLEU of data.general is %.1f, was %.1f; against the translations of before %.0f "
                 "(100: the same)",
                 point->general_bleu, points[0].general_bleu, point->same);
    else if (chosen > 0)
        log_info("general  a fine-tuned model is worse on other text: --general FILE, with pairs of it, "
                 "measures by how much");
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

/* *block = the weights of a file of the run. */
static Status load(const Line *line, const char *name, real **block) {
    char path[4096];
    Seq2Seq *model;
    const ParamSet *params = seq2seq_params(line->checkpoint->model);
    snprintf(path, sizeof path, "%s/%s", line->checkpoint->dir, name);
    mem_free(*block);
    *block = NULL;
    TRY(modelfile_load_exact(&model, path, NULL));
    bool same = seq2seq_params(model)->size == params->size;
    if (same) *block = params_take_block(seq2seq_params(model));
    seq2seq_free(model);
    return same ? STATUS_OK : status_fail(STATUS_DATA, "'%s' is not of this run", path);
}

static Status load_both(Line *line) {
    TRY(checkpoint_keep_tuned(line->checkpoint->dir));
    TRY(load(line, CHECKPOINT_INIT, &line->init));
    return load(line, CHECKPOINT_TUNED, &line->tuned);
}

static Status save(const Line *line, int chosen) {
    Checkpoint *c = line->checkpoint;
    const InterpolationPoint *point = &line->points[chosen];
    TRY(checkpoint_check_lock(c->dir));
    c->mean = (CheckpointMean){point->fraction, point->loss, point->bleu, line->calibrations[chosen]};
    c->is_mean = true;
    Status status = checkpoint_save_model(c, "best.safetensors");
    c->is_mean = false;
    return status;
}

static bool is_stopped(const Line *line) {
    int number = (int)group_max(*line->stop);
    if (number) *line->stop = number;
    return number != 0;
}

static Status run(Line *line) {
    size_t bytes = seq2seq_params(line->checkpoint->model)->size * sizeof(real);
    TRY(ROOT_ONLY(load_both(line)));
    group_broadcast(line->init, bytes);
    group_broadcast(line->tuned, bytes);
    for (int i = 0; i < INTERPOLATION_POINTS; i++) {
        workers_stop_on(line->workers, line->stop);
        measure(line, i);
        workers_stop_on(line->workers, NULL);
        if (is_stopped(line)) return STATUS_OK;
    }
    int chosen = interpolation_choose(line->points, (StopOn)line->checkpoint->config->train.stop_on);
    mix(line, SHARES[chosen]);
    swap_weights(line);
    Status status = ROOT_ONLY(save(line, chosen));
    swap_weights(line);
    if (status == STATUS_OK) report(line, chosen);
    return status;
}

Status interpolate(Checkpoint *checkpoint, const TrainingData *data, Workers *workers,
                   volatile sig_atomic_t *stop) {
    const ParamSet *params = seq2seq_params(checkpoint->model);
    Line line = {.checkpoint = checkpoint, .data = data, .workers = workers, .stop = stop};
    line.init = params_block(params);
    line.tuned = params_block(params);
    line.mean = params_block(params);
    Status status = run(&line);
    for (int i = 0; i < line.first_count; i++) mem_free(line.first[i]);
    mem_free(line.first);
    mem_free(line.init);
    mem_free(line.tuned);
    mem_free(line.mean);
    return status;
}
