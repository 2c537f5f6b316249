/* trainer.c - the training loop: epochs, updates and validations. */
#include "train/trainer.h"

#include <math.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "data/batch.h"
#include "distributed/group.h"
#include "train/interpolate.h"
#include "train/run.h"
#include "train/shards.h"
#include "train/training_log.h"
#include "train/validate.h"

typedef struct {
    Run run;
    Shards *shards;
    Corpus pairs;    /* a view of run.data.train, in the direction of the update */
    BatchPlan *plan; /* of the current epoch; NULL: not made yet */
    TrainingLog log;
    long long validated; /* update of the last validation, -1 = none yet */
    double first_loss;   /* 0: none yet */
} Trainer;

static double fraction_done(const Trainer *t) {
    return progress_fraction(&t->run.progress, &t->run.config->train, t->plan ? t->plan->count : 0);
}

Status trainer_begin(const TrainerOptions *o) {
    TRY(checkpoint_lock(o->dir));
    bool has_model = !o->resume && !o->overwrite && checkpoint_has_model(o->dir);
    if (!has_model) return STATUS_OK;
    Status s = status_fail(STATUS_USAGE, "'%s' already holds a trained model", o->dir);
    if (!checkpoint_exists(o->dir)) return checkpoint_hint_model_alone(s, o->dir);
    return status_hint(s,
                       "--resume continues it, --overwrite starts again, --run DIR trains in another folder");
}

/* ---- divergence ---------------------------------------------------------------------------------------- */

/* No working model comes near a loss of 100, which gives every token a probability of e^-100. A run that
 * begins near it may reach ten times its first loss. */
static Status check_loss(Trainer *t, const char *name, double loss, long long update) {
    if (!isfinite(loss))
        return status_fail(STATUS_DIVERGED, "the %s is not finite at update %lld", name, update);
    if (t->first_loss == 0) t->first_loss = loss;
    if (loss <= fmax(100, 10 * t->first_loss)) return STATUS_OK;
    return status_fail(STATUS_DIVERGED, "the %s is %.3g at update %lld, far above the %.3g of the start",
                       name, loss, update, t->first_loss);
}

/* What the user can do about it. The learning rate has no influence before the first update. */
static Status hint_divergence(const Trainer *t) {
    const TrainOptions *o = &t->run.config->train;
    const char *last_model = checkpoint_has_model(t->run.options->dir) ? "; the last good model is kept" : "";
    if (t->run.progress.update == 0)
        return status_hint(
            STATUS_DIVERGED,
            "no step was made yet: normalizing rows of zeros magnifies gradients without bound; "
            "lower model.word_dropout (%g), set model.norm = \"pre\" or model.layer_norm = false, "
            "or lower model.embedding_scale (%g)%s",
            t->run.config->model.word_dropout, t->run.config->model.embedding_scale, last_model);
    return status_hint(
        STATUS_DIVERGED,
        "lower train.learning_rate (%g), or make train.warmup (%d) longer or train.clip (%g%s) "
        "smaller, and train again%s",
        o->learning_rate, o->warmup, o->clip, o->clip > 0 ? "" : ": no limit; 1 is one", last_model);
}

/* ---- validation -------------------------------------------------------------------------------------- */

static bool is_finished(const Trainer *t) {
    char extension[PROGRESS_EXTENSION];
    return progress_find_end(&t->run.progress, &t->run.config->train, extension) != NULL;
}

/* While a run trains both directions, its model may write the source's language. */
static bool trains_both(const Trainer *t) {
    return fraction_done(t) < t->run.config->train.both_directions && !is_finished(t);
}

/* After a signal the score is incomplete: the validation is repeated when the run is resumed. */
static Status keep_score(Trainer *t, const ValidationScore *score) {
    run_agree(&t->run);
    if (t->run.stop) return STATUS_OK;
    TRY(check_loss(t, "validation loss", score->loss, t->run.progress.update));
    bool best = !trains_both(t) && progress_update_best(&t->run.progress, score->loss, score->bleu,
                                                        score->chrf, &t->run.config->train);
    t->run.checkpoint.calibration = score->calibration;
    training_log_validation(&t->log, score, best);
    return run_save_best(&t->run, best);
}

