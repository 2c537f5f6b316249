/* training_log.c - what the log says while a run goes on, and at its end. */
#include "train/training_log.h"

#include <math.h>
#include <stdio.h>
#include "base/log.h"
#include "base/progress_line.h"

void training_log_begin(TrainingLog *training_log, Run *run) {
    *training_log = (TrainingLog){.run = run, .last_shown = clock_seconds()};
}

/* A terminal shows the line in place, so it is written by time. */
static bool progress_due(const TrainingLog *training_log, double now) {
    int every = training_log->run->config->train.log_every;
    if (every && !log_is_terminal()) return training_log->run->progress.update % every == 0;
    return now - training_log->last_shown >= log_progress_interval();
}

/* The remaining time at the speed of this session. Earlier sessions may have run on another machine. */
static void estimate_rest(const TrainingLog *training_log, double fraction, char eta[32]) {
    double seconds = training_log->run->progress.seconds,
           limit = 60 * training_log->run->config->train.max_minutes, rest = INFINITY;
    if (fraction > training_log->fraction_before)
        rest = (seconds - training_log->run->seconds_before) * fmax(1 - fraction, 0) /
               (fraction - training_log->fraction_before);
    if (limit > 0) rest = fmin(rest, fmax(limit - seconds, 0));
    if (isfinite(rest)) str_duration(rest, eta);
}

/* Target tokens per second. A token of two decoders counts once. */
static double speed_of(const TrainingLog *training_log, long long tokens, double seconds) {
    return seconds > 0 ? (double)tokens / seq2seq_directions(training_log->run->model) / seconds : 0;
}

void training_log_update(TrainingLog *training_log, double loss, double fraction) {
    double now = clock_seconds();
    training_log->fraction = fraction;
    if (!progress_due(training_log, now)) return;
    training_log->last_shown = now;
    run_clock(training_log->run);
    const Progress *p = &training_log->run->progress;
    char updates[32], speed[32], eta[32] = "?";
    double limit = 60 * training_log->run->config->train.max_minutes;
    estimate_rest(training_log, fraction, eta);
    if (limit > 0) fraction = fmax(fraction, p->seconds / limit);
    progress_line_write(
        "epoch %lld  update %s  %3.0f%%  loss %.3f  lr %.2g  %s tokens/s  ETA %s", p->epoch + 1,
        str_count(p->update, updates), 100 * fraction, loss, p->last_rate,
        str_count((long long)speed_of(training_log, training_log->tokens, training_log->train_seconds),
                  speed),
        eta);
}

static void show_samples(const TrainingLog *training_log, const ValidationScore *score) {
    int samples = training_log->run->config->train.samples;
    if (samples > score->count) samples = score->count;
    for (int i = 0; i < samples; i++) {
        /* spread over the data, whose first pairs may be the shortest ones */
        int pair = (int)((2LL * i + 1) * score->count / (2LL * samples));
        log_info("  source     %s", training_log->run->data.valid.source_text.items[pair]);
        log_info("  reference  %s", training_log->run->data.valid.target_text.items[pair]);
        log_info("  model      %s", score->hypotheses[pair]);
    }
}

/* An untrained model has a loss of log(vocabulary size). If half of that still gives no correct 4-gram, the
 * targets have hardly any 4-grams. */
static void warn_if_zero(TrainingLog *training_log, const ValidationScore *score) {
    double untrained = log(vocab_size(tokenizer_vocab(training_log->run->data.target)));
    if (training_log->warned_zero || training_log->run->config->train.stop_on != STOP_ON_BLEU ||
        score->bleu > 0 || score->loss > untrained / 2)
        return;
    training_log->warned_zero = true;
    log_warn("BLEU is 0 although the loss has halved: it counts groups of four words, which short targets "
             "lack; --set train.stop_on=chrf judges by characters");
}

void training_log_validation(TrainingLog *training_log, const ValidationScore *score, bool best) {
    Progress *p = &training_log->run->progress;
    run_clock(training_log->run);
    ProgressRecord record = {
        .update = p->update,
        .epoch = (int)p->epoch + (p->batch > 0),
        .seconds = p->seconds,
        .tokens_per_second = speed_of(training_log, p->tokens, p->train_seconds),
        .train_loss = p->tokens ? p->loss_sum / (double)p->tokens : NAN,
        .valid_loss = score->loss,
        .valid_perplexity = exp(score->loss),
        .valid_bleu = score->bleu,
        .valid_chrf = score->chrf,
        .learning_rate = p->last_rate,
        .gradient_norm = p->last_norm,
        .best = best,
    };
    progress_add(p, &record);
    StrBuf line = {0};
    progress_write_line(&record, &line);
    log_info("%s", strbuf_text(&line));
    strbuf_free(&line);
    warn_if_zero(training_log, score);
    show_samples(training_log, score);
}

/* The time limit can end a training long before its last epoch or update. */
static void warn_of_unfinished(const TrainingLog *training_log) {
    const TrainOptions *options = &training_log->run->config->train;
    char extension[PROGRESS_EXTENSION];
    bool planned = options->epochs > 0 || options->max_updates > 0;
    bool over = options->max_minutes > 0 && training_log->run->progress.seconds >= 60 * options->max_minutes;
    if (!planned || !over || training_log->tokens == 0 || training_log->fraction >= 1) return;
    if (!progress_find_end(&training_log->run->progress, options, extension)) return;
    log_info(
        "not finished: train.max_minutes ended the training after %.0f%% of it; to go on, the same command "
        "with --resume %s",
        100 * training_log->fraction, extension);
}

void training_log_end(TrainingLog *training_log) {
    char time[32], tokens[32], speed[64] = "", chrf[32] = "";
    run_clock(training_log->run);
    if (training_log->run->progress.best_chrf >= 0)
        snprintf(chrf, sizeof chrf, "best chrF %.2f, ", training_log->run->progress.best_chrf);
    if (training_log->tokens > 0) /* none if a finished run was resumed */
        snprintf(
            speed, sizeof speed, "%s target tokens/s; ",
            str_count((long long)speed_of(training_log, training_log->tokens, training_log->train_seconds),
                      tokens));
    log_info("done in %s: best BLEU %.2f, %sbest validation loss %.3f; %smodel '%s/best.safetensors'",
             str_duration(training_log->run->progress.seconds, time), training_log->run->progress.best_bleu,
             chrf, training_log->run->progress.best_loss, speed, training_log->run->options->dir);
    warn_of_unfinished(training_log);
    log_info("translate with it: attn-mt translate --model %s < input.txt", training_log->run->options->dir);
}
