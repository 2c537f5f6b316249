/* schedule.h - the learning rate and the averaging rate as functions of the update number, from 1. */
#ifndef TRAIN_SCHEDULE_H
#define TRAIN_SCHEDULE_H

#include "config/config.h"

/* After warmup updates, which rise linearly to the full rate: constant; rate sqrt(warmup / update) (Vaswani
 * et al. 2017, section 5.3); rate decay_factor^cuts; or, for linear, from the full rate at the end of warm-up
 * straight to 0 at the end of the training.
 * `done`: share of the whole training that is done before this update, 0..1; `cuts`: how often a plateau was
 * met. */
double schedule_rate(const TrainOptions *options, long long update, double done, int cuts);
/* average += rate (weights - average) after each update, with rate = max(9 / (10 + update), train.average):
 * the first weights are forgotten soon, and after about 9 / train.average updates the average is
 * exponential. 0 = no average. */
double schedule_average(const TrainOptions *options, long long update);

#endif
