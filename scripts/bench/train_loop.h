/* train_loop.h - updates like those of train/trainer.c, without its validations, files and messages.
 *
 * Useful work is the arithmetic of a batch, independent of the implementation: two operations forward and
 * four backward for each weight and each token that it multiplies; the same for scores and contexts of
 * attention. Activations, normalization, dropout, the optimizer and padding do not count.
 */
#ifndef BENCH_TRAIN_LOOP_H
#define BENCH_TRAIN_LOOP_H

#include "data/batch.h"
#include "train/optimizer.h"
#include "train/shards.h"

/* Sums over the sentence pairs of batches; S source and T target tokens, each with its </s>. */
typedef struct {
    double sentences, source, target;
    double source_pairs, target_pairs, cross_pairs; /* S S, T (T + 1) / 2, S T */
} Work;

typedef struct {
    const Config *config;
    const Corpus *corpus;
    Seq2Seq *model;
    Workers *workers;
    Optimizer *optimizer;
    Shards *shards;
    BatchPlan *plan; /* of the current epoch */
    int epoch, batch;
    long updates;
    double loss; /* of the last update, a token */
    Work work;   /* since it was last set to zero */
} TrainLoop;

/* A fresh model; `workers` and `corpus` must outlive the loop. */
TrainLoop *train_loop_new(const Config *config, const Corpus *corpus, Tokenizer *source, Tokenizer *target,
                          Workers *workers);
Status train_loop_update(TrainLoop *loop);
void train_loop_rewind(TrainLoop *loop); /* the next batch is the first one of this epoch again */
/* Frees everything except the model, which the caller owns; its weights become the average if there is
 * one. */
Seq2Seq *train_loop_end(TrainLoop *loop);
/* Operations of the forward and backward passes of this work. */
double work_flops(const Seq2Seq *model, const Work *work);

#endif
