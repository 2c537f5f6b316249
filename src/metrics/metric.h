/* metric.h - what every corpus score has in common: whole numbers per segment, summed, then one score.
 *
 * Resampling needs the score of other sums over the same rows, thousands of times. The reference program does that in
 * numpy, where the sums, and then the score, are single precision; p-values and intervals agree with it to the
 * last printed digit only if the same roundings are made. Arithmetic says which ones.
 */
#ifndef METRICS_METRIC_H
#define METRICS_METRIC_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    METRIC_EXACT,  /* double throughout */
    METRIC_SINGLE, /* sums are single precision, and so is what is computed from them (numpy 2) */
    METRIC_WHOLE,  /* sums stay whole numbers: what smoothing adds to them is cut off; double from there */
} MetricArithmetic;

/* A number that knows its precision: an operation with a single-precision operand has a single-precision result. */
typedef struct {
    double value;
    bool single;
} MetricValue;

/* The score (0..100) of summed rows. */
typedef MetricValue (*MetricScore)(const void *options, const double *sums, MetricArithmetic arithmetic);

/* Row i holds the `width` numbers of segment i. Owner: whoever filled it. */
typedef struct {
    int *rows; /* [count][width] */
    size_t count;
    int width;
    MetricScore score;
    const void *options;
} MetricRows;

MetricValue metric_exact(double value);
MetricValue metric_add(MetricValue a, MetricValue b);
MetricValue metric_multiply(MetricValue a, MetricValue b);
MetricValue metric_divide(MetricValue a, MetricValue b);

/* Sum of all rows, and the score of it. `sums` has width numbers. */
void metric_sum(const MetricRows *metric, double *sums);
double metric_corpus_score(const MetricRows *metric);

#define METRIC_MAX_WIDTH 256

#endif
