/* scaling_point.c - made-up sentences, a model, and updates as `attn-mt train` does them. */
#include "scaling_point.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "num/gemm.h"
#include "train/optimizer.h"
#include "train/shards.h"

/* ---- data -------------------------------------------------------------------------------------------------------------- */

typedef struct {
    int words, next;
    StrBuf line;
} WordSource;

/* One word a line, so that the vocabulary has each of them. */
static Status next_word(void *context, StrView *line, bool *more) {
    WordSource *source = context;
    *more = source->next < source->words;
    strbuf_clear(&source->line);
    strbuf_format(&source->line, "w%d", source->next++);
    *line = strbuf_view(&source->line);
    return STATUS_OK;
}

static Status learn_words(int words, const TextOptions *options, Segmenter **segmenter) {
    WordSource source = {.words = words};
    Status status = segmenter_learn(segmenter, options, next_word, &source);
    strbuf_free(&source.line);
    return status;
}

static void add_sentence(IdList *list, Rng *rng, const ScalingSize *size) {
    for (int i = 0; i < size->length; i++)
        id_list_add(list, (int)(VOCAB_SPECIALS + rng_below(rng, (uint32_t)size->vocabulary)));
}

static Corpus make_corpus(const ScalingSize *size, int pairs) {
    Corpus corpus = {.count = pairs};
    corpus.source_start = mem_alloc((size_t)pairs + 1, sizeof *corpus.source_start);
    corpus.target_start = mem_alloc((size_t)pairs + 1, sizeof *corpus.target_start);
    Rng rng = rng_new(rng_key(1, (uint64_t)size->vocabulary, (uint64_t)size->length, 0));
    for (int i = 0; i < pairs; i++) {
        add_sentence(&corpus.source, &rng, size);
        add_sentence(&corpus.target, &rng, size);
        corpus.source_start[i + 1] = corpus.source.count;
        corpus.target_start[i + 1] = corpus.target.count;
    }
    return corpus;
}

/* ---- the process that trains ------------------------------------------------------------------------------------------- */

enum { BATCHES = 4 }; /* different ones, in turn */

typedef struct {
    const ScalingSize *size;
    Config config;
    Corpus corpus;
    Seq2Seq *model;
    Workers *workers;
    Shards *shards;
    Optimizer *optimizer;
    int *pairs; /* 0, 1, 2 ... */
} Bench;

static Status set_up(Bench *b) {
    const ScalingSize *size = b->size;
    Segmenter *source, *target;
    config_init(&b->config);
    b->config.text.tokenizer = TOKENIZER_WORD;
    b->config.text.joint = false;
    b->config.text.min_count = 1;
    b->config.model.hidden = size->hidden;
    b->config.model.tie = TIE_TARGET;
    if (b->config.train.shards < size->threads) b->config.train.shards = size->threads;
    TRY(config_check(&b->config));
    TRY(gemm_self_test(size->threads));
    TRY(learn_words(size->vocabulary, &b->config.text, &source));
    TRY(learn_words(size->vocabulary, &b->config.text, &target));
    b->corpus = make_corpus(size, BATCHES * size->batch);
    b->pairs = mem_alloc((size_t)b->corpus.count, sizeof *b->pairs);
    for (int i = 0; i < b->corpus.count; i++) b->pairs[i] = i;
    b->workers = workers_new(size->threads);
    if (workers_count(b->workers) != size->threads)
        return status_fail(STATUS_RUNTIME, "cannot have %d threads", size->threads);
    b->model = seq2seq_new(&b->config, source, target);
    params_initialize(seq2seq_params(b->model), 1);
    b->optimizer = optimizer_new(seq2seq_params(b->model), b->workers, b->config.train.average > 0);
    b->shards = shards_new(b->model, &b->corpus, b->config.train.shards, b->workers);
    return STATUS_OK;
}

static Status update(Bench *b, int number) {
    const TrainOptions *o = &b->config.train;
    const ScalingSize *size = b->size;
    double tokens = (double)size->batch * (size->length + 1), norm = 0;
    BatchLoss loss =
        shards_run(b->shards, b->pairs + (size_t)(number % BATCHES) * (size_t)size->batch, size->batch,
                   rng_key(1, (uint64_t)number, 0, 1) | 1, o->label_smoothing, 1 / tokens);
    TRY(optimizer_update(b->optimizer, shards_gradients(b->shards), o, 1e-4, o->average, &norm));
    /* Nobody can guess random words better than with one chance among all. */
    double likelihood = loss.likelihood / tokens;
    if ((double)loss.tokens != tokens || !(norm > 0) || !(likelihood > 0.3 && likelihood < 100))
        return status_fail(STATUS_RUNTIME, "update %d: %ld tokens, loss %g, gradient %g", number, loss.tokens,
                           likelihood, norm);
    return STATUS_OK;
}

static Status train(const ScalingSize *size, double seconds, int least, ScalingRun *run) {
    Bench bench = {.size = size};
    TRY(set_up(&bench));
    TRY(update(&bench, 0)); /* finds out how much memory it needs */
    double begin = clock_seconds(), last = begin, now = begin;
    while (run->updates < SCALING_UPDATES && (run->updates < least || now - begin < seconds)) {
        TRY(update(&bench, run->updates + 1));
        now = clock_seconds();
        run->seconds[run->updates++] = now - last;
        last = now;
    }
    return STATUS_OK;
}

/* ---- starting it ------------------------------------------------------------------------------------------------------- */

static bool transfer(ssize_t (*move)(int file, void *data, size_t size), int file, void *data, size_t size) {
    for (char *at = data; size > 0;) {
        ssize_t done = move(file, at, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        at += done;
        size -= (size_t)done;
    }
    return true;
}
static ssize_t write_some(int file, void *data, size_t size) { return write(file, data, size); }

_Noreturn static void be_child(int to, const ScalingSize *size, double seconds, int least) {
    ScalingRun *run = mem_alloc(1, sizeof *run);
    Status status = train(size, seconds, least, run);
    if (status != STATUS_OK) log_failure();
    _exit(status == STATUS_OK && transfer(write_some, to, run, sizeof *run) ? 0 : 1);
}

static double peak_megabytes(const struct rusage *usage) {
#ifdef __APPLE__
    return (double)usage->ru_maxrss / 1e6; /* bytes */
#else
    return (double)usage->ru_maxrss * 1024 / 1e6; /* kibibytes */
#endif
}

Status scaling_point_run(const ScalingSize *size, double seconds, int least, ScalingRun *run) {
    int ends[2], state = 0;
    struct rusage usage = {0};
    if (pipe(ends) != 0) return status_fail(STATUS_RUNTIME, "cannot make a pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child < 0) return status_fail(STATUS_RUNTIME, "cannot start a process: %s", strerror(errno));
    if (child == 0) {
        close(ends[0]);
        be_child(ends[1], size, seconds, least);
    }
    close(ends[1]);
    bool complete = transfer(read, ends[0], run, sizeof *run);
    close(ends[0]);
    while (wait4(child, &state, 0, &usage) < 0 && errno == EINTR) {
    }
    run->megabytes = peak_megabytes(&usage);
    if (complete && WIFEXITED(state) && WEXITSTATUS(state) == 0) return STATUS_OK;
    return status_fail(STATUS_RUNTIME,
                       "no result for %d threads, batch %d, hidden %d, vocabulary %d, length %d",
                       size->threads, size->batch, size->hidden, size->vocabulary, size->length);
}
