/* trainer.c - epochs, updates, validations. */
#include "train/trainer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/comm.h"
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "num/gemm.h"
#include "num/kern.h"
#include "text/batch.h"
#include "train/checkpoint.h"
#include "train/length_limit.h"
#include "train/schedule.h"
#include "train/shards.h"
#include "train/share.h"
#include "train/teachers.h"
#include "train/training_data.h"
#include "train/validate.h"

typedef struct {
    const TrainerOptions *options;
    const Config *config;
    Workers *workers;
    Segmenter *source, *target;
    Corpus train, valid;
    Corpus now; /* `train` in the direction of the update: a view */
    Seq2Seq *model;
    Optimizer *optimizer;
    Shards *shards;
    Teachers teachers;
    Profiler *profiler; /* or NULL */
    Progress progress;
    Checkpoint checkpoint;
    BatchPlan *plan;     /* of the current epoch; NULL: to be made */
    long long validated; /* update of the last validation, -1 = none yet */
    /* of this session */
    double started, seconds_before; /* the clock, and progress.seconds when it began */
    long long tokens;
    double train_seconds;
    double last_shown, last_saved;
    bool warned_zero;  /* that BLEU stays at 0 */
    bool stop, save;   /* agreed by all ranks: to stop, to save */
    double first_loss; /* 0: none yet */
} Trainer;

/* ---- where the run stands ------------------------------------------------------------------------------ */

/* Of several ranks the first one has the clock. */
static void update_clock(Trainer *t) {
    if (comm_is_root()) t->progress.seconds = t->seconds_before + clock_seconds() - t->started;
}

/* What depends on clocks and signals is decided for all ranks at once: whether to stop or to save, and the
 * time that was used. */
static void agree(Trainer *t) {
    update_clock(t);
    bool due = clock_seconds() - t->last_saved > 60 * t->config->train.save_minutes;
    int signal = (int)comm_largest(*t->options->stop);
    t->stop = signal != 0;
    if (t->stop) *t->options->stop = signal; /* for the exit code of every rank */
    t->save = comm_largest(comm_is_root() && due) != 0;
    comm_broadcast(&t->progress.seconds, sizeof t->progress.seconds);
}

/* Share of all epochs or updates that is done, whichever is more; 0 if both are unlimited. Not of the time:
 * the learning rate follows from the share. */
static double share_done(const Trainer *t) {
    const TrainOptions *o = &t->config->train;
    const Progress *p = &t->progress;
    double share = 0, epochs = (double)p->epoch;
    if (t->plan && t->plan->count) epochs += (double)p->batch / t->plan->count;
    if (o->epochs) share = epochs / o->epochs;
    if (o->max_updates) share = fmax(share, (double)p->update / o->max_updates);
    return share;
}

/* What ends the run, and the way to go on for twice as long; NULL if nothing does yet. */
static const char *find_end(const Trainer *t, char way[64]) {
    enum { SIZE = 64 };
    const TrainOptions *o = &t->config->train;
    const Progress *p = &t->progress;
    if (o->epochs && p->epoch >= o->epochs)
        return snprintf(way, SIZE, "--after-epochs %lld", 2 * p->epoch), "all epochs are done";
    if (o->max_updates && p->update >= o->max_updates)
        return snprintf(way, SIZE, "--after-updates %lld", 2 * p->update), "all updates are done";
    if (o->max_minutes > 0 && p->seconds >= 60 * o->max_minutes)
        return snprintf(way, SIZE, "--set train.max_minutes=%g", 2 * o->max_minutes), "the time is over";
    if (o->patience && p->stalled >= o->patience)
        return snprintf(way, SIZE, "--early-stopping %d", 2 * o->patience), "it no longer improved";
    return NULL;
}

static bool is_finished(const Trainer *t) {
    char way[64];
    return find_end(t, way) != NULL;
}

/* Is it time for another progress line? On a terminal it is rewritten in place. */
static bool progress_due(const Trainer *t, double now) {
    int every = t->config->train.log_every;
    if (log_is_terminal()) return now - t->last_shown >= 0.25;
    return every ? t->progress.update % every == 0 : now - t->last_shown >= log_progress_interval();
}

