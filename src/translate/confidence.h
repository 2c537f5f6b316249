/* confidence.h - how sure a model is of a translation, from 0 to 1, word by word.
 *
 * p of a word is the geometric mean of its tokens' probabilities. Without a calibration that is its
 * confidence, and a sentence's is the geometric mean over all of its tokens and </s>.
 *
 * A calibration says how often a word of that p is right: of the model's own greedy translations of the
 * validation data, each word is looked up in the reference translation (each word of which serves once), and
 * a logistic curve over logit p is fitted (Platt 1999, with his smoothed targets). A word's confidence then
 * is the probability that a reference has it too; a sentence's is the mean of its words', the share of them
 * that a reference can be expected to have.
 */
#ifndef TRANSLATE_CONFIDENCE_H
#define TRANSLATE_CONFIDENCE_H

#include "translate/translation.h"

typedef struct {
    double slope, offset; /* confidence = 1 / (1 + exp(-(slope logit p + offset))) */
    long words;           /* it was fitted to; 0: there is no calibration */
} Calibration;

/* What a calibration is fitted to; zeroed at first. */
typedef struct {
    double *logits; /* [count] */
    bool *right;    /* [count] */
    size_t count, logits_capacity, right_capacity;
} CalibrationWords;

/* Add the words of one translation; it must have scores. */
void calibration_add(CalibrationWords *words, const Tokenizer *target, const Hypothesis *found,
                     Tokens reference);
/* Releases the words. None if fewer than ten of them are right, or wrong. */
Calibration calibration_fit(CalibrationWords *words);
/* As the member "calibration" of a model file's provenance, and back: none if it is not there. */
void calibration_write_json(const Calibration *calibration, StrBuf *out);
Calibration calibration_read(StrView provenance);

/* Confidence of each word [item->words] and of the whole. */
double confidence_of(const Calibration *calibration, const TranslationItem *item, double *words);

#endif
