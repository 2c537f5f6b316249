/* trainer.c - a run: set-up, the training loop, and its messages. */
#include "train/trainer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "io/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress_line.h"
#include "base/rng.h"
#include "kern/kern.h"
#include "autograd/matmul.h"
#include "config/auto_config.h"
#include "data/batch.h"
#include "distributed/broadcast.h"
#include "distributed/comm.h"
#include "distributed/group.h"
#include "train/checkpoint.h"
#include "train/shards.h"
#include "train/training_data.h"
#include "train/validate.h"

/* What the messages of this session need, from the time that it began. */
typedef struct {
    double started;
    double seconds_before, share_before; /* progress.seconds and the share of the run that was done then */
    long long tokens;
    double train_seconds;
    double last_shown;
    bool warned_zero; /* that BLEU stays at 0 */
} Session;

typedef struct {
    const TrainerOptions *options;
    const Config *config;
    Workers *workers;
    TrainingData data;
    Seq2Seq *model;
    Optimizer *optimizer;
    Shards *shards;
    Corpus pairs;    /* a view of data.train, in the direction of the update */
    BatchPlan *plan; /* of the current epoch; NULL: not made yet */
    Progress progress;
    Checkpoint checkpoint;
    Session session;
    long long validated; /* update of the last validation, -1 = none yet */
    double first_loss;   /* 0: none yet */
    double last_saved;
    bool reserved;   /* half of the pairs have reserved tokens */
    bool stop, save; /* agreed by all processes: to stop, to save */
} Trainer;

static double share_done(const Trainer *t) {
    return progress_share(&t->progress, &t->config->train, t->plan ? t->plan->count : 0);
}

static void update_clock(Trainer *t) {
    t->progress.seconds = t->session.seconds_before + clock_seconds() - t->session.started;
}

/* The messages, at the end of this file. */
static void announce(const Trainer *t);
static void announce_resumption(const Trainer *t);
static void show_progress(Trainer *t, double loss);
static void report_validation(Trainer *t, const ValidationScore *score, bool best);
static void report_end(Trainer *t);

/* ---- set-up -------------------------------------------------------------------------------------------- */

Status trainer_begin(const TrainerOptions *o) {
    TRY(checkpoint_lock(o->dir));
    bool has_model = !o->resume && !o->overwrite && checkpoint_has_model(o->dir);
    if (!has_model) return STATUS_OK;
    Status s = status_fail(STATUS_USAGE, "'%s' already holds a trained model", o->dir);
    if (!checkpoint_exists(o->dir)) return checkpoint_hint_model_alone(s, o->dir);
    return status_hint(s, "--resume goes on with it, --overwrite starts again, --run DIR trains elsewhere");
}

/* Both have the same configuration, and so the same parameters. */
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

static bool same_vocabulary(const Tokenizer *a, const Tokenizer *b) {
    return vocab_difference(tokenizer_vocab(a), tokenizer_vocab(b)) < 0;
}

/* Resuming with the command that began the run, which names the model to start from, is allowed. */
static Status check_init(const TrainerOptions *o, const TrainingData *data) {
    if (!o->init || (same_vocabulary(seq2seq_source(o->init), data->source) &&
                     same_vocabulary(seq2seq_target(o->init), data->target)))
        return STATUS_OK;
    const char *option = o->vocabulary_only ? "vocabulary" : "init";
    status_fail(STATUS_USAGE, "the run in '%s' did not begin with the vocabulary of the model of --%s",
                o->dir, option);
    return status_hint(STATUS_USAGE,
                       "a run goes on with its own weights and vocabulary, without --%s; with --run OTHER "
                       "another one starts",
                       option);
}

static Status find_tokenizers(const TrainerOptions *o, TrainingData *data) {
    if (o->resume) {
        TRY(checkpoint_load_tokenizers(o->dir, &data->source, &data->target));
        return check_init(o, data);
    }
    if (!o->init) return STATUS_OK;
    data->source = tokenizer_retain(seq2seq_source(o->init));
    data->target = tokenizer_retain(seq2seq_target(o->init));
    return STATUS_OK;
}

