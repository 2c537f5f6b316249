/* training_data.h - the sentence pairs of a run: those it learns from, and those that validate. */
#ifndef TRAIN_TRAINING_DATA_H
#define TRAIN_TRAINING_DATA_H

#include "config/config.h"
#include "data/corpus.h"

/* The caller frees all of it, also after a failure. A corpus without pairs is not read yet. */
typedef struct {
    Tokenizer *source, *target; /* the same object if there is one vocabulary */
    Corpus train, valid;
} TrainingData;

/* Check that the files are there, and learn the tokenizers from them unless both are there already. */
Status training_data_learn(TrainingData *data, const Config *config, Workers *workers);
/* Read both corpora with the tokenizers. */
Status training_data_read(TrainingData *data, const Config *config, Workers *workers);

/* Write the texts of the pairs to train or to validate on, before those that are too long are left out: TSV
 * (pair_join), whose first line has the names of the languages. */
Status training_data_write(const DataOptions *data, bool training, const char *path);

#endif
