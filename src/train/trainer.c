/* trainer.c - epochs, updates, validations. */
#include <math.h>
#include "distributed/comm.h"
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "train/schedule.h"
#include "distributed/broadcast.h"
#include "train/trainer_parts.h"

/* ---- where the run stands ------------------------------------------------------------------------------ */

void trainer_update_clock(Trainer *t) {
    if (comm_is_root()) t->progress.seconds = t->seconds_before + clock_seconds() - t->started;
}

/* The first rank's clock to all: whether the time is over is the same on each of them. */
static void share_clock(Trainer *t) {
    trainer_update_clock(t);
    comm_broadcast(&t->progress.seconds, sizeof t->progress.seconds);
}

/* What depends on clocks and signals is decided for all ranks at once: whether to stop or to save, and the
 * time that was used. */
static void agree(Trainer *t) {
    bool due = clock_seconds() - t->last_saved > 60 * t->config->train.save_minutes;
    int signal = (int)comm_largest(*t->options->stop);
    t->stop = signal != 0;
    if (t->stop) *t->options->stop = signal; /* for the exit code of every rank */
    t->save = comm_largest(comm_is_root() && due) != 0;
    share_clock(t);
}

double trainer_share(const Trainer *t) {
    return progress_share(&t->progress, &t->config->train, t->plan ? t->plan->count : 0);
}

static bool is_finished(const Trainer *t) {
    char way[PROGRESS_WAY];
    return progress_find_end(&t->progress, &t->config->train, way) != NULL;
}

/* ---- divergence ---------------------------------------------------------------------------------------- */

/* No working model comes near 100: all tokens would have a probability of e^-100. A run that begins there
 * itself has ten times as much. */
static Status check_loss(Trainer *t, const char *name, double loss, long long update) {
    if (!isfinite(loss))
        return status_fail(STATUS_DIVERGED, "the %s is not finite at update %lld", name, update);
    if (t->first_loss == 0) t->first_loss = loss;
    if (loss <= fmax(100, 10 * t->first_loss)) return STATUS_OK;
    return status_fail(STATUS_DIVERGED, "the %s is %.3g at update %lld, far above the %.3g of the start",
                       name, loss, update, t->first_loss);
}

/* What to do about it. The first update comes before the learning rate matters. */
static Status hint_cure(const Trainer *t) {
    const TrainOptions *o = &t->config->train;
    const char *kept = checkpoint_has_model(t->options->dir) ? "; the last good model is kept" : "";
    if (t->progress.update == 0)
        return status_hint(
            STATUS_DIVERGED,
            "no step was made yet: normalizing rows of zeros magnifies gradients without bound; "
            "lower model.word_dropout (%g), set model.norm = \"pre\" or model.layer_norm = false, "
            "or lower model.embedding_scale (%g)%s",
            t->config->model.word_dropout, t->config->model.embedding_scale, kept);
    return status_hint(
        STATUS_DIVERGED,
        "lower train.learning_rate (%g), or make train.warmup (%d) longer or train.clip (%g%s) "
        "smaller, and train anew%s",
        o->learning_rate, o->warmup, o->clip, o->clip > 0 ? "" : ": no limit; 1 is one", kept);
}

/* ---- validation and saving ----------------------------------------------------------------------------- */

/* By train.stop_on; of models with the same score, that with the lower loss: short targets may have BLEU 0
 * throughout. */
static bool beats_all(const Progress *p, const ValidationScore *score, StopOn stop_on) {
    double now = -score->loss, best = -p->best_loss;
    if (stop_on == STOP_ON_BLEU) now = score->bleu, best = p->best_bleu;
    if (stop_on == STOP_ON_CHRF) now = score->chrf, best = p->best_chrf;
    return now > best || (now == best && score->loss < p->loss_of_best);
}

/* Does this validation beat all before it? Also counts those that do not. */
static bool judge(Trainer *t, const ValidationScore *score) {
    Progress *p = &t->progress;
    bool better = beats_all(p, score, (StopOn)t->config->train.stop_on);
    p->best_bleu = fmax(p->best_bleu, score->bleu);
    p->best_chrf = fmax(p->best_chrf, score->chrf);
    p->best_loss = fmin(p->best_loss, score->loss);
    if (better) p->loss_of_best = score->loss;
    p->stalled = better ? 0 : p->stalled + 1;
    p->stalled_for_cut = better ? 0 : p->stalled_for_cut + 1;
    if (p->stalled_for_cut >= t->config->train.decay_patience) {
        p->cuts++;
        p->stalled_for_cut = 0;
    }
    return better;
}