static Status make_tokenizers(Trainer *t) {
    TRY(find_tokenizers(t->options, &t->data));
    return training_data_learn(&t->data, t->config, t->workers);
}

/* The root process has the tokenizers, from the run, from a model, or learned. Each process reads the files
 * with them. */
static Status read_data(Trainer *t) {
    static const char CURE[] = "give every machine the same files";
    TrainingData *data = &t->data;
    TRY(ROOT_ONLY(make_tokenizers(t)));
    broadcast_tokenizers(&data->source, &data->target);
    TRY(group_agree(training_data_read(data, t->config, t->workers)));
    TRY(broadcast_compare(data->train.sha256, "training data", CURE));
    return broadcast_compare(data->valid.sha256, "validation data", CURE);
}

/* Pairs are held out by a hash of their source. If the file is what an earlier run did not hold out, its
 * pairs have none of the hashes below the share of that run. Of few pairs the share varies. */
static Status check_held_out(const Trainer *t) {
    const DataOptions *data = &t->config->data;
    double pairs = t->data.train.count + t->data.valid.count, wanted = data->held_out * pairs;
    if (data->valid.count || t->options->resume || wanted < 100 || t->data.valid.count >= wanted / 2)
        return STATUS_OK;
    status_fail(STATUS_DATA, "data.held_out = %g holds out %d of %.0f pairs, instead of about %.0f",
                data->held_out, t->data.valid.count, pairs, wanted);
    return status_hint(STATUS_DATA,
                       "was the file made by holding pairs out of a larger one? The same sources would "
                       "be held out again: --set data.valid=FILE names the pairs to validate on");
}

/* The length limit that the pairs need, or that of the run that is resumed. */
static Status fit_lengths(Trainer *t) {
    DecodeOptions *decode = &t->options->config->decode;
    if (!t->options->resume) auto_config_fit_length(decode, &t->data.train);
    if (!t->options->resume || !auto_config_length_is_default(decode)) return STATUS_OK;
    Config saved;
    Status status = checkpoint_load_config(t->options->dir, &saved);
    if (status == STATUS_OK) decode->max_length_factor = saved.decode.max_length_factor;
    config_free(&saved);
    return status;
}

static Status make_workers(Trainer *t) {
    t->workers = workers_new(comm_threads(t->options->threads));
    return matmul_self_test(workers_count(t->workers));
}

/* The list has the reserved tokens of the first epoch. */
static void learn_shortlist(Trainer *t) {
    TrainingData *data = &t->data;
    Retokenizing how = {.reserved = t->reserved};
    corpus_retokenize(&data->train, data->source, data->target, &how, (uint64_t)t->config->train.seed, 0,
                      t->workers);
    seq2seq_take_shortlist(t->model, shortlist_learn(&data->train, vocab_size(tokenizer_vocab(data->source)),
                                                     vocab_size(tokenizer_vocab(data->target)),
                                                     t->config->train.shortlist));
}

static Status make_model(Trainer *t) {
    const TrainerOptions *o = t->options;
    t->model = seq2seq_new(t->config, t->data.source, t->data.target);
    if (t->config->train.shortlist > 0 && group_is_root()) learn_shortlist(t);
    params_initialize(seq2seq_params(t->model), (uint64_t)t->config->train.seed);
    if (o->init && !o->vocabulary_only && !o->resume)
        return copy_weights(seq2seq_params(t->model), seq2seq_params(o->init));
    return STATUS_OK;
}

