/* optimizer.h - from the gradients of the shards to new weights: sum, clip, Adam, moving average, repack.
 * Kingma and Ba 2015; decoupled weight decay: Loshchilov and Hutter 2019; clipping: Pascanu et al. 2013
 *
 * All passes go over fixed chunks of the parameter block and sum in a fixed order, so the result does not
 * depend on the number of threads, nor on that of ranks, which each update a slice. Gradient blocks are zero
 * again afterwards.
 *
 * Owner   the optimizer owns its blocks; `params` must outlive it
 */
#ifndef TRAIN_OPTIMIZER_H
#define TRAIN_OPTIMIZER_H

#include "base/status.h"
#include "base/workers.h"
#include "config/config.h"
#include "autograd/params.h"
#include "base/workers.h"
#include "distributed/sum_ranks.h"

typedef struct {
    ParamSet *params;
    Workers *workers;
    real *m, *v;    /* Adam's moments */
    real *average;  /* moving average of the weights, or NULL */
    size_t *slices; /* [ranks + 1] (comm.h): rank r updates weights slices[r] .. slices[r + 1] - 1, and has
                         * moments and average of these alone, the others' only after optimizer_collect */
    SumRanks *ranks;
    long long updates; /* done so far */
} Optimizer;

/* What products of a training round to: WEIGHT_BF16 where that is asked for and this processor multiplies it,
 * else WEIGHT_BF16X3, which keeps floats. Weights, gradients and moments are floats in any case. */
WeightFormat optimizer_format(const TrainOptions *options);
Optimizer *optimizer_new(ParamSet *params, Workers *workers, WeightFormat format, bool average);
void optimizer_free(Optimizer *optimizer);
/* Sum these gradients and update, with this learning rate and this rate of the moving average
 * (schedule.h). *norm receives the global norm before clipping. STATUS_DIVERGED, with the parameter's name,
 * if a gradient is not finite: no weight is changed then. */
Status optimizer_update(Optimizer *optimizer, const SumRest *grads, const TrainOptions *options,
                        double learning_rate, double average_rate, double *norm);
/* Get the average of all ranks and, for rank 0, their moments: before saving. */
void optimizer_collect(Optimizer *optimizer);
/* STATUS_DIVERGED, with the parameter's name, if a weight or its average is not finite: for before saving. */
Status optimizer_check(const Optimizer *optimizer);
/* Exchange weights and average, and repack: for validating and saving the average. Call twice to undo. */
void optimizer_swap_average(Optimizer *optimizer);
void optimizer_repack(Optimizer *optimizer);

#endif
