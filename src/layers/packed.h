/* packed.h - sequences of different lengths without padding.
 *
 * Sentences are ranked by length, longest first. The rows of a packed tensor are time step 0 of all sentences, then step 1 of
 * those that are still running, and so on: step t owns rows offset[t] .. offset[t + 1] - 1, in rank order.
 */
#ifndef LAYERS_PACKED_H
#define LAYERS_PACKED_H

#include "num/tape.h"

typedef struct {
    int B, rows, steps;
    const int *rank;   /* [B] of sentence b */
    const int *order;  /* [B] sentence of rank r */
    const int *length; /* [B] of sentence b, at least 1 */
    const int *offset; /* [steps + 1] */
} Packed;

Packed *packed_new(Tape *tape, const int *lengths, int B);
static inline int packed_row(const Packed *packed, int sentence, int step) {
    return packed->offset[step] + packed->rank[sentence];
}
static inline int packed_running(const Packed *packed, int step) {
    return packed->offset[step + 1] - packed->offset[step];
}

#endif
