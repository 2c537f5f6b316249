/* trainer_report.c - what a run says: what it begins with, how it goes, how it ended. */
#include <math.h>
#include <stdio.h>
#include "distributed/comm.h"
#include "base/fileio.h"
#include "base/log.h"
#include "base/progress_line.h"
#include "kern/kern.h"
#include "autograd/matmul.h"
#include "train/trainer_parts.h"

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

/* Of a batch of average sentences. */
static void announce_parts(const Trainer *t) {
    const TrainOptions *o = &t->config->train;
    double pairs = fmax(t->train.count, 1),
           target = (double)corpus_tokens(&t->train, &t->train.target) / pairs + 1,
           rows = (double)corpus_tokens(&t->train, &t->train.source) / pairs + 1 + target;
    double sentences = o->batch_unit == BATCH_SENTENCES ? o->batch_size : o->batch_size / target;
    sentences = fmin(fmax(sentences, 1), pairs);
    ShardPlan plan = shards_plan((int)sentences, (long)(sentences * rows));
    int shards = plan.shards * o->accumulate;
    const char *few = workers_count(t->workers) > plan.parts
                          ? ", so no more threads than that compute most of its gradient"
                          : "";
    log_info("         a batch is cut into about %d part%s%s", plan.parts, plan.parts == 1 ? "" : "s", few);
    if (comm_size() > shards)
        log_warn("there are %d ranks for about %d shard%s: the others compute no gradients; larger batches "
                 "make more",
                 comm_size(), shards, shards == 1 ? "" : "s");
}

static double unknown_share(const Corpus *corpus, const CorpusSide *side) {
    size_t count = corpus_tokens(corpus, side), unknown = 0;
    for (size_t i = 0; i < count; i++) unknown += corpus_id(side, i) == VOCAB_UNK;
    return count > 0 ? (double)unknown / (double)count : 0;
}

/* A few unknown tokens are nothing special, many are a surprise. Vocabularies of words are meant to have
 * some. */
static void warn_of_unknown(const Trainer *t) {
    static const double MUCH[2] = {[TOKENIZER_BPE] = 0.02, [TOKENIZER_WORD] = 0.3};
    static const char *const SIDE_COUNT[] = {"source", "target"};
    const CorpusSide *sides[] = {&t->train.source, &t->train.target};
    const char *whose = t->options->resume ? "the run" : t->options->init ? "the model it begins with" : NULL;
    for (int i = 0; i < 2; i++) {
        double share = unknown_share(&t->train, sides[i]);
        if (share <= MUCH[t->config->text.tokenizer]) continue;
        if (whose)
            log_warn("%.0f %% of the %s tokens are <unk>: the vocabulary of %s lacks them", 100 * share,
                     SIDE_COUNT[i], whose);
        else
            log_warn("%.0f %% of the %s tokens are <unk>, with text.min_count=%d and text.max_vocab=%d",
                     100 * share, SIDE_COUNT[i], t->config->text.min_count, t->config->text.max_vocab);
    }
}

void trainer_announce(const Trainer *t) {
    char a[32], b[32], c[32];
    int source = vocab_size(tokenizer_vocab(t->source)), target = vocab_size(tokenizer_vocab(t->target));
    log_info("data     %s training pairs, %s target tokens; %s validation pairs%s",
             str_count(t->train.count, a),
             str_count((long long)corpus_tokens(&t->train, &t->train.target), b),
             str_count(t->valid.count, c), t->config->data.valid.count ? "" : ", held out of the file");
    if (t->source == t->target)
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
    warn_of_warmup(t);
}

/* The end of a run is validated even where one of greater length would not be, and that counts. */
static void warn_of_last_validation(const Progress *p, const TrainOptions *o) {
    bool between = !p->tokens && (o->valid_every ? p->update % o->valid_every : p->batch) != 0;
    if (between && (o->schedule == SCHEDULE_PLATEAU || o->patience))
        log_warn("the run was validated at its end, between two validations, which counts for %s: the result "
                 "is not that of one run of this length",
                 o->schedule == SCHEDULE_PLATEAU ? "train.schedule = plateau" : "train.patience");
}

/* What counts from the end of a run goes on as the new end has it: not as a run to that end would have
 * begun. */
static void warn_of_other_end(const TrainOptions *o) {
    if (o->schedule == SCHEDULE_LINEAR)
        log_warn(
            "the run was planned for another end, and its learning rate falls linearly to 0 there: from here "
            "on it falls to 0 at the new end, so the result is not that of one run of this length");
    if (o->both_directions > 0)
        log_warn("the run was planned for another end, and train.both_directions is a share of its length: "
                 "of the new one it trains the first %.0f %% both ways, whatever it has trained so before",
                 100 * o->both_directions);
}

