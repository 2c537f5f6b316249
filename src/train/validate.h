/* validate.h - how good the model is on the validation data: loss, perplexity, and BLEU of greedy translations. */
#ifndef TRAIN_VALIDATE_H
#define TRAIN_VALIDATE_H

#include "base/workers.h"
#include "models/seq2seq.h"
#include "text/corpus.h"

typedef struct {
    double loss;       /* mean -log p per target token with </s>, without label smoothing */
    double bleu;       /* 0..100 */
    char **hypotheses; /* [count] */
    int count;
} ValidationScore;

/* `corpus` was read with its text. Translates the first `config.train.valid_limit` pairs (0 = all). */
Status validate_model(const Seq2Seq *model, const Corpus *corpus, const Config *config, Workers *workers,
                      ValidationScore *score);
void validate_free(ValidationScore *score);

#endif
