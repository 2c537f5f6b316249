/* shards.h - the gradient of an update, computed in parts by several threads.
 *
 * The sentences of a batch are dealt to its parts like cards, longest first, so that all have equal work.
 * What the parts are follows from configuration and batch, what threads do from who is free: parts have
 * numbers, and sums have a fixed order, so which thread runs what changes nothing in the result.
 *
 * A part is about 60 tokens on a tape of its own. A thread runs its parts side by side (autograd/tapes.h), so
 * a step of few sentences costs little more than one of many. The weight gradients of all parts are added
 * afterwards, slice by slice (autograd/gradients.h): those of a shard, about 1,000 tokens, in order, and the
 * shards in a tree (sum_tree.h). A gradient block for each part would cost 10 % of the time with 8 parts and
 * 15 % with 16. A batch of configs/multi30k.json has 32 parts in 2 or 4 shards. On two threads that takes as
 * long as 2 parts, on one thread up to 3 % longer.
 *
 * Of several ranks (comm.h) each runs its share of the shards; the loss is that of all, the gradients are
 * those of the share.
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

/* For a batch of this many sentences with `rows` source and target tokens, </s> counted. */
ShardPlan shards_plan(int sentences, long rows);
Shards *shards_new(const Seq2Seq *model, const Corpus *corpus, Workers *workers);
void shards_free(Shards *shards);
SumRest shards_gradients(Shards *shards); /* what shards_run left; zeros are wanted back (optimizer.h) */
/* One of the batches whose gradients make an update; seed_update as in TrainingBatch. */
typedef struct {
    const int *pairs;
    int count;
    uint64_t seed_update;
} ShardBatch;

/* scale * gradient of the loss of these batches; the loss is their sum. */
BatchLoss shards_run(Shards *shards, const ShardBatch *batches, int count, double label_smoothing,
                     double scale);

/* These pairs of the corpus as a batch, whose arrays live on the tape. */
TrainingBatch shard_batch(Tape *tape, const Corpus *corpus, const int *pairs, int count,
                          uint64_t seed_update);
void batch_loss_add(BatchLoss *sum, BatchLoss part);

#endif
