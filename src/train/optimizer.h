/* optimizer.h - from the gradients of the shards to new weights: sum, clip, Adam, moving average, repack; and
 * the schedules of the learning rate and of the average.
 * Kingma and Ba 2015; decoupled weight decay: Loshchilov and Hutter 2019; clipping: Pascanu et al. 2013
 *
 * All passes go over fixed chunks of the parameter block and sum in a fixed order, so the result does not
 * depend on the number of threads and processes. Each process updates a slice of the block (partition.h).
 * Gradient blocks are zero again after an update.
 *
 * Owner   the optimizer owns its blocks; `params` must outlive it
 */
#ifndef TRAIN_OPTIMIZER_H
#define TRAIN_OPTIMIZER_H

#include "base/status.h"
#include "base/workers.h"
#include "config/config.h"
#include "autograd/params.h"
#include "distributed/partition.h"

typedef struct {
    ParamSet *params;
    Workers *workers;
    real *m, *v;   /* Adam's moments */
    real *average; /* moving average of the weights, or NULL */
    /* This process has moments and average of its slice alone until optimizer_collect. */
    Partition *partition;
    long long updates; /* so far */
} Optimizer;

/* The format that products of a training round to: WEIGHT_BF16 if the options ask for it and this processor
 * multiplies it, otherwise WEIGHT_BF16X3, which keeps floats. Weights, gradients and moments are floats in
 * any case. */
WeightFormat optimizer_format(const TrainOptions *options);
Optimizer *optimizer_new(ParamSet *params, Workers *workers, WeightFormat format, bool average);
void optimizer_free(Optimizer *optimizer);
/* Sum these gradients and update the weights. *norm receives the global norm before clipping.
 * STATUS_DIVERGED, with the parameter's name, if a gradient is not finite; the weights stay as they are
 * then. */
Status optimizer_update(Optimizer *optimizer, const PartialSums *grads, const TrainOptions *options,
                        double learning_rate, double average_rate, double *norm);
/* Before saving: collect the average of all slices and, in the root process, the moments. */
void optimizer_collect(Optimizer *optimizer);
/* Before saving: STATUS_DIVERGED, with the parameter's name, if a weight or its average is not finite. */
Status optimizer_check(const Optimizer *optimizer);
/* Exchange weights and average, and repack: for validating and saving the average. Call twice to undo. */
void optimizer_swap_average(Optimizer *optimizer);
void optimizer_repack(Optimizer *optimizer);
/* Frees moments and average, after the last update and the last save: optimizer_repack alone works then. */
void optimizer_free_moments(Optimizer *optimizer);

/* ---- schedules: functions of the update number, from 1 ------------------------------------------------- */

/* The rate rises linearly to the full rate in `warmup` updates. After them it is, by train.schedule,
 * constant; rate sqrt(warmup / update) (Vaswani et al. 2017, section 5.3); rate decay_factor^cuts; or, for
 * linear, it falls from the full rate at the end of warm-up straight to 0 at the end of the training.
 * `done`: fraction of the whole training before this update, 0..1; `cuts`: number of plateaus so far. */
double optimizer_learning_rate(const TrainOptions *options, long long update, double done, int cuts);
/* average += rate (weights - average) after each update, with rate = max(9 / (10 + update), train.average):
 * the average soon forgets the first weights, and is exponential after about 9 / train.average updates.
 * 0 = no average. */
double optimizer_average_rate(const TrainOptions *options, long long update);

#endif