/* Without effect if a signal asks to stop meanwhile. */
static Status validate(Trainer *t) {
    Progress *p = &t->run.progress;
    optimizer_collect(t->run.optimizer);
    TRY(optimizer_check(t->run.optimizer));
    log_progress("validating");
    shards_release_tapes(t->shards);
    optimizer_swap_average(t->run.optimizer);
    workers_stop_on(t->run.workers, t->run.options->stop); /* a validation may take minutes */
    ValidationScore score = validate_model(t->run.model, &t->run.data.valid, t->run.config, t->run.workers);
    workers_stop_on(t->run.workers, NULL);
    Status status = keep_score(t, &score);
    validation_score_free(&score);
    optimizer_swap_average(t->run.optimizer);
    if (status != STATUS_OK || t->run.stop) return status;
    p->loss_sum = p->train_seconds = 0;
    p->tokens = 0;
    t->validated = p->update;
    TRY(run_save_progress(&t->run));
    return run_save(&t->run);
}

/* Tokens are counted since the last validation. Without any, this update is validated already. */
static bool validation_is_due(const Trainer *t) {
    const Progress *p = &t->run.progress;
    int every = t->run.config->train.valid_every;
    return p->tokens && (every ? p->update % every == 0 : p->batch == 0);
}

/* ---- the training loop --------------------------------------------------------------------------------- */

static void begin_epoch(Trainer *t) {
    const TrainOptions *o = &t->run.config->train;
    Corpus *train = &t->run.data.train;
    bool draws = o->unigram_alpha > 0;
    RetokenizeOptions how = {draws ? o->unigram_alpha : o->bpe_dropout_source,
                             draws ? o->unigram_alpha : o->bpe_dropout_target, t->run.reserved};
    corpus_retokenize(train, t->run.data.source, t->run.data.target, &how, (uint64_t)o->seed,
                      (int)t->run.progress.epoch, t->run.workers);
    t->plan = batch_plan_new(train, (BatchUnit)o->batch_unit, o->batch_size, o->batch_window,
                             (uint64_t)o->seed, (int)t->run.progress.epoch, t->run.workers);
}

static bool epoch_is_over(const Trainer *t) { return t->plan && t->run.progress.batch >= t->plan->count; }

static void end_epoch(Trainer *t) {
    batch_plan_free(t->plan);
    t->plan = NULL;
    t->run.progress.epoch++;
    t->run.progress.batch = 0;
}

/* With </s>. */
static long long target_tokens(const Corpus *corpus, const int *pairs, int count) {
    long long tokens = 0;
    for (int i = 0; i < count; i++) tokens += corpus_target_length(corpus, pairs[i]) + 1;
    return tokens;
}

/* Both directions first: Ding, Wu and Tao 2021, "Improving neural machine translation by bidirectional
 * training". */
static bool is_reversed(const Trainer *t) {
    return t->run.progress.update % 2 == 1 && fraction_done(t) < t->run.config->train.both_directions;
}

/* The gradients of the next `count` batches, per target token; returns the sum of the tokens' losses. */
static double compute_gradients(Trainer *t, int count, long long *tokens) {
    const TrainOptions *o = &t->run.config->train;
    const Progress *p = &t->run.progress;
    const int *start = t->plan->start + p->batch;
    t->pairs = is_reversed(t) ? corpus_swapped(&t->run.data.train) : t->run.data.train;
    *tokens = target_tokens(&t->pairs, t->plan->pairs + start[0], start[count] - start[0]) *
              seq2seq_directions(t->run.model);
    MicroBatch *batches = mem_alloc((size_t)count, sizeof *batches);
    for (int i = 0; i < count; i++)
        batches[i] = (MicroBatch){t->plan->pairs + start[i], start[i + 1] - start[i],
                                  rng_key((uint64_t)o->seed, (uint64_t)p->update, (uint64_t)i, 1) | 1};
    double loss = shards_run(t->shards, batches, count, o->label_smoothing, 1 / (double)*tokens).loss;
    mem_free(batches);
    return loss;
}

static Status make_step(Trainer *t) {
    const TrainOptions *o = &t->run.config->train;
    Progress *p = &t->run.progress;
    double fraction = fraction_done(t);
    if (t->log.tokens == 0) t->log.fraction_before = fraction;
    p->last_rate = optimizer_learning_rate(o, p->update + 1, fraction, (int)p->cuts);
    PartialSums gradients = shards_gradients(t->shards);
    return optimizer_update(t->run.optimizer, &gradients, o, p->last_rate,
                            optimizer_average_rate(o, p->update + 1), &p->last_norm);
}