static void make_learner(Trainer *t) {
    t->optimizer = optimizer_new(seq2seq_params(t->model), t->workers, optimizer_format(&t->config->train),
                                 t->config->train.average > 0);
    t->shards = shards_new(t->model, &t->pairs, t->workers);
    t->progress =
        (Progress){.best_bleu = -1, .best_loss = INFINITY, .best_chrf = -1, .loss_of_best = INFINITY};
    t->checkpoint = (Checkpoint){.dir = t->options->dir,
                                 .config = t->config,
                                 .model = t->model,
                                 .optimizer = t->optimizer,
                                 .progress = &t->progress,
                                 .data_sha256 = t->data.train.sha256,
                                 .valid_sha256 = t->data.valid.sha256,
                                 .translates_symbols = corpus_translates_symbols(&t->data.train)};
}

static Status load_state(Trainer *t) {
    TRY(checkpoint_load_state(&t->checkpoint));
    announce_resumption(t);
    return STATUS_OK;
}

static Status resume(Trainer *t) {
    TRY(ROOT_ONLY(load_state(t)));
    checkpoint_broadcast_state(&t->checkpoint);
    return STATUS_OK;
}

static void begin_session(Trainer *t) {
    Progress *p = &t->progress;
    double now = clock_seconds();
    t->session = (Session){.started = now, .last_shown = now, .seconds_before = p->seconds};
    t->last_saved = now;
    t->validated = isfinite(p->best_loss) && !p->tokens ? p->update : -1;
}

/* Vocabularies of an earlier training, or with a bound of their size, may lack reserved tokens. */
static void find_reserved(Trainer *t) {
    if (t->config->data.placeholders != PLACEHOLDERS_TRUE) return;
    t->reserved = tokenizer_has_reserved(t->data.source) && tokenizer_has_reserved(t->data.target);
    if (!t->reserved)
        log_warn("data.placeholders = true, but the vocabulary lacks the reserved tokens: it is that of a "
                 "model trained without, or text.max_vocab cuts them");
}

static Status set_up(Trainer *t) {
    const TrainerOptions *o = t->options;
    double *factor = &o->config->decode.max_length_factor;
    TRY(group_agree(make_workers(t)));
    TRY(read_data(t));
    find_reserved(t);
    TRY(group_agree(check_held_out(t)));
    TRY(ROOT_ONLY(fit_lengths(t)));
    group_broadcast(factor, sizeof *factor);
    TRY(group_agree(make_model(t)));
    broadcast_weights(seq2seq_params(t->model));
    make_learner(t);
    TRY(group_agree(checkpoint_check_model(&t->checkpoint)));
    if (!o->resume) TRY(ROOT_ONLY(checkpoint_remove_run(o->dir)));
    announce(t);
    if (o->resume) TRY(resume(t));
    begin_session(t);
    if (o->ready) o->ready();
    return STATUS_OK;
}

static void tear_down(Trainer *t) {
    batch_plan_free(t->plan);
    shards_free(t->shards);
    optimizer_free(t->optimizer);
    seq2seq_free(t->model);
    corpus_free(&t->data.train);
    corpus_free(&t->data.valid);
    tokenizer_free(t->data.source);
    tokenizer_free(t->data.target);
    progress_free(&t->progress);
    workers_free(t->workers);
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
    const TrainOptions *o = &t->config->train;
    const char *last_model = checkpoint_has_model(t->options->dir) ? "; the last good model is kept" : "";
    if (t->progress.update == 0)
        return status_hint(
            STATUS_DIVERGED,
            "no step was made yet: normalizing rows of zeros magnifies gradients without bound; "
            "lower model.word_dropout (%g), set model.norm = \"pre\" or model.layer_norm = false, "
            "or lower model.embedding_scale (%g)%s",
            t->config->model.word_dropout, t->config->model.embedding_scale, last_model);
    return status_hint(
        STATUS_DIVERGED,
        "lower train.learning_rate (%g), or make train.warmup (%d) longer or train.clip (%g%s) "
        "smaller, and train again%s",
        o->learning_rate, o->warmup, o->clip, o->clip > 0 ? "" : ": no limit; 1 is one", last_model);
}

/* ---- validation and saving ----------------------------------------------------------------------------- */

/* What depends on clocks and signals is decided for all processes at once: whether to stop or to save, and
 * the time that was used. */
