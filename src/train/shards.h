/* shards.h - the gradient of an update, computed in parts by several threads.
 *
 * An update has one or more micro-batches (train.accumulate). The sentences of each are sorted and assigned
 * to its parts in snake order, so that all parts have equal work. Configuration and batch decide what the
 * parts are. Parts have numbers, and sums have a fixed order, so the result does not depend on which thread
 * runs which part.
 *
 * A part has about 60 tokens and a tape of its own. A thread runs several parts side by side
 * (autograd/tapes.h), so a step of few sentences costs little more than one of many. The weight gradients of
 * all parts are added afterwards, slice by slice (autograd/gradients.h): those of a shard, about 1,000
 * tokens, in order, and the shards in a tree (sum_tree.h). One gradient block per part instead would cost 10
 * % of the time with 8 parts and 15 % with 16. A batch of configs/multi30k.json has 32 parts in 2 or 4
 * shards. On two threads that takes as long as 2 parts, on one thread up to 3 % longer.
 *
 * Each process of a group (distributed/group.h) runs a range of the shards. The loss is that of all shards,
 * the gradients are those of the range.
 *
 * Owner   Shards owns tapes and gradient blocks
 */
#ifndef TRAIN_SHARDS_H
#define TRAIN_SHARDS_H

#include "base/workers.h"
#include "models/seq2seq.h"
#include "data/corpus.h"
#include "distributed/sum_tree.h"

typedef struct Shards Shards;

typedef struct {
    int shards, parts; /* of a batch; each shard has the same number of parts */
} ShardPlan;

/* For a batch of this many sentences with `rows` source and target tokens, both </s> included. */
ShardPlan shards_plan(int sentences, long rows);
Shards *shards_new(const Seq2Seq *model, const Corpus *corpus, Workers *workers);
void shards_free(Shards *shards);
/* Frees the memory of the last pass, until the next shards_run: validation needs as much. */
void shards_release_tapes(Shards *shards);
/* The gradients that shards_run computed. The next shards_run needs zeros there (optimizer.h). */
PartialSums shards_gradients(Shards *shards);

/* Pairs of the corpus that go through the model together. */
typedef struct {
    const int *pairs; /* [count] */
    int count;
    uint64_t seed_update; /* as in TrainingBatch */
} MicroBatch;

/* Computes scale * gradient of the loss of these batches; returns the sum of their losses. */
BatchLoss shards_run(Shards *shards, const MicroBatch *batches, int count, double label_smoothing,
                     double scale);

/* The tokens of a micro-batch, in arrays that live on the tape. */
TrainingBatch micro_batch_collate(const MicroBatch *batch, const Corpus *corpus, Tape *tape);
void batch_loss_add(BatchLoss *sum, BatchLoss part);

#endif
