/* resampling.c - resampled scores, their interval, and p-values. */
#include "bleu/resampling.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "base/mem.h"
#include "bleu/mean.h"

/* Scores of resamples; single if every one of them was computed in single precision. */
typedef struct {
    double *values;
    size_t count;
    bool single;
} Scores;

static double round_if(double value, bool single) { return single ? (double)(float)value : value; }

/* The score of as many segments as there are, drawn with replacement; sums are kept in single precision. */
static MetricValue resampled_score(const Statistics *system, Pcg64 *generator) {
    float sums[METRIC_MAX_WIDTH] = {0};
    double exact[METRIC_MAX_WIDTH];
    size_t width = (size_t)system->width;
    for (size_t i = 0; i < system->count; i++) {
        const double *row = system->rows + pcg64_index(generator, (uint32_t)system->count) * width;
        for (size_t j = 0; j < width; j++) sums[j] += (float)row[j];
    }
    for (size_t j = 0; j < width; j++) exact[j] = sums[j];
    return system->chosen.metric->score(system->chosen.options, exact, METRIC_SINGLE);
}

static Scores resample(const Statistics *system, Pcg64 generator, int samples) {
    assert(samples > 0 && system->count > 0);
    Scores scores = {mem_alloc((size_t)samples, sizeof(double)), (size_t)samples, true};
    for (size_t i = 0; i < scores.count; i++) {
        MetricValue score = resampled_score(system, &generator);
        scores.values[i] = score.value;
        scores.single = scores.single && score.single;
    }
    return scores;
}

static int compare_doubles(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Sorts `scores`. */
static Interval interval_of(Scores *scores, Mean mean) {
    Interval interval;
    qsort(scores->values, scores->count, sizeof(double), compare_doubles);
    size_t cut = scores->count / 40;
    double difference = scores->values[scores->count - cut - 1] - scores->values[cut];
    interval.half_width = round_if(0.5 * round_if(difference, scores->single), scores->single);
    interval.mean = mean(scores->values, scores->count, scores->single);
    return interval;
}

Interval resampling_interval(const Statistics *system, Pcg64 generator, int samples, Mean mean) {
    Scores scores = resample(system, generator, samples);
    Interval interval = interval_of(&scores, mean);
    mem_free(scores.values);
    return interval;
}

/* One more in both parts of the fraction, so that chance is never ruled out. */
static double p_value(size_t exceeding, size_t count) {
    return ((double)exceeding + 1) / ((double)count + 1);
}

double resampling_paired_bootstrap(const Statistics *baseline, const Statistics *system, Pcg64 generator,
                                   int samples, Interval *interval) {
    assert(baseline->count == system->count);
    double difference = fabs(statistics_score(baseline) - statistics_score(system));
    Scores ours = resample(system, generator, samples), theirs = resample(baseline, generator, samples);
    bool single = ours.single && theirs.single;
    double *distances = theirs.values; /* not needed afterwards */
    for (size_t i = 0; i < ours.count; i++)
        distances[i] = fabs(round_if(ours.values[i] - theirs.values[i], single));
    double mean = mean_numpy(distances, ours.count, single);
    size_t exceeding = 0;
    for (size_t i = 0; i < ours.count; i++)
        exceeding += round_if(distances[i] - mean, single) > round_if(difference, single);
    *interval = interval_of(&ours, mean_numpy);
    double p = p_value(exceeding, ours.count);
    mem_free(ours.values);
    mem_free(theirs.values);
    return p;
}

double resampling_randomized(const Statistics *baseline, const Statistics *system, Pcg64 generator,
                             int trials) {
    assert(baseline->count == system->count && trials > 0);
    const ChosenMetric chosen = system->chosen;
    size_t width = (size_t)system->width, exceeding = 0;
    double difference = fabs(statistics_score(baseline) - statistics_score(system));
    Pcg64Bits bits = {0};
    for (int trial = 0; trial < trials; trial++) {
        /* Sums over the segments of each system that went to the one and to the other. */
        double ours[2][METRIC_MAX_WIDTH] = {{0}}, theirs[2][METRIC_MAX_WIDTH] = {{0}}, scores[2];
        for (size_t i = 0; i < system->count * width; i += width) {
            bool swapped = pcg64_bit(&generator, &bits);
            for (size_t j = 0; j < width; j++) ours[swapped][j] += baseline->rows[i + j];
            for (size_t j = 0; j < width; j++) theirs[!swapped][j] += system->rows[i + j];
        }
        for (int k = 0; k < 2; k++) {
            for (size_t j = 0; j < width; j++) ours[k][j] += theirs[k][j];
            scores[k] = chosen.metric->score(chosen.options, ours[k], METRIC_WHOLE).value;
        }
        exceeding += fabs(scores[0] - scores[1]) > difference;
    }
    return p_value(exceeding, (size_t)trials);
}
