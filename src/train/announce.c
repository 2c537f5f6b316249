/* announce.c - what the log says of a run before its first update. */
#include "train/announce.h"

#include <math.h>
#include "base/log.h"
#include "kern/kern.h"
#include "autograd/matmul.h"
#include "distributed/comm.h"
#include "train/shards.h"

/* About the number of updates of the whole run; 0 if it is unlimited. */
static double planned_updates(const Run *run) {
    const TrainOptions *o = &run->config->train;
    double amount =
        o->batch_unit == BATCH_SENTENCES
            ? run->data.train.count
            : (double)corpus_tokens(&run->data.train, &run->data.train.target) + run->data.train.count;
    double updates = o->epochs * ceil(ceil(amount / o->batch_size) / o->accumulate);
    return o->max_updates && (!o->epochs || o->max_updates < updates) ? o->max_updates : updates;
}

static void warn_of_warmup(const Run *run) {
    double updates = planned_updates(run);
    int warmup = run->config->train.warmup;
    if (updates == 0 || warmup < updates || warmup < 10) return;
    log_warn("the run ends after about %.0f updates, before its warm-up of %d updates; it will learn little; "
             "more epochs, --set train.warmup=%.0f, or --set model.size=auto",
             updates, warmup, updates / 10);
}

/* For a batch of average sentences. */
static void announce_parts(const Run *run) {
    const TrainOptions *o = &run->config->train;
    double pairs = fmax(run->data.train.count, 1),
           target = (double)corpus_tokens(&run->data.train, &run->data.train.target) / pairs + 1,
           rows = (double)corpus_tokens(&run->data.train, &run->data.train.source) / pairs + 1 + target;
    double sentences = o->batch_unit == BATCH_SENTENCES ? o->batch_size : o->batch_size / target;
    sentences = fmin(fmax(sentences, 1), pairs);
    ShardPlan plan = shards_plan((int)sentences, (long)(sentences * rows));
    int shards = plan.shards * o->accumulate;
    const char *note = workers_count(run->workers) > plan.parts
                           ? ", so most of its gradient needs no more threads than that"
                           : "";
    log_info("         a batch is cut into about %d part%s%s", plan.parts, plan.parts == 1 ? "" : "s", note);
    if (comm_size() > shards)
        log_warn(
            "there are %d ranks for about %d shard%s: the other ranks compute no gradients; larger batches "
            "make more",
            comm_size(), shards, shards == 1 ? "" : "s");
}

static double unknown_fraction(const Corpus *corpus, const CorpusSide *side) {
    size_t count = corpus_tokens(corpus, side), unknown = 0;
    for (size_t i = 0; i < count; i++) unknown += corpus_id(side, i) == VOCAB_UNK;
    return count > 0 ? (double)unknown / (double)count : 0;
}

/* Warns if there are unexpectedly many unknown tokens. Vocabularies of words usually have some. */
static void warn_of_unknown(const Run *run) {
    static const double LIMIT[] = {[TOKENIZER_BPE] = 0.02,
                                   [TOKENIZER_WORD] = 0.3,
                                   [TOKENIZER_SENTENCEPIECE] = 0.02,
                                   [TOKENIZER_UNIGRAM] = 0.02};
    static const char *const SIDE_NAMES[] = {"source", "target"};
    const CorpusSide *sides[] = {&run->data.train.source, &run->data.train.target};
    const char *origin = run->options->resume ? "the run"
                         : run->options->init ? "the model it begins with"
                                              : NULL;
    for (int i = 0; i < 2; i++) {
        double fraction = unknown_fraction(&run->data.train, sides[i]);
        if (fraction <= LIMIT[run->config->text.tokenizer]) continue;
        if (origin)
            log_warn("%.0f %% of the %s tokens are <unk>: the vocabulary of %s lacks them", 100 * fraction,
                     SIDE_NAMES[i], origin);
        else
            log_warn("%.0f %% of the %s tokens are <unk>, with text.min_count=%d and text.max_vocab=%d",
                     100 * fraction, SIDE_NAMES[i], run->config->text.min_count, run->config->text.max_vocab);
    }
}

void announce(const Run *run) {
    char a[32], b[32], c[32];
    int source = vocab_size(tokenizer_vocab(run->data.source)),
        target = vocab_size(tokenizer_vocab(run->data.target));
    log_info("data     %s training pairs, %s target tokens; %s validation pairs%s",
             str_count(run->data.train.count, a),
             str_count((long long)corpus_tokens(&run->data.train, &run->data.train.target), b),
             str_count(run->data.valid.count, c),
             run->config->data.valid.count ? "" : ", held out of the file");
    if (run->data.source == run->data.target)
        log_info("vocab    %s tokens, shared", str_count(source, a));
    else
        log_info("vocab    %s source tokens, %s target tokens", str_count(source, a), str_count(target, b));
    warn_of_unknown(run);
    log_info("model    %s parameters (%s)", str_count((long long)seq2seq_params(run->model)->size, a),
             str_bytes((double)seq2seq_params(run->model)->size * sizeof(real), b));
    if (comm_size() > 1) log_info("ranks    %d, the first on %s; here:", comm_size(), comm_host(0));
    bool rounds = run->optimizer->params->format == WEIGHT_BF16;
    log_info("machine  %d thread%s, SIMD %s, BLAS kernel %s%s", workers_count(run->workers),
             workers_count(run->workers) == 1 ? "" : "s", kern->name, matmul_library(),
             rounds ? ", products of bf16" : "");
    if (run->config->train.precision == WEIGHT_BF16 && !rounds)
        log_warn(
            "train.precision = bf16 needs an instruction that this processor lacks: it trains with float32");
    if (rounds && kern_bf16_is_slow())
        log_warn("train.precision = bf16 is slower than float32 on this processor, which has no tile units "
                 "(AMX)");
    announce_parts(run);
    log_info("         validations translate greedily, with a beam of 1");
    warn_of_warmup(run);
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

void announce_resumption(const Run *run) {
    const Progress *p = &run->progress;
    char extension[PROGRESS_EXTENSION];
    const char *end = progress_find_end(p, &run->config->train, extension);
    if (!end) {
        log_info("resume   from update %lld, epoch %lld", p->update, p->epoch + 1);
        warn_of_last_validation(p, &run->config->train);
        if (run->checkpoint.end_changed) warn_of_new_end(&run->config->train);
        return;
    }
    log_info("resume   the run is finished, %s: %lld epochs, %lld updates", end, p->epoch, p->update);
    log_info("         to train longer: --resume %s", extension);
}
