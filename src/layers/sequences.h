/* sequences.h - sentences of different lengths in one matrix, without padding: which row is which token.
 *
 * There are two orders of rows. `Sequences` holds sentence after sentence, for layers that read all tokens
 * at once. `PackedSequence` holds time step after time step, for recurrence. It ranks sentences by length,
 * longest first, so the sentences that still run at a step are the first ranks. sequences_steps maps one
 * order to the other.
 * Three sentences a, b and c of 2, 4 and 1 tokens:
 *
 *     Sequences  row       0  1 | 2  3  4  5 | 6         start  = 0 2 6 7
 *                token     a0 a1  b0 b1 b2 b3  c0        length = 2 4 1
 *
 *     PackedSequence     rank  t=0   t=1   t=2   t=3             rank   = 1 0 2   of a, b, c
 *                0     b0 0  b1 3  b2 5  b3 6            order  = b a c
 *                1     a0 1  a1 4                        offset = 0 3 5 6 7
 *                2     c0 2                              the number after a token is its row
 *
 * Shapes  Sequences: sentence b owns rows start[b] .. start[b + 1] - 1, its tokens in order
 *         PackedSequence: step t owns rows offset[t] .. offset[t + 1] - 1, in rank order
 * Owner   everything lives on the tape
 */
#ifndef LAYERS_SEQUENCES_H
#define LAYERS_SEQUENCES_H

#include "autograd/ops.h"

typedef struct {
    int B, rows;
    const int *length;   /* [B], at least 1 */
    const int *start;    /* [B + 1] */
    const int *sentence; /* [rows] the sentence of a row ... */
    const int *position; /* [rows] ... and its position there, from 0 */
    const uint32_t
        *row_keys; /* [rows] keys of dropout masks: functions of the sentence's number and the position */
} Sequences;

/* `number` [B]: the numbers of the sentences, on which their dropout masks depend; NULL: no dropout. `side`
 * distinguishes sequences of the same sentences, such as source and target. */
const Sequences *sequences_new(Tape *tape, const int *lengths, int B, const uint32_t *number, uint32_t side);

/* Each row attends to its whole sentence or, if causal, to the rows up to itself. */
const Spans *sequences_spans(Tape *tape, const Sequences *sequences, bool causal);
/* Each row attends to the rows before it in its sentence; the first row has an empty span. */
const Spans *sequences_spans_before(Tape *tape, const Sequences *sequences);

typedef struct {
    int B, rows, steps;
    const int *rank;          /* [B] of sentence b */
    const int *order;         /* [B] sentence of rank r */
    const int *length;        /* [B] of sentence b, at least 1 */
    const int *offset;        /* [steps + 1] */
    const uint32_t *row_keys; /* [B] of rank r: for dropout masks that are the same at all steps; or NULL */
} PackedSequence;

PackedSequence *packed_sequence_new(Tape *tape, const int *lengths, int B);
static inline int packed_sequence_row(const PackedSequence *packed, int sentence, int step) {
    return packed->offset[step] + packed->rank[sentence];
}
static inline int packed_sequence_batch_size(const PackedSequence *packed, int step) {
    return packed->offset[step + 1] - packed->offset[step];
}

/* The map between the rows of sequences and the rows of a PackedSequence. */
typedef struct {
    const PackedSequence *packed;
    const int *from_packed;   /* [rows] the row of the sequences for each packed row */
    const int *to_packed;     /* [rows] the packed row for each row of the sequences */
    const uint32_t *row_keys; /* [rows] of the packed rows */
} SequenceSteps;
SequenceSteps sequences_steps(Tape *tape, const Sequences *sequences);

#endif
