/* training_log.c - what the log says while a run goes on, and at its end. */
#include "train/training_log.h"

#include <math.h>
#include <stdio.h>
#include "base/log.h"
#include "base/progress_line.h"

void training_log_begin(TrainingLog *session, Run *run) {
    *session = (TrainingLog){.run = run, .last_shown = clock_seconds()};
}

/* A terminal shows the line in place, so it is written by time. */
static bool progress_due(const TrainingLog *session, double now) {
    int every = session->run->config->train.log_every;
    if (every && !log_is_terminal()) return session->run->progress.update % every == 0;
    return now - session->last_shown >= log_progress_interval();
}

/* The remaining time at the speed of this session. Earlier sessions may have run on another machine. */
static void estimate_rest(const TrainingLog *session, double fraction, char eta[32]) {
    double seconds = session->run->progress.seconds, limit = 60 * session->run->config->train.max_minutes,
           rest = INFINITY;
    if (fraction > session->share_before)
        rest = (seconds - session->run->seconds_before) * fmax(1 - fraction, 0) /
               (fraction - session->share_before);
    if (limit > 0) rest = fmin(rest, fmax(limit - seconds, 0));
    if (isfinite(rest)) str_duration(rest, eta);
}

/* Target tokens per second. A token of two decoders counts once. */
static double speed_of(const TrainingLog *session, long long tokens, double seconds) {
    return seconds > 0 ? (double)tokens / seq2seq_directions(session->run->model) / seconds : 0;
}

void training_log_update(TrainingLog *session, double loss, double fraction) {
    double now = clock_seconds();
    session->fraction = fraction;
    if (!progress_due(session, now)) return;
    session->last_shown = now;
    run_clock(session->run);
    const Progress *p = &session->run->progress;
    char updates[32], speed[32], eta[32] = "?";
    double limit = 60 * session->run->config->train.max_minutes;
    estimate_rest(session, fraction, eta);
    if (limit > 0) fraction = fmax(fraction, p->seconds / limit);
    progress_line_write(
        "epoch %lld  update %s  %3.0f%%  loss %.3f  lr %.2g  %s tokens/s  ETA %s", p->epoch + 1,
        str_count(p->update, updates), 100 * fraction, loss, p->last_rate,
        str_count((long long)speed_of(session, session->tokens, session->train_seconds), speed), eta);
}

static void show_samples(const TrainingLog *session, const ValidationScore *score) {
    int samples = session->run->config->train.samples;
    if (samples > score->count) samples = score->count;
    for (int i = 0; i < samples; i++) {
        /* spread over the data, whose first pairs may be the shortest ones */
        int pair = (int)((2LL * i + 1) * score->count / (2LL * samples));
        log_info("  source     %s", session->run->data.valid.source_text.items[pair]);
        log_info("  reference  %s", session->run->data.valid.target_text.items[pair]);
        log_info("  model      %s", score->hypotheses[pair]);
    }
}

/* An untrained model has a loss of log(vocabulary size). If half of that still gives no correct 4-gram, the
 * targets have hardly any 4-grams. */
static void warn_if_zero(TrainingLog *session, const ValidationScore *score) {
    double untrained = log(vocab_size(tokenizer_vocab(session->run->data.target)));
    if (session->warned_zero || session->run->config->train.stop_on != STOP_ON_BLEU || score->bleu > 0 ||
        score->loss > untrained / 2)
        return;
    session->warned_zero = true;
    log_warn("BLEU is 0 although the loss has halved: it counts groups of four words, which short targets "
             "lack; --set train.stop_on=chrf judges by characters");
}

void training_log_validation(TrainingLog *session, const ValidationScore *score, bool best) {
    Progress *p = &session->run->progress;
    run_clock(session->run);
    ProgressRecord record = {
        .update = p->update,
        .epoch = (int)p->epoch + (p->batch > 0),
        .seconds = p->seconds,
        .tokens_per_second = speed_of(session, p->tokens, p->train_seconds),
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
    warn_if_zero(session, score);
    show_samples(session, score);
}

/* The time limit can end a training long before its last epoch or update. */
static void say_unfinished(const TrainingLog *session) {
    const TrainOptions *options = &session->run->config->train;
    char extension[PROGRESS_EXTENSION];
    bool planned = options->epochs > 0 || options->max_updates > 0;
    bool over = options->max_minutes > 0 && session->run->progress.seconds >= 60 * options->max_minutes;
    if (!planned || !over || session->tokens == 0 || session->fraction >= 1) return;
    if (!progress_find_end(&session->run->progress, options, extension)) return;
    log_info(
        "not finished: train.max_minutes ended the training after %.0f%% of it; to go on, the same command "
        "with --resume %s",
        100 * session->fraction, extension);
}

void training_log_end(TrainingLog *session) {
    char time[32], tokens[32], speed[64] = "", chrf[32] = "";
    run_clock(session->run);
    if (session->run->progress.best_chrf >= 0)
        snprintf(chrf, sizeof chrf, "best chrF %.2f, ", session->run->progress.best_chrf);
    if (session->tokens > 0) /* none if a finished run was resumed */
        snprintf(speed, sizeof speed, "%s target tokens/s; ",
                 str_count((long long)speed_of(session, session->tokens, session->train_seconds), tokens));
    log_info("done in %s: best BLEU %.2f, %sbest validation loss %.3f; %smodel '%s/best.safetensors'",
             str_duration(session->run->progress.seconds, time), session->run->progress.best_bleu, chrf,
             session->run->progress.best_loss, speed, session->run->options->dir);
    say_unfinished(session);
    log_info("translate with it: attn-mt translate --model %s < input.txt", session->run->options->dir);
}
