/* shards.h - the gradient of a batch, computed in parts by several threads.
 *
 * A batch is dealt out to a fixed number of shards like cards, longest sentences first, so that all have
 * equal work. Each shard has its own gradient block; which thread runs it changes nothing in the result. A
 * large shard goes through in pieces one after the other, so that memory does not grow with the batch.
 *
 * Owner   Shards owns tapes and gradient blocks
 */
#ifndef TRAIN_SHARDS_H
#define TRAIN_SHARDS_H

#include "base/workers.h"
#include "models/seq2seq.h"
#include "text/corpus.h"
#include "train/profiler.h"

typedef struct Shards Shards;

Shards *shards_new(const Seq2Seq *model, const Corpus *corpus, int count, Workers *workers);
void shards_free(Shards *shards);
void shards_profile(Shards *shards, Profiler *profiler); /* from now on tell it what goes on; NULL: nobody */
real *const *shards_gradients(const Shards *shards);     /* [count] blocks, added to by shards_run */
/* From now on these models teach (teachers.h), with that share of the loss; `models` must live as long. They
 * are at most as many as at the first call that has any. */
void shards_teach(Shards *shards, const Seq2Seq *const *models, int count, double share);
/* Add scale * gradient of the loss of these pairs; seed_update as in TrainingBatch. */
BatchLoss shards_run(Shards *shards, const int *pairs, int count, uint64_t seed_update,
                     double label_smoothing, double scale);

/* These pairs of the corpus as a batch for the model; its arrays live on the tape. */
TrainingBatch shard_batch(Tape *tape, const Corpus *corpus, const int *pairs, int count,
                          uint64_t seed_update);
void batch_loss_add(BatchLoss *sum, BatchLoss part);

#endif
