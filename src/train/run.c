/* run.c - set-up of a run, its clock, its saves, and what its processes agree on. */
#include "train/run.h"

#include <math.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "autograd/matmul.h"
#include "config/auto_config.h"
#include "distributed/broadcast.h"
#include "distributed/comm.h"
#include "distributed/group.h"
#include "train/announce.h"

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
                       "a run continues with its own weights and vocabulary, without --%s; --run OTHER "
                       "starts another run",
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

static Status make_tokenizers(Run *run) {
    TRY(find_tokenizers(run->options, &run->data));
    return training_data_learn(&run->data, run->config, run->workers);
}

/* The root process has the tokenizers, from the run, from a model, or learned. Each process reads the files
 * with them. */
static Status read_data(Run *run) {
    static const char CURE[] = "give every machine the same files";
    TrainingData *data = &run->data;
    TRY(ROOT_ONLY(make_tokenizers(run)));
    broadcast_tokenizers(&data->source, &data->target);
    TRY(group_agree(training_data_read(data, run->config, run->workers)));
    TRY(broadcast_compare(data->train.sha256, "training data", CURE));
    return broadcast_compare(data->valid.sha256, "validation data", CURE);
}

/* Pairs are held out by a hash of their source. If the file is what an earlier run did not hold out, its
 * pairs have none of the hashes below the fraction of that run. Of few pairs the fraction varies. */
static Status check_held_out(const Run *run) {
    const DataOptions *data = &run->config->data;
    double pairs = run->data.train.count + run->data.valid.count, expected = data->held_out * pairs;
    if (data->valid.count || run->options->resume || expected < 100 || run->data.valid.count >= expected / 2)
        return STATUS_OK;
    status_fail(STATUS_DATA, "data.held_out = %g holds out %d of %.0f pairs, instead of about %.0f",
                data->held_out, run->data.valid.count, pairs, expected);
    return status_hint(STATUS_DATA,
                       "was the file made by holding pairs out of a larger one? The same sources would "
                       "be held out again: --set data.valid=FILE names the pairs to validate on");
}

/* The length limit that the pairs need, or that of the run that is resumed. */
static Status fit_lengths(Run *run) {
    DecodeOptions *decode = &run->options->config->decode;
    if (!run->options->resume) auto_config_fit_length(decode, &run->data.train);
    if (!run->options->resume || !auto_config_length_is_default(decode)) return STATUS_OK;
    Config saved;
    Status status = checkpoint_load_config(run->options->dir, &saved);
    if (status == STATUS_OK) decode->max_length_factor = saved.decode.max_length_factor;
    config_free(&saved);
    return status;
}

static Status make_workers(Run *run) {
    run->workers = workers_new(comm_threads(run->options->threads));
    return matmul_self_test(workers_count(run->workers));
}

/* The list has the reserved tokens of the first epoch. */
static void learn_shortlist(Run *run) {
    TrainingData *data = &run->data;
    RetokenizeOptions how = {.reserved = run->reserved};
    corpus_retokenize(&data->train, data->source, data->target, &how, (uint64_t)run->config->train.seed, 0,
                      run->workers);
    seq2seq_take_shortlist(
        run->model, shortlist_learn(&data->train, vocab_size(tokenizer_vocab(data->source)),
                                    vocab_size(tokenizer_vocab(data->target)), run->config->train.shortlist));
}

static Status make_model(Run *run) {
    const TrainerOptions *o = run->options;
    run->model = seq2seq_new(run->config, run->data.source, run->data.target);
    if (run->config->train.shortlist > 0 && group_is_root()) learn_shortlist(run);
    params_initialize(seq2seq_params(run->model), (uint64_t)run->config->train.seed);
    if (!o->init) return STATUS_OK;
    Status status = STATUS_OK;
    if (!o->vocabulary_only && !o->resume)
        status = copy_weights(seq2seq_params(run->model), seq2seq_params(o->init));
    mem_free(params_take_block(seq2seq_params(o->init)));
    return status;
}

static void make_learner(Run *run) {
    run->optimizer = optimizer_new(seq2seq_params(run->model), run->workers,
                                   optimizer_format(&run->config->train), run->config->train.average > 0);
    run->progress =
        (Progress){.best_bleu = -1, .best_loss = INFINITY, .best_chrf = -1, .loss_of_best = INFINITY};
    run->checkpoint = (Checkpoint){.dir = run->options->dir,
                                   .config = run->config,
                                   .model = run->model,
                                   .optimizer = run->optimizer,
                                   .progress = &run->progress,
                                   .data_sha256 = run->data.train.sha256,
                                   .valid_sha256 = run->data.valid.sha256,
                                   .translates_symbols = corpus_translates_symbols(&run->data.train)};
}

