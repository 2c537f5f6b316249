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

/* Write the texts of the pairs to train or to validate on, before those that are too long are left out: TSV
 * (pair_join), whose first line has the names of the languages. */
Status training_data_write(const DataOptions *data, bool training, const char *path);

#endif
