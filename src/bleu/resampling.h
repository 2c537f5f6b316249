/* resampling.h - confidence intervals and significance tests of scores, from resampled segments.
 * Koehn 2004 (bootstrap)
 *
 * The seed determines the segments of each resample. They are the same for every metric, system and machine,
 * which pairs the systems. sacreBLEU uses other random numbers (NumPy's), so its intervals and p-values are
 * other estimates of the same quantities.
 *
 * Units   p-values 0..1
 */
#ifndef BLEU_RESAMPLING_H
#define BLEU_RESAMPLING_H

#include "base/status.h"
#include "bleu/metric.h"

/* The value of the environment variable SACREBLEU_SEED. */
typedef struct {
    uint64_t number;
    char text[80]; /* its digits, for signatures; "none" */
} Seed;

/* NULL is 12345; "none" is a random seed; numbers are taken modulo 2^64. STATUS_USAGE: not a whole number. */
Status seed_read(Seed *seed, const char *text);

/* Mean of the resampled scores, and half the width of the interval of 95 % of them. */
typedef struct {
    double mean, half_width;
} Interval;

/* Resamples the segments with replacement `samples` times; samples >= 1. */
Interval resampling_interval(const Statistics *system, uint64_t seed, int samples);

/* Paired bootstrap: returns the p-value, the probability that chance makes a difference as large as that of
 * the two scores. Both systems have the same number of segments. *interval is that of `system`. */
double resampling_paired_bootstrap(const Statistics *baseline, const Statistics *system, uint64_t seed,
                                   int samples, Interval *interval);

#endif
