/* training_data.h - the tokenizers of a run, its training pairs and its validation pairs. */
#ifndef TRAIN_TRAINING_DATA_H
#define TRAIN_TRAINING_DATA_H

#include "config/config.h"
#include "data/corpus.h"

/* The caller frees all fields, also after a failure. */
typedef struct {
    Tokenizer *source, *target; /* the same object if there is one vocabulary */
    Corpus train, valid;
    Corpus general; /* of data.general; empty without */
} TrainingData;

/* Check that the files exist, and learn the tokenizers from them unless `data` has both. */
Status training_data_learn(TrainingData *data, const Config *config, Workers *workers);
/* Read both corpora with the tokenizers. */
Status training_data_read(TrainingData *data, const Config *config, Workers *workers);

/* Write the texts of the training or validation pairs, including those that are too long: TSV
 * (pair_join, or pair_join_escaped if the texts can have line ends) with the names of the languages in the
 * first line. */
Status training_data_write(const DataOptions *data, bool training, const char *path);

#endif
