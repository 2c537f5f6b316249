/* resampling.h - how far a score, or the difference of two, can be trusted: scores of resampled segments.
 * Koehn 2004 (bootstrap)
 *
 * A seed decides which segments a resample has, the same for every metric and system and on every machine:
 * that pairs the systems. sacreBLEU draws other numbers (NumPy's); its intervals and p-values are other
 * estimates of the same quantities.
 *
 * Units   p-values 0..1
 */
#ifndef BLEU_RESAMPLING_H
#define BLEU_RESAMPLING_H

#include "base/status.h"
#include "bleu/metric.h"

/* The seed as the environment variable SACREBLEU_SEED has it. */
typedef struct {
    uint64_t number;
    char text[80]; /* its digits, for signatures; "none" */
} Seed;

/* A NULL text is 12345; "none" takes a seed from the system; larger numbers are taken modulo 2^64.
 * STATUS_USAGE: not a whole number. */
Status seed_read(Seed *seed, const char *text);

/* Mean and half the width of the interval that holds 95 % of the resampled scores. */
typedef struct {
    double mean, half_width;
} Interval;

/* Resample segments with replacement `samples` times; samples >= 1. */
Interval resampling_interval(const Statistics *system, uint64_t seed, int samples);

/* Paired bootstrap: the probability of a difference as large as that of the two scores by chance.
 * Both must have the same number of segments. *interval is that of `system`. */
double resampling_paired_bootstrap(const Statistics *baseline, const Statistics *system, uint64_t seed,
                                   int samples, Interval *interval);

#endif
