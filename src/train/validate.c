/* validate.c - loss, BLEU and chrF on validation data. */
#include "train/validate.h"

#include <math.h>
#include "base/log.h"
#include "base/mem.h"
#include "bleu/bleu.h"
#include "bleu/chrf.h"
#include "decode/translator.h"
#include "train/shards.h"

enum { BATCH = 16 }; /* sentences */

typedef struct {
    const Seq2Seq *model;
    const Corpus *corpus;
    double label_smoothing;
    Tape **tape;     /* per thread */
    BatchLoss *loss; /* per batch */
} LossRun;

static void run_batch(void *context, int task, int thread) {
    LossRun *run = context;
    int pairs[BATCH], count = 0;
    for (int pair = task * BATCH; pair < run->corpus->count && count < BATCH; pair++) pairs[count++] = pair;
    tape_reset(run->tape[thread]);
    TrainingBatch batch = shard_batch(run->tape[thread], run->corpus, pairs, count, 0);
    run->loss[task] = seq2seq_loss(run->model, run->tape[thread], &batch, run->label_smoothing, 1);
}

BatchLoss validate_loss(const Seq2Seq *model, const Corpus *corpus, double label_smoothing,
                        Workers *workers) {
    int batches = (corpus->count + BATCH - 1) / BATCH, threads = workers_count(workers);
    LossRun run = {model, corpus, label_smoothing, mem_alloc((size_t)threads, sizeof *run.tape),
                   mem_alloc((size_t)batches + 1, sizeof *run.loss)};
    for (int i = 0; i < threads; i++) run.tape[i] = tape_new(seq2seq_params(model), false);
    workers_run(workers, batches, run_batch, &run);
    BatchLoss sum = {0};
    for (int i = 0; i < batches; i++) batch_loss_add(&sum, run.loss[i]);
    for (int i = 0; i < threads; i++) tape_free(run.tape[i]);
    mem_free(run.tape);
    mem_free(run.loss);
    return sum;
}

/* `context`: the clock when it was last shown. */
static void show_share(void *context, double share) {
    double now = clock_seconds(), *last_shown = context;
    if (now - *last_shown < log_progress_interval()) return;
    *last_shown = now;
    if (log_is_terminal())
        log_progress("validating %3.0f%%", 100 * share);
    else
        log_info("validating %3.0f%%", 100 * share);
}

static void translate(const Seq2Seq *model, const Corpus *corpus, const Config *config, Workers *workers,
                      ValidationScore *score) {
    size_t n = (size_t)score->count;
    Tokens *sources = mem_alloc(n, sizeof *sources);
    HypothesisList *found = mem_alloc(n, sizeof *found);
    CalibrationWords words = {0};
    for (int i = 0; i < score->count; i++) sources[i] = corpus_source(corpus, i);
    double last_shown = clock_seconds();
    translator_greedy(model, sources, score->count, &config->decode, workers, show_share, &last_shown, found);
    for (int i = 0; i < score->count; i++) {
        const Hypothesis none = {0}, *best = found[i].count ? &found[i].items[0] : &none; /* none: left out */
        StrBuf line = {0};
        segmenter_decode(seq2seq_target(model), best->ids, (size_t)best->length, &line);
        score->hypotheses[i] = mem_strdup(strbuf_text(&line));
        strbuf_free(&line);
        calibration_add(&words, seq2seq_target(model), best, corpus_target(corpus, i));
        hypotheses_free(&found[i]);
    }
    score->calibration = calibration_fit(&words);
    mem_free(sources);
    mem_free(found);
}

ValidationScore validate_model(const Seq2Seq *model, const Corpus *corpus, const Config *config,
                               Workers *workers) {
    BatchLoss loss = validate_loss(model, corpus, 0, workers);
    ValidationScore score = {.loss = loss.likelihood / (double)loss.tokens};
    int limit = config->train.valid_limit;
    score.count = limit && limit < corpus->count ? limit : corpus->count;
    score.hypotheses = mem_alloc((size_t)score.count, sizeof *score.hypotheses);
    translate(model, corpus, config, workers, &score);

    StrView *hypotheses = mem_alloc((size_t)score.count, sizeof *hypotheses);
    StrView *references = mem_alloc((size_t)score.count, sizeof *references);
    for (int i = 0; i < score.count; i++) {
        hypotheses[i] = sv(score.hypotheses[i]);
        references[i] = sv(corpus->target_text.items[i]);
    }
    score.bleu = bleu_corpus_simple(hypotheses, references, (size_t)score.count, config->train.bleu_tokenizer,
                                    config->text.lowercase);
    score.chrf = NAN;
    if (config->train.stop_on == STOP_ON_CHRF)
        score.chrf = chrf_corpus_simple(hypotheses, references, (size_t)score.count, config->text.lowercase);
    mem_free(hypotheses);
    mem_free(references);
    return score;
}

void validate_free(ValidationScore *score) {
    for (int i = 0; i < score->count; i++) mem_free(score->hypotheses[i]);
    mem_free(score->hypotheses);
    *score = (ValidationScore){0};
}
