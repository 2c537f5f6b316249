/* validate.h - how good the model is on the validation data: loss, perplexity, and BLEU and chrF of
 * greedy translations.
 *
 * The numbers do not depend on the number of threads, nor on that of ranks (comm.h), which share the work.
 */
#ifndef TRAIN_VALIDATE_H
#define TRAIN_VALIDATE_H

#include "base/workers.h"
#include "translate/confidence.h"
#include "models/seq2seq.h"
#include "data/corpus.h"

typedef struct {
    double loss;             /* mean -log p per target token with </s>, without label smoothing */
    double bleu;             /* 0..100 */
    double chrf;             /* 0..100; NAN unless train.stop_on asks for it */
    Calibration calibration; /* of the words of the translations */
    char **hypotheses;       /* [count] */
    int count;               /* 0 on other ranks than the first, which have no calibration either */
} ValidationScore;

/* `corpus` was read with its text. Translates the first `config.train.valid_limit` pairs (0 = all). Release
 * the score with validate_free. Says in the log how far it is, from time to time. */
ValidationScore validate_model(const Seq2Seq *model, const Corpus *corpus, const Config *config,
                               Workers *workers);
void validate_free(ValidationScore *score);
/* The loss of a whole corpus, without gradients and without label smoothing. */
BatchLoss validate_loss(const Seq2Seq *model, const Corpus *corpus, Workers *workers);

#endif
