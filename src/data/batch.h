/* batch.h - which sentence pairs go together, and in which order, in one epoch.
 *
 * All pairs are shuffled by (seed, epoch), sorted by length inside windows of `window` batches, cut into
 * batches, and the batches are shuffled again: sentences of one batch are alike in length, and the order is
 * still random.
 * Units   a batch holds `size` sentences, or as many as fit into `size` target tokens (each with its </s>)
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
