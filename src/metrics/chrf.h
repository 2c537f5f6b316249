/* chrf.h - chrF, an F-score of character n-grams, and chrF++ with word n-grams, as sacreBLEU 2.x computes them.
 * Popovic 2015, 2017
 *
 * A segment gives three whole numbers per order (n-grams of the hypothesis, of the reference, in both), characters
 * first, then words. With several references the one with the best score of the segment counts.
 *
 * Units   scores 0..100
 * Owner   a Chrf owns only scratch memory; text is borrowed during a call
 * Fails   never; text should be valid UTF-8
 */
#ifndef METRICS_CHRF_H
#define METRICS_CHRF_H

#include "base/strview.h"
#include "metrics/metric.h"

#define CHRF_MAX_ORDER 80 /* of characters and words together: three columns each */

typedef struct {
    int char_order, word_order; /* 6 and 0; word order 2 makes it chrF++ */
    int beta;                   /* weight of recall, 2 */
    bool lowercase;
    bool whitespace;    /* count white space among the characters */
    bool eps_smoothing; /* average the F-scores of all orders, with 1e-16 for what is not there */
} ChrfOptions;

#define CHRF_DEFAULTS ((ChrfOptions){.char_order = 6, .beta = 2})

int chrf_width(const ChrfOptions *options); /* columns of a row: 3 per order */

typedef struct Chrf Chrf;
Chrf *chrf_new(const ChrfOptions *options);
void chrf_free(Chrf *chrf);
/* Statistics of one segment. A reference with NULL data is absent; at least one must be there. */
void chrf_count(Chrf *chrf, StrView hypothesis, const StrView *references, size_t reference_count, int *row);

/* A MetricScore; `options` is a ChrfOptions. */
MetricValue chrf_metric_score(const void *options, const double *sums, MetricArithmetic arithmetic);

#endif
