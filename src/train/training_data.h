/* training_data.h - what a run learns from, and is judged by: read from the files of sentence pairs, or from
 * the cache that the last start left.
 */
#ifndef TRAIN_TRAINING_DATA_H
#define TRAIN_TRAINING_DATA_H

#include "models/config.h"
#include "text/corpus_cache.h"

/* Segmenters that are there already stay; others are learned. `dir`: where the cache is by default. Whoever
 * calls frees all, also after a failure. */
Status training_data_read(CorpusData *data, const Config *config, const char *dir, Workers *workers);

typedef enum { TRAINING_PAIRS, VALIDATION_PAIRS } TrainingPairs;

/* Write the texts of these pairs, before those that are too long are left out: TSV, whose first line has the
 * names of the languages. A TAB in a text becomes a space. */
Status training_data_write(const DataOptions *data, TrainingPairs which, const char *path);

#endif
