/* resampling.h - how far a score, or the difference of two, can be trusted: scores of resampled segments.
 * Koehn 2004 (bootstrap); Riezler and Maxwell 2005 (approximate randomization); sacreBLEU 2.x with numpy 2
 *
 * The same generator state gives the same samples for every metric and system: pass it by value.
 *
 * Units   p-values 0..1
 */
#ifndef BLEU_RESAMPLING_H
#define BLEU_RESAMPLING_H

#include "bleu/metric.h"
#include "bleu/pcg64.h"

/* Mean and half the width of the interval that holds 95 % of the resampled scores. */
typedef struct {
    double mean, half_width;
} Interval;

typedef double (*Mean)(const double *values, size_t count, bool single); /* one of bleu/mean.h */

/* Resample segments with replacement `samples` times; samples >= 1. */
Interval resampling_interval(const Statistics *system, Pcg64 generator, int samples, Mean mean);

/* Paired bootstrap: the probability of a difference as large as that of the two scores by chance.
 * Both must have the same number of segments. *interval is that of `system`. */
double resampling_paired_bootstrap(const Statistics *baseline, const Statistics *system, Pcg64 generator,
                                   int samples, Interval *interval);

/* Approximate randomization: swap the two systems' segments at random. Where statistics are no whole numbers
 * (TER with three references, thirds of words), a difference as large as the real one is told from a larger
 * one by the last bit of sums. They are added in order, on every machine; numpy leaves the order to BLAS, and
 * so sacreBLEU's p-value to the processor: without AVX-512 it is this one for up to 256 segments. */
double resampling_randomized(const Statistics *baseline, const Statistics *system, Pcg64 generator,
                             int trials);

#endif
