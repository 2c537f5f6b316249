/* validate.c - loss, BLEU and chrF on validation data. The processes take batches and sentences in turn; the
 * root gets all translations and computes the scores. */
#include "train/validate.h"

#include <math.h>
#include <stdlib.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/progress_line.h"
#include "bleu/bleu.h"
#include "bleu/chrf.h"
#include "translate/translator.h"
#include "distributed/broadcast.h"
#include "distributed/group.h"
#include "train/shards.h"

enum { BATCH = 16 }; /* sentences */

typedef struct {
    int number;
    long long tokens;
} Batch;

typedef struct {
    const Seq2Seq *model;
    const Corpus *corpus;
    Tape **tape;     /* per thread */
    Batch *batches;  /* the longest first, so that the threads end together */
    BatchLoss *loss; /* of each, in the same order */
} LossRun;

static int longer_first(const void *a, const void *b) {
    const Batch *x = a, *y = b;
    if (x->tokens != y->tokens) return x->tokens > y->tokens ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static Batch *longest_first(const Corpus *corpus, int count) {
    Batch *batches = mem_alloc((size_t)count + 1, sizeof *batches);
    for (int i = 0; i < count; i++) batches[i].number = i;
    for (int i = 0; i < corpus->count; i++)
        batches[i / BATCH].tokens += corpus_source_length(corpus, i) + 2LL * corpus_target_length(corpus, i);
    qsort(batches, (size_t)count, sizeof *batches, longer_first);
    return batches;
}

static void run_batch(void *context, int task, int thread) {
    LossRun *run = context;
    int pairs[BATCH], count = 0, item = group_strided_item(task);
    int number = run->batches[item].number;
    for (int pair = number * BATCH; pair < run->corpus->count && count < BATCH; pair++) pairs[count++] = pair;
    tape_reset(run->tape[thread]);
    TrainingBatch batch = micro_batch_collate(&(MicroBatch){pairs, count, 0}, run->corpus, run->tape[thread]);
    run->loss[item] = seq2seq_loss(run->model, run->tape[thread], &batch, 0, 1);
}

/* Added in the order of the corpus. */
static BatchLoss sum_losses(const LossRun *run, int batches) {
    BatchLoss sum = {0}, *by_number = mem_alloc((size_t)batches + 1, sizeof *by_number);
    for (int i = 0; i < batches; i++) by_number[run->batches[i].number] = run->loss[i];
    for (int i = 0; i < batches; i++) batch_loss_add(&sum, by_number[i]);
    mem_free(by_number);
    return sum;
}

BatchLoss validate_loss(const Seq2Seq *model, const Corpus *corpus, Workers *workers) {
    int batches = (corpus->count + BATCH - 1) / BATCH, threads = workers_count(workers);
    LossRun run = {.model = model, .corpus = corpus};
    run.tape = mem_alloc((size_t)threads, sizeof *run.tape);
    run.batches = longest_first(corpus, batches);
    run.loss = mem_alloc((size_t)batches + 1, sizeof *run.loss);
    for (int i = 0; i < threads; i++) run.tape[i] = tape_new(seq2seq_params(model), false);
    workers_run(workers, group_strided_count(batches), run_batch, &run);
    group_gather_strided(run.loss, sizeof *run.loss, batches);
    BatchLoss sum = sum_losses(&run, batches);
    for (int i = 0; i < threads; i++) tape_free(run.tape[i]);
    mem_free(run.tape);
    mem_free(run.batches);
    mem_free(run.loss);
    return sum;
}

static void show_fraction(void *progress, double fraction) { progress_line_fraction(progress, fraction); }

/* The first hypothesis of each sentence, in the root process. */
static HypothesisList *translate(const Seq2Seq *model, const Corpus *corpus, const Config *config,
                                 Workers *workers, int count) {
    int own_count = group_strided_count(count);
    Tokens *sources = mem_alloc((size_t)own_count + 1, sizeof *sources);
    HypothesisList *own = mem_alloc((size_t)own_count + 1, sizeof *own);
    HypothesisList *translations = mem_alloc((size_t)count, sizeof *translations);
    int *ids = mem_alloc(corpus_tokens(corpus, &corpus->source) + 1, sizeof *ids);
    for (int k = 0; k < own_count; k++) {
        int i = group_strided_item(k);
        sources[k] = corpus_source(corpus, i, ids + corpus->source.start[i]);
    }
    ProgressLine progress = progress_line_begin("validating");
    translator_greedy(model, sources, own_count, &config->decode, workers, show_fraction, &progress, own);
    for (int k = 0; k < own_count; k++) translations[group_strided_item(k)] = own[k];
    broadcast_gather_translations(translations, count);
    mem_free(ids);
    mem_free(sources);
    mem_free(own);
    return translations;
}

/* BLEU, chrF and calibration. A sentence without hypothesis counts as an empty translation. */
static void score_translations(const Seq2Seq *model, const Corpus *corpus, const HypothesisList *translations,
                               const Config *config, ValidationScore *score) {
    CalibrationWords words = {0};
    StrView *hypotheses = mem_alloc((size_t)score->count, sizeof *hypotheses);
    StrView *references = mem_alloc((size_t)score->count, sizeof *references);
    score->hypotheses = mem_alloc((size_t)score->count, sizeof *score->hypotheses);
    for (int i = 0; i < score->count; i++) {
        const Hypothesis none = {0}, *best = translations[i].count ? &translations[i].items[0] : &none;
        StrBuf line = {0};
        tokenizer_decode(seq2seq_target(model), best->ids, (size_t)best->length, &line);
        score->hypotheses[i] = mem_strdup(strbuf_text(&line));
        strbuf_free(&line);
        int *reference = mem_alloc((size_t)corpus_target_length(corpus, i), sizeof *reference);
        calibration_add(&words, seq2seq_target(model), best, corpus_target(corpus, i, reference));
        mem_free(reference);
        hypotheses[i] = sv(score->hypotheses[i]);
        references[i] = sv(corpus->target_text.items[i]);
    }
    score->calibration = calibration_fit(&words);
    score->bleu = bleu_corpus_simple(hypotheses, references, (size_t)score->count,
                                     config->train.bleu_tokenizer, config->text.lowercase);
    if (config->train.stop_on == STOP_ON_CHRF)
        score->chrf =
            chrf_corpus_simple(hypotheses, references, (size_t)score->count, config->text.lowercase);
    mem_free(hypotheses);
    mem_free(references);
}

ValidationScore validate_model(const Seq2Seq *model, const Corpus *corpus, const Config *config,
                               Workers *workers) {
    BatchLoss loss = validate_loss(model, corpus, workers);
    ValidationScore score = {.loss = loss.likelihood / (double)loss.tokens, .chrf = NAN};
    int limit = config->train.valid_limit, count = limit && limit < corpus->count ? limit : corpus->count;
    HypothesisList *translations = translate(model, corpus, config, workers, count);
    if (group_is_root()) {
        score.count = count;
        score_translations(model, corpus, translations, config, &score);
    }
    for (int i = 0; i < count; i++) hypotheses_free(&translations[i]);
    mem_free(translations);
    group_broadcast(&score.bleu, sizeof score.bleu);
    group_broadcast(&score.chrf, sizeof score.chrf);
    return score;
}

void validation_score_free(ValidationScore *score) {
    for (int i = 0; i < score->count; i++) mem_free(score->hypotheses[i]);
    mem_free(score->hypotheses);
    *score = (ValidationScore){0};
}
