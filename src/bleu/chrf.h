/* chrf.h - chrF, an F-score of character n-grams, and chrF++ with word n-grams, as in sacreBLEU 2.x.
 * Popovic 2015, 2017
 *
 * The statistics of a segment are three whole numbers per order: n-grams of the hypothesis, of the reference,
 * and in both. Orders of characters come first, then orders of words. Of several references, the one with the
 * best score of the segment counts.
 */
#ifndef BLEU_CHRF_H
#define BLEU_CHRF_H

#include "bleu/metric.h"

typedef struct {
    int char_order, word_order; /* 6 and 0; word order 2 is chrF++; their sum is 1 to 80 */
    int beta;                   /* weight of recall, 2 */
    bool lowercase;
    bool whitespace;    /* count white space among the characters */
    bool eps_smoothing; /* average the F-scores of all orders, with 1e-16 for orders without n-grams */
} ChrfOptions;

#define CHRF_DEFAULTS ((ChrfOptions){.char_order = 6, .beta = 2})

/* Corpus chrF with one reference per line, for training logs. 0..100. */
double chrf_corpus_simple(const StrView *hypotheses, const StrView *references, size_t count, bool lowercase);

#endif
