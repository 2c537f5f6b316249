/* calibration.h - the confidence of a model in a translation, from 0 to 1, word by word.
 *
 * p of a word is the geometric mean of its tokens' probabilities. Without a calibration p is the word's
 * confidence, and a sentence's confidence is the geometric mean over all of its tokens and </s>.
 *
 * A calibration maps p to the frequency of correct words: training translates the validation data greedily
 * and looks up each word in the reference translation (each reference word matches once); then it fits a
 * logistic curve over logit p (Platt 1999, with his smoothed targets). A word's confidence is the
 * probability that a reference contains it, too; a sentence's confidence is the mean over its words, the
 * expected fraction of them in a reference.
 */
#ifndef POSTPROCESS_CALIBRATION_H
#define POSTPROCESS_CALIBRATION_H

#include "postprocess/translation.h"

typedef struct {
    double slope, offset; /* confidence = 1 / (1 + exp(-(slope logit p + offset))) */
    long words;           /* words that it was fitted to; 0: there is no calibration */
} Calibration;

/* The words to fit a calibration to. A zeroed one is empty. */
typedef struct {
    double *logits; /* [count] logit p */
    bool *right;    /* [count] the reference contains the word */
    size_t count, logits_capacity, right_capacity;
} CalibrationWords;

/* Adds the words of one translation, which must have scores. */
void calibration_add(CalibrationWords *words, const Tokenizer *target, const Hypothesis *hypothesis,
                     Tokens reference);
/* Releases the words. There is no calibration if fewer than ten of them are right, or wrong. */
Calibration calibration_fit(CalibrationWords *words);
/* The member "calibration" of a model file's provenance: writes its value, and reads it from the provenance;
 * none if it is missing. */
void calibration_write_json(const Calibration *calibration, StrBuf *out);
Calibration calibration_read(StrView provenance);

/* The confidence of each word, into words [item->words]; returns that of the whole item. */
double calibration_confidence(const Calibration *calibration, const TranslationItem *item, double *words);

#endif