static void agree(Trainer *t) {
    int signal = (int)group_largest(*t->options->stop);
    t->stop = signal != 0;
    if (t->stop) *t->options->stop = signal; /* for the exit code of every process */
    t->save = clock_seconds() - t->last_saved > 60 * t->config->train.save_minutes;
    update_clock(t);
    group_broadcast(&t->save, sizeof t->save);
    group_broadcast(&t->progress.seconds, sizeof t->progress.seconds);
}

/* Weights that are not finite are never saved: the files of the last save stay. */
static Status write_state(Trainer *t) {
    TRY(checkpoint_check_lock(t->options->dir));
    TRY(optimizer_check(t->optimizer));
    optimizer_swap_average(t->optimizer);
    Status status = checkpoint_save_model(&t->checkpoint, "last.safetensors");
    optimizer_swap_average(t->optimizer);
    TRY(status);
    update_clock(t);
    return checkpoint_save_state(&t->checkpoint);
}

static Status save(Trainer *t) {
    optimizer_collect(t->optimizer);
    TRY(ROOT_ONLY(write_state(t)));
    t->last_saved = clock_seconds();
    return STATUS_OK;
}

static Status save_best(Trainer *t, bool best) {
    TRY(checkpoint_check_lock(t->options->dir));
    return best ? checkpoint_save_model(&t->checkpoint, "best.safetensors") : STATUS_OK;
}

/* After a signal the score is incomplete: the validation is repeated when the run is resumed. */
static Status use_score(Trainer *t, const ValidationScore *score) {
    agree(t);
    if (t->stop) return STATUS_OK;
    TRY(check_loss(t, "validation loss", score->loss, t->progress.update));
    bool best = progress_update_best(&t->progress, score->loss, score->bleu, score->chrf, &t->config->train);
    t->checkpoint.calibration = score->calibration;
    report_validation(t, score, best);
    return ROOT_ONLY(save_best(t, best));
}

/* Without effect if a signal asks to stop meanwhile. */
static Status validate(Trainer *t) {
    Progress *p = &t->progress;
    optimizer_collect(t->optimizer);
    TRY(optimizer_check(t->optimizer));
    log_progress("validating");
    optimizer_swap_average(t->optimizer);
    workers_stop_on(t->workers, t->options->stop); /* a validation may take minutes */
    ValidationScore score = validate_model(t->model, &t->data.valid, t->config, t->workers);
    workers_stop_on(t->workers, NULL);
    Status status = use_score(t, &score);
    validate_free(&score);
    optimizer_swap_average(t->optimizer);
    if (status != STATUS_OK || t->stop) return status;
    p->loss_sum = p->train_seconds = 0;
    p->tokens = 0;
    t->validated = p->update;
    TRY(ROOT_ONLY(progress_save(p, t->config, t->options->dir)));
    return save(t);
}

/* Tokens are counted since the last validation. Without any, this update is validated already. */
static bool validation_is_due(const Trainer *t) {
    const Progress *p = &t->progress;
    int every = t->config->train.valid_every;
    return p->tokens && (every ? p->update % every == 0 : p->batch == 0);
}

/* ---- the training loop --------------------------------------------------------------------------------- */

static void begin_epoch(Trainer *t) {
    const TrainOptions *o = &t->config->train;
    Corpus *train = &t->data.train;
    Retokenizing how = {o->bpe_dropout_source, o->bpe_dropout_target, t->reserved};
    corpus_retokenize(train, t->data.source, t->data.target, &how, (uint64_t)o->seed, (int)t->progress.epoch,
                      t->workers);
    t->plan = batch_plan_new(train, (BatchUnit)o->batch_unit, o->batch_size, o->batch_window,
                             (uint64_t)o->seed, (int)t->progress.epoch, t->workers);
}

static bool epoch_is_over(const Trainer *t) { return t->plan && t->progress.batch >= t->plan->count; }

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
static bool is_reversed(const Trainer *t) {
    return t->progress.update % 2 == 1 && share_done(t) < t->config->train.both_directions;
}

