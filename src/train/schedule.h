/* schedule.h - the learning rate and the averaging rate as functions of the update number, from 1. */
#ifndef TRAIN_SCHEDULE_H
#define TRAIN_SCHEDULE_H

#include "models/config.h"

/* `progress`: share of the whole training that is done, 0..1 (linear); `cuts`: how often a plateau was met. */
double schedule_rate(const TrainOptions *options, long update, double progress, int cuts);
/* The average starts as a plain mean of all weights so far and becomes exponential: min((1 + t) / (10 + t), 1 - rate) is kept. */
double schedule_average(const TrainOptions *options, long update);

#endif
