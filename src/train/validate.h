/* validate.h - how good the model is on the validation data: loss, perplexity, and BLEU and chrF of
 * greedy translations.
 *
 * The numbers do not depend on the number of threads and processes (distributed/group.h) that share the work.
 */
#ifndef TRAIN_VALIDATE_H
#define TRAIN_VALIDATE_H

#include "base/workers.h"
#include "postprocess/calibration.h"
#include "models/seq2seq.h"
#include "data/corpus.h"

typedef struct {
    double loss;             /* mean -log p per target token with </s>, without label smoothing */
    double bleu;             /* 0..100 */
    double chrf;             /* 0..100; NAN unless train.stop_on asks for it */
    Calibration calibration; /* of the words of the translations */
    char **hypotheses;       /* [count] */
    int count;               /* 0 in other processes than the root, which have no calibration either */
} ValidationScore;

/* Translates the first `config.train.valid_limit` pairs (0 = all) of a corpus that was read with its text.
 * Logs its progress. Release the score with validation_score_free. */
ValidationScore validate_model(const Seq2Seq *model, const Corpus *corpus, const Config *config,
                               Workers *workers);
void validation_score_free(ValidationScore *score);
/* The loss of a whole corpus, without gradients and without label smoothing. */
BatchLoss validate_loss(const Seq2Seq *model, const Corpus *corpus, Workers *workers);

#endif
