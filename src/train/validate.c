/* validate.c - loss, BLEU and chrF on validation data. Ranks take batches and sentences by their number; the
 * first one gets all translations and judges them. */
#include "train/validate.h"

#include <math.h>
#include <stdlib.h>
#include "distributed/comm.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress_line.h"
#include "bleu/bleu.h"
#include "bleu/chrf.h"
#include "translate/translator.h"
#include "distributed/broadcast.h"
#include "train/shards.h"

enum { BATCH = 16 }; /* sentences */

typedef struct {
    int number;
    long long tokens;
} Batch;

typedef struct {
    const Seq2Seq *model;
    const Corpus *corpus;
    Tape **tape;    /* per thread */
    Batch *batches; /* the longest first, so that no thread is left with one at the end */
    int *first;     /* [ranks + 1]: rank r has batches r, r + ranks ... and puts their losses there */
    BatchLoss *loss;
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
    int rank = comm_rank(), pairs[BATCH], count = 0;
    int number = run->batches[rank + task * comm_size()].number;
    for (int pair = number * BATCH; pair < run->corpus->count && count < BATCH; pair++) pairs[count++] = pair;
    tape_reset(run->tape[thread]);
    TrainingBatch batch = shard_batch(run->tape[thread], run->corpus, pairs, count, 0);
    run->loss[run->first[rank] + task] = seq2seq_loss(run->model, run->tape[thread], &batch, 0, 1);
}

/* Those of all ranks, by number. */
static void gather_losses(LossRun *run, int batches) {
    int ranks = comm_size();
    size_t *bytes = mem_alloc((size_t)ranks + 1, sizeof *bytes);
    BatchLoss *by_number = mem_alloc((size_t)batches + 1, sizeof *by_number);
    for (int r = 0; r <= ranks; r++) bytes[r] = (size_t)run->first[r] * sizeof *run->loss;
    comm_gather(run->loss, bytes);
    for (int i = 0; i < batches; i++)
        by_number[run->batches[i].number] = run->loss[run->first[i % ranks] + i / ranks];
    mem_free(run->loss);
    mem_free(bytes);
    run->loss = by_number;
}

BatchLoss validate_loss(const Seq2Seq *model, const Corpus *corpus, Workers *workers) {
    int batches = (corpus->count + BATCH - 1) / BATCH, threads = workers_count(workers);
    int ranks = comm_size();
    LossRun run = {.model = model, .corpus = corpus};
    run.tape = mem_alloc((size_t)threads, sizeof *run.tape);
    run.batches = longest_first(corpus, batches);
    run.loss = mem_alloc((size_t)batches + 1, sizeof *run.loss);
    run.first = mem_alloc((size_t)ranks + 1, sizeof *run.first);
    for (int r = 0; r < ranks; r++) run.first[r + 1] = run.first[r] + (batches - r + ranks - 1) / ranks;
    for (int i = 0; i < threads; i++) run.tape[i] = tape_new(seq2seq_params(model), false);
    workers_run(workers, run.first[comm_rank() + 1] - run.first[comm_rank()], run_batch, &run);
    gather_losses(&run, batches);
    BatchLoss sum = {0};
    for (int i = 0; i < batches; i++) batch_loss_add(&sum, run.loss[i]);
    for (int i = 0; i < threads; i++) tape_free(run.tape[i]);
    mem_free(run.tape);
    mem_free(run.batches);
    mem_free(run.loss);
    mem_free(run.first);
    return sum;
}

static void show_share(void *work, double share) { progress_line_share(work, share); }

/* The first hypothesis of each sentence, on rank 0. */
static HypothesisList *translate(const Seq2Seq *model, const Corpus *corpus, const Config *config,
                                 Workers *workers, int count) {
    int size = comm_size(), own = 0;
    Tokens *sources = mem_alloc((size_t)count, sizeof *sources);
    HypothesisList *mine = mem_alloc((size_t)count, sizeof *mine);
    HypothesisList *found = mem_alloc((size_t)count, sizeof *found);
    int *ids = mem_alloc(corpus_tokens(corpus, &corpus->source) + 1, sizeof *ids);
    for (int i = comm_rank(); i < count; i += size)
        sources[own++] = corpus_source(corpus, i, ids + corpus->source.start[i]);
    ProgressLine work = progress_line_begin("validating");
    translator_greedy(model, sources, own, &config->decode, workers, show_share, &work, mine);
    for (int i = 0; i < own; i++) found[comm_rank() + i * size] = mine[i];
    broadcast_translations(found, count);
    mem_free(ids);
    mem_free(sources);
    mem_free(mine);
    return found;
}

static void judge(const Seq2Seq *model, const Corpus *corpus, const HypothesisList *found,
                  const Config *config, ValidationScore *score) {
    CalibrationWords words = {0};
    StrView *hypotheses = mem_alloc((size_t)score->count, sizeof *hypotheses);
    StrView *references = mem_alloc((size_t)score->count, sizeof *references);
    score->hypotheses = mem_alloc((size_t)score->count, sizeof *score->hypotheses);
    for (int i = 0; i < score->count; i++) {
        const Hypothesis none = {0}, *best = found[i].count ? &found[i].items[0] : &none; /* none: left out */
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
    HypothesisList *found = translate(model, corpus, config, workers, count);
    if (comm_is_root()) {
        score.count = count;
        judge(model, corpus, found, config, &score);
    }
    for (int i = 0; i < count; i++) hypotheses_free(&found[i]);
    mem_free(found);
    comm_broadcast(&score.bleu, sizeof score.bleu);
    comm_broadcast(&score.chrf, sizeof score.chrf);
    return score;
}

void validate_free(ValidationScore *score) {
    for (int i = 0; i < score->count; i++) mem_free(score->hypotheses[i]);
    mem_free(score->hypotheses);
    *score = (ValidationScore){0};
}