/* Vocabularies of an earlier training, or with a bound of their size, may lack reserved tokens. */
static void find_reserved(Run *run) {
    if (!run->config->data.placeholders) return;
    run->reserved = tokenizer_has_reserved(run->data.source) && tokenizer_has_reserved(run->data.target);
    if (!run->reserved)
        log_warn("data.placeholders = true, but the vocabulary lacks the reserved tokens: it is that of a "
                 "model trained without, or text.max_vocab cuts them");
}

static Status load_state(Run *run) {
    TRY(checkpoint_load_state(&run->checkpoint));
    announce_resumption(run);
    return STATUS_OK;
}

static Status resume(Run *run) {
    TRY(ROOT_ONLY(load_state(run)));
    checkpoint_broadcast_state(&run->checkpoint);
    return STATUS_OK;
}

/* For the mean at the end, whatever becomes of the file that the user named. */
static Status keep_init(const Run *run) {
    const TrainerOptions *o = run->options;
    bool begins = !o->resume && o->init && !o->vocabulary_only;
    if (!run->config->train.interpolate || o->resume) return STATUS_OK;
    if (begins) return checkpoint_save_model(&run->checkpoint, CHECKPOINT_INIT);
    Status s = status_fail(STATUS_USAGE, "train.interpolate needs a model to start from");
    return status_hint(s, "name it with --init MODEL");
}

static Status set_up(Run *run) {
    const TrainerOptions *o = run->options;
    double *factor = &o->config->decode.max_length_factor;
    TRY(config_check(run->config));
    TRY(group_agree(make_workers(run)));
    TRY(read_data(run));
    find_reserved(run);
    TRY(group_agree(check_held_out(run)));
    TRY(ROOT_ONLY(fit_lengths(run)));
    group_broadcast(factor, sizeof *factor);
    TRY(group_agree(make_model(run)));
    broadcast_weights(seq2seq_params(run->model));
    make_learner(run);
    TRY(group_agree(checkpoint_check_model(&run->checkpoint)));
    if (!o->resume) TRY(ROOT_ONLY(checkpoint_remove_run(o->dir)));
    TRY(ROOT_ONLY(keep_init(run)));
    announce(run);
    return o->resume ? resume(run) : STATUS_OK;
}

Status run_begin(Run *run, const TrainerOptions *options) {
    *run = (Run){.options = options, .config = options->config};
    TRY(set_up(run));
    run->started = run->last_saved = clock_seconds();
    run->seconds_before = run->progress.seconds;
    if (options->ready) options->ready();
    return STATUS_OK;
}

void run_free(Run *run) {
    optimizer_free(run->optimizer);
    seq2seq_free(run->model);
    corpus_free(&run->data.train);
    corpus_free(&run->data.valid);
    corpus_free(&run->data.general);
    tokenizer_free(run->data.source);
    tokenizer_free(run->data.target);
    progress_free(&run->progress);
    workers_free(run->workers);
}

void run_clock(Run *run) { run->progress.seconds = run->seconds_before + clock_seconds() - run->started; }

void run_agree(Run *run) {
    int signal = (int)group_max(*run->options->stop);
    run->stop = signal != 0;
    if (run->stop) *run->options->stop = signal; /* for the exit code of every process */
    run->save = clock_seconds() - run->last_saved > 60 * run->config->train.save_minutes;
    run_clock(run);
    group_broadcast(&run->save, sizeof run->save);
    group_broadcast(&run->progress.seconds, sizeof run->progress.seconds);
}

/* Weights that are not finite are never saved: the files of the last save stay. */
static Status write_state(Run *run) {
    TRY(checkpoint_check_lock(run->options->dir));
    TRY(optimizer_check(run->optimizer));
    optimizer_swap_average(run->optimizer);
    Status status = checkpoint_save_model(&run->checkpoint, "last.safetensors");
    optimizer_swap_average(run->optimizer);
    TRY(status);
    run_clock(run);
    return checkpoint_save_state(&run->checkpoint);
}

Status run_save(Run *run) {
    optimizer_collect(run->optimizer);
    TRY(ROOT_ONLY(write_state(run)));
    run->last_saved = clock_seconds();
    return STATUS_OK;
}

static Status save_best(const Run *run, bool best) {
    TRY(checkpoint_check_lock(run->options->dir));
    if (!best) return STATUS_OK;
    TRY(checkpoint_drop_tuned(run->options->dir));
    return checkpoint_save_model(&run->checkpoint, "best.safetensors");
}

Status run_save_best(const Run *run, bool best) { return ROOT_ONLY(save_best(run, best)); }

Status run_save_progress(const Run *run) {
    return ROOT_ONLY(progress_save(&run->progress, run->config, run->options->dir));
}

Status run_check_weights(const Run *run) {
    return broadcast_check_weights(run->optimizer->params, run->progress.update, run->workers);
}
