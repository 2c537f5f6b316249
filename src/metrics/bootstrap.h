/* bootstrap.h - how far a score, or the difference of two, can be trusted: resampling segments.
 * Koehn 2004 (bootstrap); Riezler and Maxwell 2005 (approximate randomization); as sacreBLEU 2.x with numpy 2
 *
 * The same generator state gives the same samples for every metric and system: pass it by value.
 *
 * Units   scores 0..100; p-values 0..1
 */
#ifndef METRICS_BOOTSTRAP_H
#define METRICS_BOOTSTRAP_H

#include "metrics/metric.h"
#include "metrics/pcg64.h"

/* Mean and half the width of the interval that holds 95 % of the resampled scores. */
typedef struct {
    double mean, half_width;
} Interval;

/* How the mean is rounded: exactly (Python's statistics.mean), or as numpy.mean adds up. */
typedef enum { MEAN_EXACT, MEAN_NUMPY } MeanRule;

/* Resample segments with replacement `samples` times; samples >= 1. */
Interval bootstrap_interval(const MetricRows *metric, Pcg64 generator, int samples, MeanRule rule);

/* Paired bootstrap: the probability of a difference as large as that of the two scores by chance.
 * Both must have the same number of segments. *interval is that of `system`. */
double bootstrap_paired(const MetricRows *baseline, const MetricRows *system, Pcg64 generator, int samples,
                        Interval *interval);

/* Approximate randomization: swap the two systems' segments at random. */
double bootstrap_randomized(const MetricRows *baseline, const MetricRows *system, Pcg64 generator,
                            int trials);

/* What numpy.mean gives: blocks of 128 in eight partial sums, added in pairs; in single precision if asked for. */
double bootstrap_numpy_mean(const double *values, size_t count, bool single);

#endif
