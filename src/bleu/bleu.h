/* bleu.h - BLEU: n-gram precision of translations against references, as sacreBLEU 2.x computes it.
 * Papineni et al. 2002; Chen and Cherry 2014 (smoothing); Post 2018 (sacreBLEU)
 *
 * The statistics of a segment are ten whole numbers: its length, the closest reference length, the matches
 * and the n-grams of orders 1-4. The corpus score is computed from their sums.
 *
 * Units   scores and precisions 0..100, the score of Dive into Deep Learning 0..1
 * Owner   text is borrowed during a call
 * Fails   never; text should be valid UTF-8
 */
#ifndef BLEU_BLEU_H
#define BLEU_BLEU_H

#include "bleu/metric.h"
#include "sentencepiece/sentencepiece.h"

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
    int tokenizer;         /* as of bleu_tokenizer_name */
    char *spm;             /* file of `pieces` */
    SentencePiece *pieces; /* read by `check_options`; the caller frees it */
    bool lowercase;
    int smoothing;        /* BleuSmoothing */
    double smooth_value;  /* of floor and add-k; below 0: the defaults 0.1 and 1 */
    bool effective_order; /* ignore orders longer than the hypothesis: for single sentences */
    bool force;           /* no warning about input that looks tokenized or has no spaces */
    int d2l;              /* k of METRIC_BLEU_D2L */
} BleuOptions;

typedef struct {
    double score;
    double precisions[BLEU_ORDER];
    double brevity_penalty;
    double length, reference_length;
} BleuScore;

BleuScore bleu_score(const BleuOptions *options, const double sums[BLEU_WIDTH]);

/* Corpus BLEU with one reference per line and exponential smoothing, for training logs. */
double bleu_corpus_simple(const StrView *hypotheses, const StrView *references, size_t count, int tokenizer,
                          bool lowercase);

/* bleu(prediction, label, k) of Dive into Deep Learning, eq. 10.7.4, on tokens between spaces: the mean over
 * lines, each with its best reference. Its options are BleuOptions. */
extern const Metric METRIC_BLEU_D2L;

#endif
