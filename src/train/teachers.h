/* teachers.h - models whose predictions a training learns besides the text: others, or its own past.
 *
 *   train.teacher      models from files, whose distributions are averaged; word-level distillation, Kim and
 *                      Rush 2016, section 3.1
 *   train.ema_teacher  the moving average of the weights, after the warm-up: Tarvainen and Valpola 2017, with
 *                      the labels that all pairs have here
 *
 * Owner   Teachers owns its models and tapes; the average belongs to the optimizer
 * Fails   STATUS_USAGE for a teacher of other vocabularies, or that writes in the other direction
 */
#ifndef TRAIN_TEACHERS_H
#define TRAIN_TEACHERS_H

#include "models/seq2seq.h"
#include "train/optimizer.h"

typedef struct {
    Seq2Seq **models; /* [count] */
    int count, threads;
    Tape **tapes;    /* [threads, count] */
    double share;    /* of the loss */
    bool is_average; /* the one model is the moving average */
    char sha256[65]; /* of the files, in their order; empty if there are none */
} Teachers;

/* Are the files there, and models? Asked before the data are read. */
Status teachers_check(const TrainOptions *options);
/* Those that the configuration asks for, perhaps none. They multiply as the training does, by as many threads
 * as there are workers. */
Status teachers_load(Teachers *teachers, const Config *config, const Seq2Seq *pupil, Workers *workers);
void teachers_free(Teachers *teachers);
/* Do they teach in update `update`, from 1? If so, the average is from here on what it is now. */
bool teachers_turn(const Teachers *teachers, const TrainOptions *options, Optimizer *optimizer,
                   long long update);
/* The mean of their distributions, mean[i] of part i of a batch: [target tokens with </s>, V], until the next
 * call on this thread. Up to TAPES_TOGETHER parts (num/tapes.h) go through together. */
void teachers_predict(const Teachers *teachers, const TrainingBatch *parts, int count, int thread,
                      const real **mean);

#endif
