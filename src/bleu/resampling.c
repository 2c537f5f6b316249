/* resampling.c - resampled scores, their interval, and p-values. */
#include "bleu/resampling.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/rng.h"

static Status seed_from_system(Seed *seed) {
    FILE *source = fopen("/dev/urandom", "rb");
    size_t got = source ? fread(&seed->number, sizeof seed->number, 1, source) : 0;
    if (source) fclose(source);
    if (got != 1) return status_fail(STATUS_RUNTIME, "cannot read random numbers from '/dev/urandom'");
    strcpy(seed->text, "none");
    return STATUS_OK;
}

Status seed_read(Seed *seed, const char *text) {
    if (!text) text = "12345";
    if (strcasecmp(text, "none") == 0) return seed_from_system(seed);
    size_t length = strlen(text);
    if (length == 0 || length >= sizeof seed->text || strspn(text, "0123456789") != length) {
        Status status = status_fail(STATUS_USAGE, "SACREBLEU_SEED: '%.100s' is not a whole number", text);
        return status_hint(status, "use digits, or none for a different seed every time");
    }
    seed->number = 0;
    for (size_t i = 0; i < length; i++) seed->number = seed->number * 10 + (uint64_t)(text[i] - '0');
    strcpy(seed->text, text);
    return STATUS_OK;
}

/* The score of `count` segments that are drawn with replacement. */
static double resampled_score(const Statistics *system, Rng rng) {
    double sums[METRIC_MAX_WIDTH] = {0};
    size_t width = (size_t)system->width;
    for (size_t i = 0; i < system->count; i++) {
        const double *row = system->rows + rng_below(&rng, (uint32_t)system->count) * width;
        for (size_t j = 0; j < width; j++) sums[j] += row[j];
    }
    return system->configured.metric->score(system->configured.options, sums);
}

/* An array of `samples` scores, to free with mem_free. */
static double *resample(const Statistics *system, uint64_t seed, int samples) {
    assert(samples > 0 && system->count > 0);
    double *scores = mem_alloc((size_t)samples, sizeof *scores);
    for (int i = 0; i < samples; i++)
        scores[i] = resampled_score(system, rng_new(rng_key(seed, (uint64_t)i, 0, 0)));
    return scores;
}

static int compare_doubles(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double mean_of(const double *values, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += values[i];
    return sum / count;
}

/* Sorts `scores`. */
static Interval interval_of(double *scores, int count) {
    int cut = count / 40;
    qsort(scores, (size_t)count, sizeof *scores, compare_doubles);
    return (Interval){.mean = mean_of(scores, count),
                      .half_width = (scores[count - cut - 1] - scores[cut]) / 2};
}

Interval resampling_interval(const Statistics *system, uint64_t seed, int samples) {
    double *scores = resample(system, seed, samples);
    Interval interval = interval_of(scores, samples);
    mem_free(scores);
    return interval;
}

double resampling_paired_bootstrap(const Statistics *baseline, const Statistics *system, uint64_t seed,
                                   int samples, Interval *interval) {
    assert(baseline->count == system->count);
    double difference = fabs(statistics_score(baseline) - statistics_score(system));
    double *scores = resample(system, seed, samples), *distances = resample(baseline, seed, samples);
    for (int i = 0; i < samples; i++) distances[i] = fabs(scores[i] - distances[i]);
    double mean = mean_of(distances, samples);
    int exceeding = 0;
    for (int i = 0; i < samples; i++) exceeding += distances[i] - mean > difference;
    *interval = interval_of(scores, samples);
    mem_free(scores);
    mem_free(distances);
    return (exceeding + 1.) / (samples + 1.); /* the observed difference counts as a sample, so p > 0 */
}
