/* batch.h - the batches of one epoch, and their order.
 *
 * Pairs are shuffled by (seed, epoch), sorted by length within windows of `window` batches, and cut into
 * batches, which are shuffled again. So the sentences of a batch have similar lengths, and the order is
 * random.
 * Units   a batch has `size` sentences, or the sentences that fit into `size` target tokens (</s> included)
 */
#ifndef DATA_BATCH_H
#define DATA_BATCH_H

#include <stdint.h>
#include "data/corpus.h"

typedef enum { BATCH_SENTENCES, BATCH_TOKENS } BatchUnit;
#define BATCH_CHOICES "sentences|tokens"

typedef struct {
    int count;  /* batches */
    int *start; /* [count + 1] into pairs */
    int *pairs; /* [corpus count] pair numbers, batch after batch */
} BatchPlan;

BatchPlan *batch_plan_new(const Corpus *corpus, BatchUnit unit, int size, int window, uint64_t seed,
                          int epoch, Workers *workers);
void batch_plan_free(BatchPlan *plan);

#endif
