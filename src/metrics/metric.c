/* metric.c - arithmetic with remembered precision, and sums over segments. */
#include "metrics/metric.h"

#include <assert.h>

MetricValue metric_exact(double value) { return (MetricValue){value, false}; }

static MetricValue rounded(double value, bool single) {
    return (MetricValue){single ? (double)(float)value : value, single};
}

/* Single precision takes part as such: the other operand is rounded first. A double result of two floats rounds to
 * the same float as the operation in single precision would give. */
static double operand(MetricValue a, bool single) { return single ? (double)(float)a.value : a.value; }

MetricValue metric_add(MetricValue a, MetricValue b) {
    bool single = a.single || b.single;
    return rounded(operand(a, single) + operand(b, single), single);
}

MetricValue metric_multiply(MetricValue a, MetricValue b) {
    bool single = a.single || b.single;
    return rounded(operand(a, single) * operand(b, single), single);
}

MetricValue metric_divide(MetricValue a, MetricValue b) {
    bool single = a.single || b.single;
    return rounded(operand(a, single) / operand(b, single), single);
}

void metric_sum(const MetricRows *metric, double *sums) {
    size_t width = (size_t)metric->width;
    for (size_t j = 0; j < width; j++) sums[j] = 0;
    for (size_t i = 0; i < metric->count; i++)
        for (size_t j = 0; j < width; j++) sums[j] += metric->rows[i * width + j];
}

double metric_corpus_score(const MetricRows *metric) {
    double sums[METRIC_MAX_WIDTH];
    assert(metric->width <= METRIC_MAX_WIDTH);
    metric_sum(metric, sums);
    return metric->score(metric->options, sums, METRIC_EXACT).value;
}