/* The gradients of the next `count` batches, per target token; returns the sum of the tokens' losses. */
static double compute_gradients(Trainer *t, int count, long long *tokens) {
    const TrainOptions *o = &t->config->train;
    const Progress *p = &t->progress;
    const int *start = t->plan->start + p->batch;
    t->pairs = is_reversed(t) ? corpus_swapped(&t->data.train) : t->data.train;
    *tokens = target_tokens(&t->pairs, t->plan->pairs + start[0], start[count] - start[0]) *
              seq2seq_directions(t->model);
    MicroBatch *batches = mem_alloc((size_t)count, sizeof *batches);
    for (int i = 0; i < count; i++)
        batches[i] = (MicroBatch){t->plan->pairs + start[i], start[i + 1] - start[i],
                                  rng_key((uint64_t)o->seed, (uint64_t)p->update, (uint64_t)i, 1) | 1};
    double loss = shards_run(t->shards, batches, count, o->label_smoothing, 1 / (double)*tokens).loss;
    mem_free(batches);
    return loss;
}

static Status make_step(Trainer *t) {
    const TrainOptions *o = &t->config->train;
    Progress *p = &t->progress;
    double share = share_done(t);
    if (t->session.tokens == 0) t->session.share_before = share;
    p->last_rate = optimizer_learning_rate(o, p->update + 1, share, (int)p->cuts);
    SumRest gradients = shards_gradients(t->shards);
    return optimizer_update(t->optimizer, &gradients, o, p->last_rate,
                            optimizer_average_rate(o, p->update + 1), &p->last_norm);
}

enum { CHECK_EVERY = 100 }; /* updates */

/* Notices a broken machine before its results are saved as the end of the run. */
static Status check_weights(const Trainer *t) {
    return broadcast_check_weights(t->optimizer->params, t->progress.update, t->workers);
}

/* One step with the gradients of train.accumulate batches, or of the last ones of the epoch. */
static Status update(Trainer *t) {
    Progress *p = &t->progress;
    double started = clock_seconds();
    int left = t->plan->count - (int)p->batch, accumulate = t->config->train.accumulate,
        batches = left < accumulate ? left : accumulate;
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
    t->session.tokens += tokens;
    t->session.train_seconds += seconds;
    show_progress(t, loss / (double)tokens);
    return p->update % CHECK_EVERY == 0 ? check_weights(t) : STATUS_OK;
}

static Status stop(Trainer *t) {
    const Progress *p = &t->progress;
    log_progress_end();
    TRY(save(t));
    TRY(ROOT_ONLY(progress_save(p, t->config, t->options->dir)));
    Status s = status_fail(
        STATUS_STOPPED, "stopped at update %lld, epoch %lld; everything is saved in '%s'%s", p->update,
        p->epoch + 1, t->options->dir, isfinite(p->best_loss) ? "" : ", but no model was validated yet");
    if (share_done(t) < t->config->train.both_directions)
        log_warn(
            "the first %.0f %% of the run train both directions: until then the model may write the source's "
            "language",
            100 * t->config->train.both_directions);
    status_hint(s, "the same command with --resume%s goes on from here",
                t->options->overwrite ? " instead of --overwrite" : "");
    return group_agree(s);
}

static Status finish(Trainer *t) {
    TRY(check_weights(t));
    if (t->validated != t->progress.update) TRY(validate(t));
    if (!t->stop) report_end(t);
    return STATUS_OK;
}

static bool is_finished(const Trainer *t) {
    char extension[PROGRESS_EXTENSION];
    return progress_find_end(&t->progress, &t->config->train, extension) != NULL;
}

static bool should_continue(Trainer *t) {
    agree(t);
    return !t->stop && (!is_finished(t) || epoch_is_over(t) || validation_is_due(t));
}