static void announce_resumption(const Trainer *t) {
    const Progress *p = &t->progress;
    char way[64];
    const char *end = find_end(t, way);
    if (!end) {
        log_info("resume   from update %lld, epoch %lld", p->update, p->epoch + 1);
        return;
    }
    log_info("resume   the run is finished, %s: %lld epochs, %lld updates", end, p->epoch, p->update);
    log_info("         to train longer: --resume %s", way);
}

static void show_progress(Trainer *t, double loss) {
    double now = clock_seconds();
    if (!progress_due(t, now)) return;
    t->last_shown = now;
    update_clock(t);
    const Progress *p = &t->progress;
    char updates[32], speed[32], eta[32] = "?";
    double share = share_done(t), limit = 60 * t->config->train.max_minutes;
    if (limit > 0) share = fmax(share, p->seconds / limit);
    if (share > 0) str_duration(p->seconds * (1 - share) / share, eta);
    char line[160];
    snprintf(line, sizeof line, "epoch %lld  update %s  %3.0f%%  loss %.3f  lr %.2g  %s tokens/s  ETA %s",
             p->epoch + 1, str_count(p->update, updates), 100 * share, loss, p->last_rate,
             str_count((long long)((double)t->tokens / t->train_seconds), speed), eta);
    if (log_is_terminal())
        log_progress("%s", line);
    else
        log_info("%s", line);
}

/* ---- setting up ---------------------------------------------------------------------------------------- */

/* The configurations are the same, and so are the parameters, one by one. */
static Status copy_weights(ParamSet *to, const ParamSet *from) {
    for (int i = 0; i < to->count; i++) {
        const Param *p = to->items[i], *other = params_find(from, p->name);
        if (!other || other->rows != p->rows || other->columns != p->columns)
            return status_fail(STATUS_USAGE, "the model to start from has no '%s' of %d by %d", p->name,
                               p->rows, p->columns);
        memcpy(param_data(to, p), param_data(from, other),
               (size_t)p->rows * (size_t)p->columns * sizeof(real));
    }
    return STATUS_OK;
}

/* The first rank's segmenters, for all. */
static Status find_segmenters(const TrainerOptions *o, CorpusData *data) {
    if (o->resume) return checkpoint_load_segmenters(o->dir, &data->source, &data->target);
    if (!o->init) return STATUS_OK;
    data->source = segmenter_retain(seq2seq_source(o->init));
    data->target = segmenter_retain(seq2seq_target(o->init));
    return STATUS_OK;
}

/* The first rank goes ahead: the others get its segmenters, and perhaps find its cache. */
static Status read_files(const Trainer *t, CorpusData *data) {
    const TrainerOptions *o = t->options;
    Status status = comm_is_root() ? find_segmenters(o, data) : STATUS_OK;
    if (comm_is_root() && status == STATUS_OK)
        status = training_data_read(data, t->config, o->dir, t->workers);
    TRY(comm_settle(status));
    share_segmenters(&data->source, &data->target);
    if (t->config->data.broadcast) {
        share_corpus(&data->train);
        share_corpus(&data->valid);
        return STATUS_OK;
    }
    return comm_settle(comm_is_root() ? STATUS_OK : training_data_read(data, t->config, o->dir, t->workers));
}

/* What was read is the trainer's, also where not all could be. */
static Status read_data(Trainer *t) {
    CorpusData data = {0};
    Status status = read_files(t, &data);
    t->source = data.source;
    t->target = data.target;
    t->train = data.train;
    t->valid = data.valid;
    TRY(status);
    static const char CURE[] =
        "give every machine the same files, or let rank 0 send them: --set data.broadcast=true";
    TRY(share_compare(t->train.sha256, "training data", CURE));
    return share_compare(t->valid.sha256, "validation data", CURE);
}

/* As the pairs need it, or as it was. */
static Status fit_lengths(Trainer *t) {
    DecodeOptions *decode = &t->options->config->decode;
    if (!t->options->resume) length_limit_fit(decode, &t->train);
    if (!t->options->resume || !length_limit_is_open(decode)) return STATUS_OK;
    Config saved;
    Status status = checkpoint_load_config(t->options->dir, &saved);
    if (status == STATUS_OK) decode->max_length_factor = saved.decode.max_length_factor;
    config_free(&saved);
    return status;
}