void trainer_announce_resumption(const Trainer *t) {
    const Progress *p = &t->progress;
    char way[PROGRESS_WAY];
    const char *end = progress_find_end(p, &t->config->train, way);
    if (!end) {
        log_info("resume   from update %lld, epoch %lld", p->update, p->epoch + 1);
        warn_of_last_validation(p, &t->config->train);
        if (t->checkpoint.other_end) warn_of_other_end(&t->config->train);
        return;
    }
    log_info("resume   the run is finished, %s: %lld epochs, %lld updates", end, p->epoch, p->update);
    log_info("         to train longer: --resume %s", way);
}

/* ---- while it runs ------------------------------------------------------------------------------------- */

/* Is it time for another progress line? On a terminal it is rewritten in place. */
static bool progress_due(const Trainer *t, double now) {
    int every = t->config->train.log_every;
    if (every && !log_is_terminal()) return t->progress.update % every == 0;
    return now - t->last_shown >= log_progress_interval();
}

/* How long the rest takes at the speed of this session: those before it may have had another machine. */
static void estimate_rest(const Trainer *t, double share, char eta[32]) {
    double seconds = t->progress.seconds, limit = 60 * t->config->train.max_minutes, rest = INFINITY;
    if (share > t->share_before)
        rest = (seconds - t->seconds_before) * fmax(1 - share, 0) / (share - t->share_before);
    if (limit > 0) rest = fmin(rest, fmax(limit - seconds, 0));
    if (isfinite(rest)) str_duration(rest, eta);
}

/* Target tokens a second; one that two decoders write is one. */
static double speed_of(const Trainer *t, long long tokens, double seconds) {
    return seconds > 0 ? (double)tokens / seq2seq_directions(t->model) / seconds : 0;
}

void trainer_show_progress(Trainer *t, double loss) {
    double now = clock_seconds();
    if (!progress_due(t, now)) return;
    t->last_shown = now;
    trainer_update_clock(t);
    const Progress *p = &t->progress;
    char updates[32], speed[32], eta[32] = "?";
    double share = trainer_share(t), limit = 60 * t->config->train.max_minutes;
    estimate_rest(t, share, eta);
    if (limit > 0) share = fmax(share, p->seconds / limit);
    progress_line_write("epoch %lld  update %s  %3.0f%%  loss %.3f  lr %.2g  %s tokens/s  ETA %s",
                        p->epoch + 1, str_count(p->update, updates), 100 * share, loss, p->last_rate,
                        str_count((long long)speed_of(t, t->tokens, t->train_seconds), speed), eta);
}

static void show_samples(const Trainer *t, const ValidationScore *score) {
    int samples = t->config->train.samples;
    if (samples > score->count) samples = score->count;
    for (int i = 0; i < samples; i++) {
        /* spread over the data, not always the shortest ones at its start */
        int pair = (int)((2LL * i + 1) * score->count / (2LL * samples));
        log_info("  source     %s", t->valid.source_text.items[pair]);
        log_info("  reference  %s", t->valid.target_text.items[pair]);
        log_info("  model      %s", score->hypotheses[pair]);
    }
}

/* Half of what a model that knows nothing has, the logarithm of the vocabulary's size, and still no 4-gram
 * right: then there are hardly any. */
static void warn_if_zero(Trainer *t, const ValidationScore *score) {
    double untrained = log(vocab_size(tokenizer_vocab(t->target)));
    if (t->warned_zero || t->config->train.stop_on != STOP_ON_BLEU || score->bleu > 0 ||
        score->loss > untrained / 2)
        return;
    t->warned_zero = true;
    log_warn("BLEU is 0 although the loss has halved: it counts groups of four words, which short targets "
             "lack; --set train.stop_on=chrf judges by characters");
}

void trainer_report(Trainer *t, const ValidationScore *score, bool best) {
    Progress *p = &t->progress;
    trainer_update_clock(t);
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

void trainer_report_end(Trainer *t) {
    char time[32], tokens[32], speed[64] = "", chrf[32] = "";
    trainer_update_clock(t);
    if (t->progress.best_chrf >= 0) snprintf(chrf, sizeof chrf, "best chrF %.2f, ", t->progress.best_chrf);
    if (t->tokens > 0) /* a run that was finished trains nothing */
        snprintf(speed, sizeof speed, "%s target tokens/s; ",
                 str_count((long long)speed_of(t, t->tokens, t->train_seconds), tokens));
    log_info("done in %s: best BLEU %.2f, %sbest validation loss %.3f; %smodel '%s/best.safetensors'",
             str_duration(t->progress.seconds, time), t->progress.best_bleu, chrf, t->progress.best_loss,
             speed, t->options->dir);
}