/* A run can be stopped between any two of these steps. A resumed run makes the plan of its epoch again. */
static Status train(Trainer *t) {
    while (should_continue(t)) {
        if (validation_is_due(t))
            TRY(validate(t));
        else if (t->save)
            TRY(save(t));
        else if (!t->plan)
            begin_epoch(t);
        else if (epoch_is_over(t))
            end_epoch(t);
        else
            TRY(update(t));
    }
    if (!t->stop) TRY(finish(t));
    return t->stop ? stop(t) : STATUS_OK;
}

Status trainer_run(const TrainerOptions *options) {
    Trainer t = {.options = options, .config = options->config};
    Status status = config_check(t.config);
    if (status == STATUS_OK) status = set_up(&t);
    if (status == STATUS_OK) status = train(&t);
    if (status == STATUS_DIVERGED) status = group_agree(hint_divergence(&t)); /* it is so in every process */
    log_progress_end();
    tear_down(&t);
    return status;
}

/* ---- messages: before the first update ----------------------------------------------------------------- */

/* About the number of updates of the whole run; 0 if it is unlimited. */
static double planned_updates(const Trainer *t) {
    const TrainOptions *o = &t->config->train;
    double amount = o->batch_unit == BATCH_SENTENCES
                        ? t->data.train.count
                        : (double)corpus_tokens(&t->data.train, &t->data.train.target) + t->data.train.count;
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

/* For a batch of average sentences. */
static void announce_parts(const Trainer *t) {
    const TrainOptions *o = &t->config->train;
    double pairs = fmax(t->data.train.count, 1),
           target = (double)corpus_tokens(&t->data.train, &t->data.train.target) / pairs + 1,
           rows = (double)corpus_tokens(&t->data.train, &t->data.train.source) / pairs + 1 + target;
    double sentences = o->batch_unit == BATCH_SENTENCES ? o->batch_size : o->batch_size / target;
    sentences = fmin(fmax(sentences, 1), pairs);
    ShardPlan plan = shards_plan((int)sentences, (long)(sentences * rows));
    int shards = plan.shards * o->accumulate;
    const char *note = workers_count(t->workers) > plan.parts
                           ? ", so most of its gradient needs no more threads than that"
                           : "";
    log_info("         a batch is cut into about %d part%s%s", plan.parts, plan.parts == 1 ? "" : "s", note);
    if (comm_size() > shards)
        log_warn(
            "there are %d ranks for about %d shard%s: the other ranks compute no gradients; larger batches "
            "make more",
            comm_size(), shards, shards == 1 ? "" : "s");
}

static double unknown_share(const Corpus *corpus, const CorpusSide *side) {
    size_t count = corpus_tokens(corpus, side), unknown = 0;
    for (size_t i = 0; i < count; i++) unknown += corpus_id(side, i) == VOCAB_UNK;
    return count > 0 ? (double)unknown / (double)count : 0;
}

/* Warns if there are unexpectedly many unknown tokens. Vocabularies of words usually have some. */
static void warn_of_unknown(const Trainer *t) {
    static const double LIMIT[] = {
        [TOKENIZER_BPE] = 0.02, [TOKENIZER_WORD] = 0.3, [TOKENIZER_SENTENCEPIECE] = 0.02};
    static const char *const SIDE_NAMES[] = {"source", "target"};
    const CorpusSide *sides[] = {&t->data.train.source, &t->data.train.target};
    const char *origin = t->options->resume ? "the run"
                         : t->options->init ? "the model it begins with"
                                            : NULL;
    for (int i = 0; i < 2; i++) {
        double share = unknown_share(&t->data.train, sides[i]);
        if (share <= LIMIT[t->config->text.tokenizer]) continue;
        if (origin)
            log_warn("%.0f %% of the %s tokens are <unk>: the vocabulary of %s lacks them", 100 * share,
                     SIDE_NAMES[i], origin);
        else
            log_warn("%.0f %% of the %s tokens are <unk>, with text.min_count=%d and text.max_vocab=%d",
                     100 * share, SIDE_NAMES[i], t->config->text.min_count, t->config->text.max_vocab);
    }
}

static void announce(const Trainer *t) {
    char a[32], b[32], c[32];
    int source = vocab_size(tokenizer_vocab(t->data.source)),
        target = vocab_size(tokenizer_vocab(t->data.target));
    log_info("data     %s training pairs, %s target tokens; %s validation pairs%s",
             str_count(t->data.train.count, a),
             str_count((long long)corpus_tokens(&t->data.train, &t->data.train.target), b),
             str_count(t->data.valid.count, c), t->config->data.valid.count ? "" : ", held out of the file");
    if (t->data.source == t->data.target)
        log_info("vocab    %s tokens, shared", str_count(source, a));
    else
        log_info("vocab    %s source tokens, %s target tokens", str_count(source, a), str_count(target, b));
    warn_of_unknown(t);
    log_info("model    %s parameters (%s)", str_count((long long)seq2seq_params(t->model)->size, a),
             str_bytes((double)seq2seq_params(t->model)->size * sizeof(real), b));
    if (comm_size() > 1) log_info("ranks    %d, the first on %s; here:", comm_size(), comm_host(0));
    bool rounds = t->optimizer->params->format == WEIGHT_BF16;
    log_info("machine  %d thread%s, SIMD %s, BLAS kernel %s%s", workers_count(t->workers),
             workers_count(t->workers) == 1 ? "" : "s", kern->name, matmul_library(),
             rounds ? ", products of bf16" : "");
    if (t->config->train.precision == WEIGHT_BF16 && !rounds)
        log_warn(
            "train.precision = bf16 needs an instruction that this processor lacks: it trains with float32");
    announce_parts(t);
    log_info("         validations translate greedily, with a beam of 1");
    warn_of_warmup(t);
}

/* A run is always validated at its end. A longer run would have none at this update, but it counts. */
static void warn_of_last_validation(const Progress *p, const TrainOptions *o) {
    bool between = !p->tokens && (o->valid_every ? p->update % o->valid_every : p->batch) != 0;
    if (between && (o->schedule == SCHEDULE_PLATEAU || o->patience))
        log_warn("the run was validated at its end, between two validations, which counts for %s: the result "
                 "is not that of one run of this length",
                 o->schedule == SCHEDULE_PLATEAU ? "train.schedule = plateau" : "train.patience");
}

/* These options depend on the planned end of the run, which has changed. */
static void warn_of_new_end(const TrainOptions *o) {
    if (o->schedule == SCHEDULE_LINEAR)
        log_warn(
            "the run was planned for another end, and its learning rate falls linearly to 0 there: from here "
            "on it falls to 0 at the new end, so the result differs from one run of this length");
    if (o->both_directions > 0)
        log_warn("the run was planned for another end, and train.both_directions is a share of its length: "
                 "it now covers the first %.0f %% of the new length, whatever part was trained so before",
                 100 * o->both_directions);
}

static void announce_resumption(const Trainer *t) {
    const Progress *p = &t->progress;
    char extension[PROGRESS_EXTENSION];
    const char *end = progress_find_end(p, &t->config->train, extension);
    if (!end) {
        log_info("resume   from update %lld, epoch %lld", p->update, p->epoch + 1);
        warn_of_last_validation(p, &t->config->train);
        if (t->checkpoint.end_changed) warn_of_new_end(&t->config->train);
        return;
    }
    log_info("resume   the run is finished, %s: %lld epochs, %lld updates", end, p->epoch, p->update);
    log_info("         to train longer: --resume %s", extension);
}

/* ---- messages: while the run goes on ------------------------------------------------------------------- */

/* A terminal shows the line in place, so it is written by time. */
static bool progress_due(const Trainer *t, double now) {
    int every = t->config->train.log_every;
    if (every && !log_is_terminal()) return t->progress.update % every == 0;
    return now - t->session.last_shown >= log_progress_interval();
}

/* The remaining time at the speed of this session. Earlier sessions may have run on another machine. */
static void estimate_rest(const Trainer *t, double share, char eta[32]) {
    double seconds = t->progress.seconds, limit = 60 * t->config->train.max_minutes, rest = INFINITY;
    if (share > t->session.share_before)
        rest = (seconds - t->session.seconds_before) * fmax(1 - share, 0) / (share - t->session.share_before);
    if (limit > 0) rest = fmin(rest, fmax(limit - seconds, 0));
    if (isfinite(rest)) str_duration(rest, eta);
}

/* Target tokens per second. A token of two decoders counts once. */
static double speed_of(const Trainer *t, long long tokens, double seconds) {
    return seconds > 0 ? (double)tokens / seq2seq_directions(t->model) / seconds : 0;
}

static void show_progress(Trainer *t, double loss) {
    double now = clock_seconds();
    if (!progress_due(t, now)) return;
    t->session.last_shown = now;
    update_clock(t);
    const Progress *p = &t->progress;
    char updates[32], speed[32], eta[32] = "?";
    double share = share_done(t), limit = 60 * t->config->train.max_minutes;
    estimate_rest(t, share, eta);
    if (limit > 0) share = fmax(share, p->seconds / limit);
    progress_line_write("epoch %lld  update %s  %3.0f%%  loss %.3f  lr %.2g  %s tokens/s  ETA %s",
                        p->epoch + 1, str_count(p->update, updates), 100 * share, loss, p->last_rate,
                        str_count((long long)speed_of(t, t->session.tokens, t->session.train_seconds), speed),
                        eta);
}

static void show_samples(const Trainer *t, const ValidationScore *score) {
    int samples = t->config->train.samples;
    if (samples > score->count) samples = score->count;
    for (int i = 0; i < samples; i++) {
        /* spread over the data, whose first pairs may be the shortest ones */
        int pair = (int)((2LL * i + 1) * score->count / (2LL * samples));
        log_info("  source     %s", t->data.valid.source_text.items[pair]);
        log_info("  reference  %s", t->data.valid.target_text.items[pair]);
        log_info("  model      %s", score->hypotheses[pair]);
    }
}

/* An untrained model has a loss of log(vocabulary size). If half of that still gives no correct 4-gram, the
 * targets have hardly any 4-grams. */
static void warn_if_zero(Trainer *t, const ValidationScore *score) {
    double untrained = log(vocab_size(tokenizer_vocab(t->data.target)));
    if (t->session.warned_zero || t->config->train.stop_on != STOP_ON_BLEU || score->bleu > 0 ||
        score->loss > untrained / 2)
        return;
    t->session.warned_zero = true;
    log_warn("BLEU is 0 although the loss has halved: it counts groups of four words, which short targets "
             "lack; --set train.stop_on=chrf judges by characters");
}

static void report_validation(Trainer *t, const ValidationScore *score, bool best) {
    Progress *p = &t->progress;
    update_clock(t);
    ProgressRecord record = {
        .update = p->update,
        .epoch = (int)p->epoch + (p->batch > 0),
        .seconds = p->seconds,
        .tokens_per_second = speed_of(t, p->tokens, p->train_seconds),
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

static void report_end(Trainer *t) {
    char time[32], tokens[32], speed[64] = "", chrf[32] = "";
    update_clock(t);
    if (t->progress.best_chrf >= 0) snprintf(chrf, sizeof chrf, "best chrF %.2f, ", t->progress.best_chrf);
    if (t->session.tokens > 0) /* none if a finished run was resumed */
        snprintf(speed, sizeof speed, "%s target tokens/s; ",
                 str_count((long long)speed_of(t, t->session.tokens, t->session.train_seconds), tokens));
    log_info("done in %s: best BLEU %.2f, %sbest validation loss %.3f; %smodel '%s/best.safetensors'",
             str_duration(t->progress.seconds, time), t->progress.best_bleu, chrf, t->progress.best_loss,
             speed, t->options->dir);
}