/* About how many updates the run will make; 0 if it has no such end. */
static double planned_updates(const Trainer *t) {
    const TrainOptions *o = &t->config->train;
    double amount = o->batch_unit == BATCH_SENTENCES
                        ? t->train.count
                        : (double)corpus_tokens(&t->train, &t->train.target) + t->train.count;
    double updates = o->epochs * ceil(ceil(amount / o->batch_size) / o->accumulate);
    return o->max_updates && (!o->epochs || o->max_updates < updates) ? o->max_updates : updates;
}

static void warn_of_warmup(const Trainer *t) {
    double updates = planned_updates(t);
    int warmup = t->config->train.warmup;
    if (updates == 0 || warmup < updates || warmup < 10) return;
    log_warn("the run ends after about %.0f updates, before its warm-up of %d does: it will learn little; "
             "more epochs, --set train.warmup=%.0f, or --set model.size=auto",
             updates, warmup, updates / 10);
}

static void warn_of_rdrop(const Trainer *t) {
    if (t->config->train.rdrop <= 0 || config_has_dropout(&t->config->model)) return;
    log_warn("train.rdrop = %g compares two passes of different dropout, but there is no dropout: both are "
             "the same",
             t->config->train.rdrop);
}

/* Of a batch of average sentences. */
static void announce_parts(const Trainer *t) {
    const TrainOptions *o = &t->config->train;
    double pairs = fmax(t->train.count, 1),
           target = (double)corpus_tokens(&t->train, &t->train.target) / pairs + 1,
           rows = (double)corpus_tokens(&t->train, &t->train.source) / pairs + 1 + target;
    double sentences = o->batch_unit == BATCH_SENTENCES ? o->batch_size : o->batch_size / target;
    sentences = fmin(fmax(sentences, 1), pairs);
    ShardPlan plan = shards_plan((int)sentences, (long)(sentences * rows));
    int parts = o->shards ? o->shards : plan.parts,
        shards = o->shards ? o->shards : plan.shards * o->accumulate;
    const char *few = workers_count(t->workers) > parts
                          ? ", so no more threads than that compute most of its gradient"
                          : "";
    log_info("         a batch is cut into %s%d part%s%s", o->shards ? "" : "about ", parts,
             parts == 1 ? "" : "s", few);
    if (comm_size() > shards)
        log_warn("there are %d ranks for %s%d shard%s: the others compute no gradients; larger batches or "
                 "train.shards make more",
                 comm_size(), o->shards ? "" : "about ", shards, shards == 1 ? "" : "s");
}

static void announce(const Trainer *t) {
    char a[32], b[32], c[32];
    int source = vocab_size(segmenter_vocab(t->source)), target = vocab_size(segmenter_vocab(t->target));
    log_info("data     %s training pairs, %s target tokens; %s validation pairs%s",
             str_count(t->train.count, a),
             str_count((long long)corpus_tokens(&t->train, &t->train.target), b),
             str_count(t->valid.count, c), t->config->data.valid.count ? "" : ", held out of the file");
    if (t->source == t->target)
        log_info("vocab    %s tokens, shared", str_count(source, a));
    else
        log_info("vocab    %s source tokens, %s target tokens", str_count(source, a), str_count(target, b));
    log_info("model    %s parameters (%s)", str_count((long long)seq2seq_params(t->model)->size, a),
             str_bytes((double)seq2seq_params(t->model)->size * sizeof(real), b));
    if (comm_size() > 1) log_info("ranks    %d, the first on %s; here:", comm_size(), comm_host(0));
    log_info("machine  %d thread%s, SIMD %s, BLAS kernel %s", workers_count(t->workers),
             workers_count(t->workers) == 1 ? "" : "s", kern->name, gemm_kernel());
    announce_parts(t);
    warn_of_warmup(t);
    warn_of_rdrop(t);
    if (gemm_better_kernel())
        log_warn("OpenBLAS runs its %s kernel, this processor can do better: set OPENBLAS_CORETYPE=%s",
                 gemm_kernel(), gemm_better_kernel());
}

