/* bootstrap.c - resampled scores, their interval, and p-values. */
#include "metrics/bootstrap.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "base/mem.h"

/* Scores of resamples; single if every one of them was computed in single precision. */
typedef struct {
    double *values;
    size_t count;
    bool single;
} Scores;

static double round_if(double value, bool single) { return single ? (double)(float)value : value; }

/* The score of as many segments as there are, drawn with replacement; sums are kept in single precision. */
static MetricValue resampled_score(const MetricRows *metric, Pcg64 *generator) {
    float sums[METRIC_MAX_WIDTH] = {0};
    double exact[METRIC_MAX_WIDTH];
    size_t width = (size_t)metric->width;
    for (size_t i = 0; i < metric->count; i++) {
        const int *row = metric->rows + pcg64_index(generator, (uint32_t)metric->count) * width;
        for (size_t j = 0; j < width; j++) sums[j] += (float)row[j];
    }
    for (size_t j = 0; j < width; j++) exact[j] = sums[j];
    return metric->score(metric->options, exact, METRIC_SINGLE);
}

static Scores resample(const MetricRows *metric, Pcg64 generator, int samples) {
    assert(samples > 0 && metric->count > 0 && metric->width <= METRIC_MAX_WIDTH);
    Scores scores = {mem_alloc((size_t)samples, sizeof(double)), (size_t)samples, true};
    for (size_t i = 0; i < scores.count; i++) {
        MetricValue score = resampled_score(metric, &generator);
        scores.values[i] = score.value;
        scores.single = scores.single && score.single;
    }
    return scores;
}

static double numpy_sum(const double *values, size_t count, bool single) {
    if (count < 8) {
        double sum = 0;
        for (size_t i = 0; i < count; i++) sum = round_if(sum + values[i], single);
        return sum;
    }
    if (count <= 128) {
        double part[8];
        size_t i = 8;
        for (size_t j = 0; j < 8; j++) part[j] = values[j];
        for (; i < count - count % 8; i += 8)
            for (size_t j = 0; j < 8; j++) part[j] = round_if(part[j] + values[i + j], single);
        double left =
            round_if(round_if(part[0] + part[1], single) + round_if(part[2] + part[3], single), single);
        double right =
            round_if(round_if(part[4] + part[5], single) + round_if(part[6] + part[7], single), single);
        double sum = round_if(left + right, single);
        for (; i < count; i++) sum = round_if(sum + values[i], single);
        return sum;
    }
    size_t half = count / 2;
    half -= half % 8;
    return round_if(numpy_sum(values, half, single) + numpy_sum(values + half, count - half, single), single);
}

double bootstrap_numpy_mean(const double *values, size_t count, bool single) {
    return round_if(numpy_sum(values, count, single) / (double)count, single);
}

/* The sum with what rounding lost in each addition carried along, so that the mean is right to the last bit or so. */
static double exact_mean(const double *values, size_t count, bool single) {
    double sum = 0, lost = 0;
    for (size_t i = 0; i < count; i++) {
        double next = sum + values[i], seen = next - sum;
        lost += (sum - (next - seen)) + (values[i] - seen);
        sum = next;
    }
    return round_if((sum + lost) / (double)count, single);
}

static int compare_doubles(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Sorts `scores`. */
static Interval interval_of(Scores *scores, MeanRule rule) {
    Interval interval;
    qsort(scores->values, scores->count, sizeof(double), compare_doubles);
    size_t cut = scores->count / 40;
    double difference = scores->values[scores->count - cut - 1] - scores->values[cut];
    interval.half_width = round_if(0.5 * round_if(difference, scores->single), scores->single);
    interval.mean = rule == MEAN_NUMPY ? bootstrap_numpy_mean(scores->values, scores->count, scores->single)
                                       : exact_mean(scores->values, scores->count, scores->single);
    return interval;
}

Interval bootstrap_interval(const MetricRows *metric, Pcg64 generator, int samples, MeanRule rule) {
    Scores scores = resample(metric, generator, samples);
    Interval interval = interval_of(&scores, rule);
    mem_free(scores.values);
    return interval;
}

/* One more in both parts of the fraction, so that chance is never ruled out. */
static double p_value(size_t exceeding, size_t count) {
    return ((double)exceeding + 1) / ((double)count + 1);
}

double bootstrap_paired(const MetricRows *baseline, const MetricRows *system, Pcg64 generator, int samples,
                        Interval *interval) {
    assert(baseline->count == system->count);
    double difference = fabs(metric_corpus_score(baseline) - metric_corpus_score(system));
    Scores ours = resample(system, generator, samples), theirs = resample(baseline, generator, samples);
    bool single = ours.single && theirs.single;
    double *distances = theirs.values; /* not needed afterwards */
    for (size_t i = 0; i < ours.count; i++)
        distances[i] = fabs(round_if(ours.values[i] - theirs.values[i], single));
    double mean = bootstrap_numpy_mean(distances, ours.count, single);
    size_t exceeding = 0;
    for (size_t i = 0; i < ours.count; i++)
        exceeding += round_if(distances[i] - mean, single) > round_if(difference, single);
    *interval = interval_of(&ours, MEAN_NUMPY);
    double p = p_value(exceeding, ours.count);
    mem_free(ours.values);
    mem_free(theirs.values);
    return p;
}

double bootstrap_randomized(const MetricRows *baseline, const MetricRows *system, Pcg64 generator,
                            int trials) {
    assert(baseline->count == system->count && trials > 0);
    size_t width = (size_t)system->width, exceeding = 0;
    double difference = fabs(metric_corpus_score(baseline) - metric_corpus_score(system));
    double both[METRIC_MAX_WIDTH], more[METRIC_MAX_WIDTH];
    metric_sum(baseline, both);
    metric_sum(system, more);
    for (size_t j = 0; j < width; j++) both[j] += more[j];
    Pcg64Bits bits = {0};
    for (int trial = 0; trial < trials; trial++) {
        double one[METRIC_MAX_WIDTH] = {0}, other[METRIC_MAX_WIDTH];
        for (size_t i = 0; i < system->count; i++) {
            const MetricRows *chosen = pcg64_bit(&generator, &bits) ? baseline : system;
            for (size_t j = 0; j < width; j++) one[j] += chosen->rows[i * width + j];
        }
        for (size_t j = 0; j < width; j++) other[j] = both[j] - one[j];
        double a = system->score(system->options, one, METRIC_WHOLE).value;
        double b = system->score(system->options, other, METRIC_WHOLE).value;
        exceeding += fabs(a - b) > difference;
    }
    return p_value(exceeding, (size_t)trials);
}