/* Weights that are not finite are never saved: what was saved last stays. */
static Status write_save(Trainer *t) {
    TRY(checkpoint_check_lock(t->options->dir));
    TRY(optimizer_check(t->optimizer));
    optimizer_swap_average(t->optimizer);
    Status status = checkpoint_save_model(&t->checkpoint, "last.safetensors");
    optimizer_swap_average(t->optimizer);
    TRY(status);
    trainer_update_clock(t);
    t->last_saved = clock_seconds();
    return checkpoint_save_state(&t->checkpoint);
}

static Status save(Trainer *t) {
    optimizer_collect(t->optimizer);
    Status status = comm_is_root() ? write_save(t) : STATUS_OK;
    TRY(comm_agree_status(status));
    share_clock(t); /* the first rank has looked at it meanwhile */
    return STATUS_OK;
}

/* What the first rank does with a validation. Whether the model is the best each knows from the scores. */
static Status keep_validation(Trainer *t, const ValidationScore *score, bool best) {
    t->checkpoint.calibration = score->calibration;
    trainer_report(t, score, best);
    TRY(checkpoint_check_lock(t->options->dir));
    return best ? checkpoint_save_model(&t->checkpoint, "best.safetensors") : STATUS_OK;
}

/* Judge and keep, unless a signal has asked to stop meanwhile: what was left out then is not to be judged. */
static Status use_validation(Trainer *t, const ValidationScore *score) {
    agree(t);
    if (t->stop) return STATUS_OK;
    TRY(check_loss(t, "validation loss", score->loss, t->progress.update));
    bool best = judge(t, score);
    Status status = comm_is_root() ? keep_validation(t, score, best) : STATUS_OK;
    return comm_agree_status(status);
}

/* Without effect if a signal asks to stop meanwhile. */
static Status validate(Trainer *t) {
    Progress *p = &t->progress;
    optimizer_collect(t->optimizer);
    TRY(optimizer_check(t->optimizer));
    log_progress("validating");
    optimizer_swap_average(t->optimizer);
    workers_stop_on(t->workers, t->options->stop); /* it may take minutes, and is repeated when resumed */
    ValidationScore score = validate_model(t->model, &t->valid, t->config, t->workers);
    workers_stop_on(t->workers, NULL);
    Status status = use_validation(t, &score);
    validate_free(&score);
    optimizer_swap_average(t->optimizer);
    if (status != STATUS_OK || t->stop) return status;
    p->loss_sum = p->train_seconds = 0;
    p->tokens = 0;
    t->validated = p->update;
    if (comm_is_root()) status = progress_save(p, t->config, t->options->dir);
    TRY(comm_agree_status(status));
    return save(t);
}

/* ---- training ------------------------------------------------------------------------------------------ */

static void begin_epoch(Trainer *t) {
    const TrainOptions *o = &t->config->train;
    corpus_retokenize(&t->train, t->source, o->bpe_dropout_source, t->target, o->bpe_dropout_target,
                      (uint64_t)o->seed, (int)t->progress.epoch, t->workers);
    t->plan = batch_plan_new(&t->train, (BatchUnit)o->batch_unit, o->batch_size, o->batch_window,
                             (uint64_t)o->seed, (int)t->progress.epoch, t->workers);
}

static void end_epoch(Trainer *t) {
    batch_plan_free(t->plan);
    t->plan = NULL;
    t->progress.epoch++;
    t->progress.batch = 0;
}

/* With </s>. */
static long long target_tokens(const Corpus *corpus, const int *pairs, int count) {
    long long tokens = 0;
    for (int i = 0; i < count; i++) tokens += corpus_target_length(corpus, pairs[i]) + 1;
    return tokens;
}

/* Both directions first: Ding, Wu and Tao 2021, "Improving neural machine translation by bidirectional
 * training". */
static bool goes_back(const Trainer *t) {
    return t->progress.update % 2 == 1 && trainer_share(t) < t->config->train.both_directions;
}