/* What the first rank does in the run directory before there is a model. */
static Status take_directory(const Trainer *t) {
    const TrainerOptions *o = t->options;
    TRY(checkpoint_lock(o->dir));
    if (o->resume || o->overwrite || !checkpoint_has_model(o->dir)) return STATUS_OK;
    Status s = status_fail(STATUS_USAGE, "'%s' already holds a trained model", o->dir);
    return status_hint(s, "--resume goes on with it, --overwrite starts again, --run DIR trains elsewhere");
}

/* Threads of this rank. */
static Status make_workers(Trainer *t) {
    CommPlace *places = comm_places(t->options->threads);
    t->workers = workers_new(places[comm_rank()].threads);
    mem_free(places);
    return gemm_self_test(workers_count(t->workers));
}

static Status make_model(Trainer *t) {
    const TrainerOptions *o = t->options;
    t->model = seq2seq_new(t->config, t->source, t->target);
    params_initialize(seq2seq_params(t->model), (uint64_t)t->config->train.seed);
    if (o->init && !o->resume) return copy_weights(seq2seq_params(t->model), seq2seq_params(o->init));
    return STATUS_OK;
}

static Status load_state(Trainer *t) {
    TRY(checkpoint_load_state(&t->checkpoint));
    announce_resumption(t);
    return STATUS_OK;
}

static Status set_up(Trainer *t) {
    const TrainerOptions *o = t->options;
    TRY(comm_settle(make_workers(t)));
    TRY(comm_settle(comm_is_root() ? take_directory(t) : STATUS_OK));
    TRY(read_data(t));
    TRY(comm_settle(comm_is_root() ? fit_lengths(t) : STATUS_OK));
    comm_broadcast(&o->config->decode.max_length_factor, sizeof o->config->decode.max_length_factor);
    TRY(comm_settle(comm_is_root() && !o->resume ? checkpoint_forget(o->dir) : STATUS_OK));
    TRY(comm_settle(make_model(t)));
    share_weights(seq2seq_params(t->model));
    t->optimizer = optimizer_new(seq2seq_params(t->model), t->workers, t->config->train.average > 0);
    TRY(comm_settle(teachers_load(&t->teachers, t->config, t->model)));
    t->shards = shards_new(t->model, &t->now, t->config->train.shards, t->workers);
    t->progress =
        (Progress){.best_bleu = -1, .best_loss = INFINITY, .best_chrf = -1, .loss_of_best = INFINITY};
    t->checkpoint = (Checkpoint){.dir = o->dir,
                                 .config = t->config,
                                 .model = t->model,
                                 .optimizer = t->optimizer,
                                 .progress = &t->progress,
                                 .data_sha256 = t->train.sha256,
                                 .valid_sha256 = t->valid.sha256};
    TRY(comm_settle(checkpoint_check_model(&t->checkpoint)));
    announce(t);
    if (o->resume) {
        TRY(comm_settle(comm_is_root() ? load_state(t) : STATUS_OK));
        checkpoint_share_state(&t->checkpoint);
    }
    if (o->profile) t->profiler = profiler_new(t->workers);
    shards_profile(t->shards, t->profiler);
    t->optimizer->profiler = t->profiler;
    t->started = t->last_saved = t->last_shown = clock_seconds();
    t->seconds_before = t->progress.seconds;
    if (t->options->ready) t->options->ready();
    t->validated = t->progress.count ? t->progress.records[t->progress.count - 1].update : -1;
    comm_broadcast(&t->validated, sizeof t->validated);
    return STATUS_OK;
}

static void tear_down(Trainer *t) {
    batch_plan_free(t->plan);
    shards_free(t->shards);
    teachers_free(&t->teachers);
    optimizer_free(t->optimizer);
    seq2seq_free(t->model);
    corpus_free(&t->train);
    corpus_free(&t->valid);
    segmenter_free(t->source);
    segmenter_free(t->target);
    progress_free(&t->progress);
    profiler_free(t->profiler);
    workers_free(t->workers);
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
    return status_hint(STATUS_DIVERGED,
                       "lower train.learning_rate (%g), or make train.warmup (%d) longer or train.clip (%g) "
                       "smaller, and train anew%s",
                       o->learning_rate, o->warmup, o->clip, kept);
}

