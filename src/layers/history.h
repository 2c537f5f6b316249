/* history.h - keys and values of earlier steps of self-attention, and which of them belong to which row.
 *
 * What a step made stays where it is. Each row remembers by which row of every step it came, so that a hypothesis is copied, moved or dropped
 * for the price of a few numbers, and rows that share a beginning share its memory.
 *
 * Shapes  a step has rows of its own; path[r, t] is the row of step t that row r came by
 * Owner   the lists live on the tape of the call; what a step made, on a tape that outlives all of them
 */
#ifndef LAYERS_HISTORY_H
#define LAYERS_HISTORY_H

#include "num/ops.h"

typedef struct {
    real *keys, *values; /* [rows of the step, size] of one block */
} StepMemory;

typedef struct {
    int steps, rows;
    const StepMemory *const *step; /* [steps] for each an array of one per block */
    const int *path;               /* [rows, steps] */
} History;

/* Memory for one more step of `blocks` blocks, on `tape`. */
StepMemory *history_step_new(Tape *tape, int blocks, int rows, int size);
/* The history with `now` behind it: row r came by row r of it. */
History history_append(Tape *tape, const History *history, const StepMemory *now, int rows);
/* Row i becomes what was row index[i]. */
History history_select(Tape *tape, const History *history, const int *index, int rows);
/* The keys or values of one block, row after row, each from its first step to its last. */
const real *const *history_rows(Tape *tape, const History *history, int block, bool values, int size);

#endif