/* The gradients of the next `count` batches, per target token; returns the sum of the tokens' losses. */
static double run_batches(Trainer *t, int count, long long *tokens) {
    const TrainOptions *o = &t->config->train;
    const Progress *p = &t->progress;
    const int *start = t->plan->start + p->batch;
    t->now = goes_back(t) ? corpus_swapped(&t->train) : t->train;
    *tokens = target_tokens(&t->now, t->plan->pairs + start[0], start[count] - start[0]) *
              seq2seq_directions(t->model);
    ShardBatch *batches = mem_alloc((size_t)count, sizeof *batches);
    for (int i = 0; i < count; i++)
        batches[i] = (ShardBatch){t->plan->pairs + start[i], start[i + 1] - start[i],
                                  rng_key((uint64_t)o->seed, (uint64_t)p->update, (uint64_t)i, 1) | 1};
    double loss = shards_run(t->shards, batches, count, o->label_smoothing, 1 / (double)*tokens).loss;
    mem_free(batches);
    return loss;
}

/* The gradients of train.accumulate batches, or of as many as the epoch still has, and one step with their
 * sum. */
static Status update(Trainer *t) {
    const TrainOptions *o = &t->config->train;
    Progress *p = &t->progress;
    double started = clock_seconds();
    int left = t->plan->count - (int)p->batch, batches = left < o->accumulate ? left : o->accumulate;
    long long tokens;
    double loss = run_batches(t, batches, &tokens);
    TRY(check_loss(t, "loss", loss / (double)tokens, p->update + 1));

    double share = trainer_share(t);
    if (t->tokens == 0) t->share_before = share;
    p->last_rate = schedule_rate(o, p->update + 1, share, (int)p->cuts);
    SumRest gradients = shards_gradients(t->shards);
    TRY(optimizer_update(t->optimizer, &gradients, o, p->last_rate, schedule_average(o, p->update + 1),
                         &p->last_norm));
    double seconds = clock_seconds() - started;
    p->update++;
    p->batch += batches;
    p->loss_sum += loss;
    p->tokens += tokens;
    p->total_tokens += tokens;
    p->train_seconds += seconds;
    t->tokens += tokens;
    t->train_seconds += seconds;
    trainer_show_progress(t, loss / (double)tokens);
    return STATUS_OK;
}

static Status stop(Trainer *t) {
    const Progress *p = &t->progress;
    log_progress_end();
    TRY(save(t));
    TRY(comm_agree_status(comm_is_root() ? progress_save(p, t->config, t->options->dir) : STATUS_OK));
    if (!comm_is_root()) return status_fail(STATUS_STOPPED, "%s", "");
    Status s = status_fail(STATUS_STOPPED, "stopped at update %lld, epoch %lld; everything is saved in '%s'",
                           p->update, p->epoch + 1, t->options->dir);
    return status_hint(s, "the same command with --resume%s goes on from here",
                       t->options->overwrite ? " instead of --overwrite" : "");
}

/* Tokens are counted since the last one: with none, it is done. A run that is stopped before has it to do
 * when it goes on. */
static bool validation_is_due(const Trainer *t) {
    const Progress *p = &t->progress;
    int every = t->config->train.valid_every;
    return p->tokens && (every ? p->update % every == 0 : p->batch == 0);
}

/* A broken machine is noticed before what it made is saved as the end. */
enum { CHECK_EVERY = 100 }; /* updates */

static Status check_ranks(const Trainer *t) {
    return broadcast_check_weights(t->optimizer->params, t->progress.update, t->workers);
}

/* A run that was stopped behind the last batch of an epoch goes on with the end of that epoch. */
static Status train(Trainer *t) {
    const Progress *p = &t->progress;
    agree(t);
    while (!is_finished(t) || validation_is_due(t)) {
        if (t->stop) return stop(t);
        if (validation_is_due(t)) {
            TRY(validate(t));
            continue;
        }
        if (!t->plan) begin_epoch(t);
        if (p->batch < t->plan->count) {
            TRY(update(t));
            agree(t);
            if (p->update % CHECK_EVERY == 0) TRY(check_ranks(t));
            if (t->stop) return stop(t);
            if (validation_is_due(t)) continue;
            if (t->save) TRY(save(t));
        }
        if (p->batch >= t->plan->count) end_epoch(t);
    }
    TRY(check_ranks(t));
    if (t->validated != p->update) TRY(validate(t));
    if (t->validated != p->update) return stop(t);
    trainer_report_end(t);
    return STATUS_OK;
}

Status trainer_run(const TrainerOptions *options) {
    Trainer t = {.options = options, .config = options->config};
    Status status = config_check(t.config);
    if (status == STATUS_OK) status = trainer_set_up(&t);
    if (status == STATUS_OK) status = train(&t);
    if (status == STATUS_DIVERGED) status = comm_agree_status(hint_cure(&t)); /* it is so on every rank */
    log_progress_end();
    trainer_tear_down(&t);
    return status;
}