/* ---- validation and saving ----------------------------------------------------------------------------- */

static void show_samples(const Trainer *t, const ValidationScore *score) {
    for (int i = 0; i < t->config->train.samples && i < score->count; i++) {
        /* spread over the data, not always the shortest ones at its start */
        int pair = (int)((2LL * i + 1) * score->count / (2LL * t->config->train.samples));
        log_info("  source     %s", t->valid.source_text.items[pair]);
        log_info("  reference  %s", t->valid.target_text.items[pair]);
        log_info("  model      %s", score->hypotheses[pair]);
    }
}

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

/* Half of what a model that knows nothing has, the logarithm of the vocabulary's size, and still no 4-gram
 * right: then there are hardly any. */
static void warn_if_zero(Trainer *t, const ValidationScore *score) {
    double untrained = log(vocab_size(segmenter_vocab(t->target)));
    if (t->warned_zero || t->config->train.stop_on != STOP_ON_BLEU || score->bleu > 0 ||
        score->loss > untrained / 2)
        return;
    t->warned_zero = true;
    log_warn("BLEU is 0 although the loss has halved: it counts groups of four words, which short targets "
             "lack; --set train.stop_on=chrf judges by characters");
}

static void report(Trainer *t, const ValidationScore *score, bool best) {
    Progress *p = &t->progress;
    update_clock(t);
    ProgressRecord record = {
        .update = p->update,
        .epoch = (int)p->epoch + (p->batch > 0),
        .seconds = p->seconds,
        .tokens_per_second = p->train_seconds > 0 ? (double)p->tokens / p->train_seconds : 0,
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
    warn_if_zero(t, score);
    show_samples(t, score);
}

/* Weights that are not finite are never saved: what was saved last stays. */
static Status write_save(Trainer *t) {
    TRY(checkpoint_check_lock(t->options->dir));
    TRY(optimizer_check(t->optimizer));
    optimizer_swap_average(t->optimizer);
    Status status = checkpoint_save_model(&t->checkpoint, "last.safetensors");
    optimizer_swap_average(t->optimizer);
    TRY(status);
    update_clock(t);
    t->last_saved = clock_seconds();
    return checkpoint_save_state(&t->checkpoint);
}

static Status save(Trainer *t) {
    Phase before = profiler_phase(t->profiler, PHASE_SAVING);
    optimizer_collect(t->optimizer);
    Status status = comm_is_root() ? write_save(t) : STATUS_OK;
    profiler_phase(t->profiler, before);
    return comm_settle(status);
}

/* What the first rank does with a validation. Whether the model is the best each knows from the scores. */
static Status keep_validation(Trainer *t, const ValidationScore *score, bool best) {
    t->checkpoint.calibration = score->calibration;
    report(t, score, best);
    profiler_phase(t->profiler, PHASE_SAVING);
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
    return comm_settle(status);
}

/* Without effect if a signal asks to stop meanwhile. */
static Status validate(Trainer *t) {
    Progress *p = &t->progress;
    Phase before = profiler_phase(t->profiler, PHASE_VALIDATION);
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
    TRY(comm_settle(status));
    TRY(save(t));
    profiler_phase(t->profiler, before);
    return STATUS_OK;
}

/* ---- training ------------------------------------------------------------------------------------------ */

static void begin_epoch(Trainer *t) {
    const TrainOptions *o = &t->config->train;
    Phase before = profiler_phase(t->profiler, PHASE_DATA);
    corpus_resegment(&t->train, t->source, o->bpe_dropout_source, t->target, o->bpe_dropout_target,
                     (uint64_t)o->seed, (int)t->progress.epoch, t->workers);
    t->plan = batch_plan_new(&t->train, (BatchUnit)o->batch_unit, o->batch_size, o->batch_window,
                             (uint64_t)o->seed, (int)t->progress.epoch, t->workers);
    profiler_phase(t->profiler, before);
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
    return t->progress.update % 2 == 1 && share_done(t) < t->config->train.both_directions;
}

/* The gradients of train.accumulate batches, or of as many as the epoch still has, and one step with their
 * sum. */
static Status update(Trainer *t) {
    const TrainOptions *o = &t->config->train;
    Progress *p = &t->progress;
    double started = clock_seconds();
    Phase before = profiler_phase(t->profiler, PHASE_DATA);
    int left = t->plan->count - (int)p->batch, batches = left < o->accumulate ? left : o->accumulate;
    const int *start = t->plan->start + p->batch;
    t->now = goes_back(t) ? corpus_swapped(&t->train) : t->train;
    long long tokens = target_tokens(&t->now, t->plan->pairs + start[0], start[batches] - start[0]);
    teachers_turn(&t->teachers, o, t->optimizer, t->shards, p->update + 1);
    ShardBatch *parts = mem_alloc((size_t)batches, sizeof *parts);
    for (int i = 0; i < batches; i++)
        parts[i] = (ShardBatch){t->plan->pairs + start[i], start[i + 1] - start[i],
                                rng_key((uint64_t)o->seed, (uint64_t)p->update, (uint64_t)i, 1) | 1};
    double loss = shards_run(t->shards, parts, batches, o->label_smoothing, 1 / (double)tokens).loss;
    mem_free(parts);
    TRY(check_loss(t, "loss", loss / (double)tokens, p->update + 1));

    p->last_rate = schedule_rate(o, p->update + 1, share_done(t), (int)p->cuts);
    SumRest gradients = shards_gradients(t->shards);
    TRY(optimizer_update(t->optimizer, &gradients, o, p->last_rate, schedule_average(o, p->update + 1),
                         &p->last_norm));
    profiler_phase(t->profiler, before);
    double seconds = clock_seconds() - started;
    p->update++;
    p->batch += batches;
    p->loss_sum += loss;
    p->tokens += tokens;
    p->total_tokens += tokens;
    p->train_seconds += seconds;
    t->tokens += tokens;
    t->train_seconds += seconds;
    show_progress(t, loss / (double)tokens);
    return STATUS_OK;
}

static Status stop(Trainer *t) {
    const Progress *p = &t->progress;
    log_progress_end();
    TRY(save(t));
    TRY(comm_settle(comm_is_root() ? progress_save(p, t->config, t->options->dir) : STATUS_OK));
    if (!comm_is_root()) return status_fail(STATUS_STOPPED, "%s", "");
    Status s = status_fail(STATUS_STOPPED, "stopped at update %lld, epoch %lld; everything is saved in '%s'",
                           p->update, p->epoch + 1, t->options->dir);
    return status_hint(s, "the same command with --resume goes on from here");
}

static void report_end(Trainer *t) {
    char time[32], speed[32], chrf[32] = "";
    update_clock(t);
    if (t->progress.best_chrf >= 0) snprintf(chrf, sizeof chrf, "best chrF %.2f, ", t->progress.best_chrf);
    double tokens_per_second = t->train_seconds > 0 ? (double)t->tokens / t->train_seconds : 0;
    log_info("done in %s: best BLEU %.2f, %sbest validation loss %.3f; %s target tokens/s; model "
             "'%s/best.safetensors'",
             str_duration(t->progress.seconds, time), t->progress.best_bleu, chrf, t->progress.best_loss,
             str_count((long long)tokens_per_second, speed), t->options->dir);
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
    return share_check_weights(t->optimizer->params, t->progress.update, t->workers);
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
    report_end(t);
    return STATUS_OK;
}

Status trainer_run(const TrainerOptions *options) {
    Trainer t = {.options = options, .config = options->config};
    Status status = config_check(t.config);
    if (status == STATUS_OK) status = set_up(&t);
    if (status == STATUS_OK) status = train(&t);
    if (status == STATUS_DIVERGED) status = comm_settle(hint_cure(&t)); /* it is so on every rank */
    log_progress_end();
    profiler_report(t.profiler);
    tear_down(&t);
    return status;
}
