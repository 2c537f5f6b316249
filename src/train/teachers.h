/* teachers.h - models whose predictions a training learns besides the text: others, or its own past.
 *
 *   train.teacher      models from files, whose distributions are averaged; word-level distillation, Kim and
 *                      Rush 2016, section 3.1
 *   train.ema_teacher  the moving average of the weights, after the warm-up: Tarvainen and Valpola 2017, with
 *                      the labels that all pairs have here
 *
 * Owner   Teachers owns its models; the average belongs to the optimizer
 * Fails   STATUS_USAGE for a teacher of other vocabularies, or that writes in the other direction
 */
#ifndef TRAIN_TEACHERS_H
#define TRAIN_TEACHERS_H

#include "train/optimizer.h"
#include "train/shards.h"

typedef struct {
    Seq2Seq **models;
    int count;
    double share;    /* of the loss */
    bool is_average; /* the one model is the moving average */
} Teachers;

/* Those that the configuration asks for, perhaps none. They multiply as the training does. */
Status teachers_load(Teachers *teachers, const Config *config, const Seq2Seq *pupil);
/* Before update `update`, from 1: let them teach if it is their turn, and the average be what it is now. */
void teachers_turn(const Teachers *teachers, const TrainOptions *options, Optimizer *optimizer,
                   Shards *shards, long long update);
void teachers_free(Teachers *teachers);

#endif
