/* sequences.h - which row of a matrix is which token: sentence after sentence, without padding.
 *
 * Shapes  sentence b owns rows start[b] .. start[b + 1] - 1, its tokens in order
 * Owner   lives on the tape
 */
#ifndef LAYERS_SEQUENCES_H
#define LAYERS_SEQUENCES_H

#include "layers/packed.h"
#include "num/ops.h"

typedef struct {
    int B, rows, longest;
    const int *length;   /* [B], at least 1 */
    const int *start;    /* [B + 1] */
    const int *sentence; /* [rows] the sentence of a row ... */
    const int *position; /* [rows] ... and its place there, from 0 */
    const uint32_t
        *row_keys; /* [rows] keys of dropout masks: functions of the sentence's number and the place */
} Sequences;

/* `number` [B]: what the dropout masks of a sentence depend on, or NULL when nothing is dropped; `side` tells sequences of the same
 * sentences apart. */
const Sequences *sequences_new(Tape *tape, const int *lengths, int B, const uint32_t *number, uint32_t side);

/* Each row looks at its whole sentence, or only as far as itself. */
const Spans *sequences_spans(Tape *tape, const Sequences *sequences, bool causal);

/* The same rows in the order of time steps, for recurrence. */
typedef struct {
    const Packed *packed;
    const int *row;           /* [rows] of the sequences, for each packed row */
    const int *place;         /* [rows] the packed row of each row of the sequences */
    const uint32_t *row_keys; /* [rows] of the packed rows */
} SequenceSteps;
SequenceSteps sequences_steps(Tape *tape, const Sequences *sequences);

#endif