enum { CHECK_EVERY = 100 }; /* updates */

/* One step with the gradients of train.accumulate batches, or of the last ones of the epoch. */
static Status update(Trainer *t) {
    Progress *p = &t->run.progress;
    double started = clock_seconds();
    int remaining = t->plan->count - (int)p->batch, accumulate = t->run.config->train.accumulate,
        batches = remaining < accumulate ? remaining : accumulate;
    long long tokens;
    double loss = compute_gradients(t, batches, &tokens);
    TRY(check_loss(t, "loss", loss / (double)tokens, p->update + 1));
    TRY(make_step(t));
    double seconds = clock_seconds() - started;
    p->update++;
    p->batch += batches;
    p->loss_sum += loss;
    p->tokens += tokens;
    p->total_tokens += tokens;
    p->train_seconds += seconds;
    t->log.tokens += tokens;
    t->log.train_seconds += seconds;
    training_log_update(&t->log, loss / (double)tokens, fraction_done(t));
    return p->update % CHECK_EVERY == 0 ? run_check_weights(&t->run) : STATUS_OK;
}

static Status stop(Trainer *t) {
    const Progress *p = &t->run.progress;
    log_progress_end();
    if (t->validated != p->update) { /* otherwise it was saved then, and the moments may be gone */
        TRY(run_save(&t->run));
        TRY(run_save_progress(&t->run));
    }
    Status s =
        status_fail(STATUS_STOPPED, "stopped at update %lld, epoch %lld; everything is saved in '%s'%s",
                    p->update, p->epoch + 1, t->run.options->dir,
                    isfinite(p->best_loss) ? ""
                    : trains_both(t)       ? ", but there is no best model yet"
                                           : ", but no model was validated yet");
    if (trains_both(t))
        log_warn("the first %.0f %% of the run train both directions: no model is the best one until then",
                 100 * t->run.config->train.both_directions);
    status_hint(s, "to continue from here, run the same command with --resume%s",
                t->run.options->overwrite ? " instead of --overwrite" : "");
    return group_agree(s);
}

static Status finish(Trainer *t) {
    TRY(run_check_weights(&t->run));
    if (t->validated != t->run.progress.update) TRY(validate(t));
    if (!t->run.stop && t->run.config->train.interpolate) {
        /* Everything is saved, so their memory is for the weights to come. */
        shards_free(t->shards);
        t->shards = NULL;
        optimizer_free_moments(t->run.optimizer);
        TRY(interpolate(&t->run.checkpoint, &t->run.data, t->run.workers, t->run.options->stop));
        run_agree(&t->run);
    }
    if (!t->run.stop) training_log_end(&t->log);
    return STATUS_OK;
}

static bool should_continue(Trainer *t) {
    run_agree(&t->run);
    return !t->run.stop && (!is_finished(t) || epoch_is_over(t) || validation_is_due(t));
}

/* A run can be stopped between any two of these steps. A resumed run makes the plan of its epoch again. */
static Status train(Trainer *t) {
    while (should_continue(t)) {
        if (validation_is_due(t))
            TRY(validate(t));
        else if (t->run.save)
            TRY(run_save(&t->run));
        else if (!t->plan)
            begin_epoch(t);
        else if (epoch_is_over(t))
            end_epoch(t);
        else
            TRY(update(t));
    }
    if (!t->run.stop) TRY(finish(t));
    return t->run.stop ? stop(t) : STATUS_OK;
}

static void begin(Trainer *t) {
    const Progress *p = &t->run.progress;
    t->shards = shards_new(t->run.model, &t->pairs, t->run.workers);
    t->validated = isfinite(p->best_loss) && !p->tokens ? p->update : -1;
    training_log_begin(&t->log, &t->run);
}

Status trainer_run(const TrainerOptions *options) {
    Trainer t = {0};
    Status status = run_begin(&t.run, options);
    if (status == STATUS_OK) {
        begin(&t);
        status = train(&t);
    }
    if (status == STATUS_DIVERGED) status = group_agree(hint_divergence(&t)); /* it is so in every process */
    log_progress_end();
    batch_plan_free(t.plan);
    shards_free(t.shards);
    run_free(&t.run);
    return status;
}
