/* trainer_setup.c - a run's parts: data, model, optimizer, and the state of an earlier session. */
#include <math.h>
#include <string.h>
#include "distributed/comm.h"
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "autograd/matmul.h"
#include "config/auto_config.h"
#include "distributed/broadcast.h"
#include "train/trainer_parts.h"
#include "train/training_data.h"

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

static bool same_vocabulary(const Tokenizer *a, const Tokenizer *b) {
    return vocab_difference(tokenizer_vocab(a), tokenizer_vocab(b)) < 0;
}

/* The command that began a run names the model to start from when it goes on, too. */
static Status check_init(const TrainerOptions *o, const TrainingData *run) {
    if (!o->init || (same_vocabulary(seq2seq_source(o->init), run->source) &&
                     same_vocabulary(seq2seq_target(o->init), run->target)))
        return STATUS_OK;
    const char *option = o->vocabulary_only ? "vocabulary" : "init";
    status_fail(STATUS_USAGE, "the run in '%s' did not begin with the vocabulary of the model of --%s",
                o->dir, option);
    return status_hint(STATUS_USAGE,
                       "a run goes on with its own weights and vocabulary, without --%s; with --run OTHER "
                       "another one starts",
                       option);
}

/* The first rank's tokenizers, for all. */
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

/* The first rank has the tokenizers, from the run or learned; each rank reads the files with them. */
static Status read_files(const Trainer *t, TrainingData *data) {
    Status status = comm_is_root() ? find_tokenizers(t->options, data) : STATUS_OK;
    if (comm_is_root() && status == STATUS_OK) status = training_data_learn(data, t->config, t->workers);
    TRY(comm_agree_status(status));
    share_tokenizers(&data->source, &data->target);
    return comm_agree_status(training_data_read(data, t->config, t->workers));
}

/* What was read is the trainer's, also where not all could be. */
static Status read_data(Trainer *t) {
    TrainingData data = {0};
    Status status = read_files(t, &data);
    t->source = data.source;
    t->target = data.target;
    t->train = data.train;
    t->valid = data.valid;
    TRY(status);
    static const char CURE[] = "give every machine the same files";
    TRY(broadcast_compare(t->train.sha256, "training data", CURE));
    return broadcast_compare(t->valid.sha256, "validation data", CURE);
}

/* As the pairs need it, or as it was. */
static Status fit_lengths(Trainer *t) {
    DecodeOptions *decode = &t->options->config->decode;
    if (!t->options->resume) auto_config_fit_length(decode, &t->train);
    if (!t->options->resume || !auto_config_length_is_default(decode)) return STATUS_OK;
    Config saved;
    Status status = checkpoint_load_config(t->options->dir, &saved);
    if (status == STATUS_OK) decode->max_length_factor = saved.decode.max_length_factor;
    config_free(&saved);
    return status;
}

/* Threads of this rank. */
static Status make_workers(Trainer *t) {
    CommRank *places = comm_places(t->options->threads);
    t->workers = workers_new(places[comm_rank()].threads);
    mem_free(places);
    return matmul_self_test(workers_count(t->workers));
}

static Status make_model(Trainer *t) {
    const TrainerOptions *o = t->options;
    t->model = seq2seq_new(t->config, t->source, t->target);
    if (t->config->train.shortlist > 0 && comm_is_root())
        seq2seq_take_shortlist(t->model, shortlist_learn(&t->train, vocab_size(tokenizer_vocab(t->source)),
                                                         vocab_size(tokenizer_vocab(t->target)),
                                                         t->config->train.shortlist));
    params_initialize(seq2seq_params(t->model), (uint64_t)t->config->train.seed);
    if (o->init && !o->vocabulary_only && !o->resume)
        return copy_weights(seq2seq_params(t->model), seq2seq_params(o->init));
    return STATUS_OK;
}

static Status load_state(Trainer *t) {
    TRY(checkpoint_load_state(&t->checkpoint));
    trainer_announce_resumption(t);
    return STATUS_OK;
}

Status trainer_begin(const TrainerOptions *o) {
    TRY(checkpoint_lock(o->dir));
    bool taken = !o->resume && !o->overwrite && checkpoint_has_model(o->dir);
    if (!taken) return STATUS_OK;
    Status s = status_fail(STATUS_USAGE, "'%s' already holds a trained model", o->dir);
    if (!checkpoint_exists(o->dir)) return checkpoint_hint_model_alone(s, o->dir);
    return status_hint(s, "--resume goes on with it, --overwrite starts again, --run DIR trains elsewhere");
}

Status trainer_set_up(Trainer *t) {
    const TrainerOptions *o = t->options;
    TRY(comm_agree_status(make_workers(t)));
    TRY(read_data(t));
    TRY(comm_agree_status(comm_is_root() ? fit_lengths(t) : STATUS_OK));
    comm_broadcast(&o->config->decode.max_length_factor, sizeof o->config->decode.max_length_factor);
    TRY(comm_agree_status(make_model(t)));
    broadcast_weights(seq2seq_params(t->model));
    t->optimizer = optimizer_new(seq2seq_params(t->model), t->workers, optimizer_format(&t->config->train),
                                 t->config->train.average > 0);
    t->shards = shards_new(t->model, &t->now, t->workers);
    t->progress =
        (Progress){.best_bleu = -1, .best_loss = INFINITY, .best_chrf = -1, .loss_of_best = INFINITY};
    t->checkpoint = (Checkpoint){.dir = o->dir,
                                 .config = t->config,
                                 .model = t->model,
                                 .optimizer = t->optimizer,
                                 .progress = &t->progress,
                                 .data_sha256 = t->train.sha256,
                                 .valid_sha256 = t->valid.sha256};
    TRY(comm_agree_status(checkpoint_check_model(&t->checkpoint)));
    TRY(comm_agree_status(comm_is_root() && !o->resume ? checkpoint_forget(o->dir) : STATUS_OK));
    trainer_announce(t);
    if (o->resume) {
        TRY(comm_agree_status(comm_is_root() ? load_state(t) : STATUS_OK));
        checkpoint_share_state(&t->checkpoint);
    }
    t->started = t->last_saved = t->last_shown = clock_seconds();
    t->seconds_before = t->progress.seconds;
    if (t->options->ready) t->options->ready();
    t->validated = isfinite(t->progress.best_loss) && !t->progress.tokens ? t->progress.update : -1;
    return STATUS_OK;
}

void trainer_tear_down(Trainer *t) {
    batch_plan_free(t->plan);
    shards_free(t->shards);
    optimizer_free(t->optimizer);
    seq2seq_free(t->model);
    corpus_free(&t->train);
    corpus_free(&t->valid);
    tokenizer_free(t->source);
    tokenizer_free(t->target);
    progress_free(&t->progress);
    workers_free(t->workers);
}
