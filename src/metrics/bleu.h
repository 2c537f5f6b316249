/* bleu.h - BLEU, the agreement of n-grams between translations and references, as sacreBLEU 2.x computes it.
 * Papineni et al. 2002; Chen and Cherry 2014 (smoothing); Post 2018 (sacreBLEU)
 *
 * A segment gives ten whole numbers: length, closest reference length, matches of order 1-4, n-grams of order 1-4.
 * The corpus score is computed from their sums.
 *
 * Units   scores and precisions 0..100, the textbook's score 0..1
 * Owner   a Bleu owns only scratch memory; text is borrowed during a call
 * Fails   never; text should be valid UTF-8
 */
#ifndef METRICS_BLEU_H
#define METRICS_BLEU_H

#include "base/strview.h"
#include "metrics/metric.h"
#include "metrics/tok13a.h"

#define BLEU_ORDER 4

/* Columns of a row of statistics. */
enum {
    BLEU_LENGTH,
    BLEU_REFERENCE_LENGTH,
    BLEU_CORRECT,
    BLEU_TOTAL = BLEU_CORRECT + BLEU_ORDER,
    BLEU_WIDTH = 10
};

typedef enum { BLEU_SMOOTH_EXP, BLEU_SMOOTH_FLOOR, BLEU_SMOOTH_ADD_K, BLEU_SMOOTH_NONE } BleuSmoothing;
#define BLEU_SMOOTHING_CHOICES "exp|floor|add-k|none"

typedef struct {
    BleuTokenizer tokenizer;
    bool lowercase;
    BleuSmoothing smoothing;
    double smooth_value;  /* of floor and add-k; bleu_default_smooth_value gives the usual ones */
    bool effective_order; /* stop at the highest order that the hypothesis has: for single sentences */
} BleuOptions;

typedef struct {
    double score;
    double precisions[BLEU_ORDER];
    double brevity_penalty;
    double length, reference_length;
} BleuScore;

double bleu_default_smooth_value(BleuSmoothing smoothing); /* floor 0.1, add-k 1 */

typedef struct Bleu Bleu;
Bleu *bleu_new(const BleuOptions *options);
void bleu_free(Bleu *bleu);
/* Statistics of one segment. A reference with NULL data is absent; at least one must be there. */
void bleu_count(Bleu *bleu, StrView hypothesis, const StrView *references, size_t reference_count,
                int row[BLEU_WIDTH]);

BleuScore bleu_score(const BleuOptions *options, const double sums[BLEU_WIDTH], MetricArithmetic arithmetic);
/* The same as a MetricScore; `options` is a BleuOptions. */
MetricValue bleu_metric_score(const void *options, const double *sums, MetricArithmetic arithmetic);

/* Corpus BLEU with one reference per line and exponential smoothing: what a training log shows. */
double bleu_corpus_simple(const StrView *hypotheses, const StrView *references, size_t count,
                          BleuTokenizer tokenizer, bool lowercase);

/* The textbook's bleu(prediction, label, k) on tokens between single spaces: Dive into Deep Learning, 10.7.6. */
double bleu_d2l(StrView prediction, StrView label, int k);

#endif
