/* sequences.c - numbering the tokens of a batch, sentence after sentence or step after step. */
#include "layers/sequences.h"

#include <assert.h>
#include <string.h>
#include "base/rng.h"

const Sequences *sequences_new(Tape *tape, const int *lengths, int B, const uint32_t *number, uint32_t side) {
    Sequences *s = tape_alloc(tape, sizeof *s);
    int *length = tape_alloc(tape, (size_t)B * sizeof *length),
        *start = tape_alloc(tape, ((size_t)B + 1) * sizeof *start);
    *s = (Sequences){.B = B, .length = length, .start = start};
    memcpy(length, lengths, (size_t)B * sizeof *length);
    for (int b = 0; b < B; b++) {
        start[b] = s->rows;
        s->rows += lengths[b];
    }
    start[B] = s->rows;
    int *sentence = tape_alloc(tape, 2 * (size_t)s->rows * sizeof *sentence), *position = sentence + s->rows;
    uint32_t *keys = tape_alloc(tape, (size_t)s->rows * sizeof *keys);
    for (int b = 0; b < B; b++)
        for (int t = 0; t < length[b]; t++) {
            sentence[start[b] + t] = b;
            position[start[b] + t] = t;
            keys[start[b] + t] = number ? (uint32_t)rng_key(number[b], (uint64_t)t, 0x9E37u, 0) ^ side : 0;
        }
    s->sentence = sentence;
    s->position = position;
    s->row_keys = keys;
    return s;
}

const Spans *sequences_spans(Tape *tape, const Sequences *s, bool causal) {
    int *first = tape_alloc(tape, 2 * (size_t)s->rows * sizeof *first), *length = first + s->rows;
    for (int r = 0; r < s->rows; r++) {
        first[r] = s->start[s->sentence[r]];
        length[r] = causal ? s->position[r] + 1 : s->length[s->sentence[r]];
    }
    return spans_new(tape, first, length, s->rows);
}

const Spans *sequences_spans_before(Tape *tape, const Sequences *s) {
    int *first = tape_alloc(tape, (size_t)s->rows * sizeof *first);
    for (int r = 0; r < s->rows; r++) first[r] = s->start[s->sentence[r]];
    return spans_new(tape, first, s->position, s->rows);
}

/* Ranks sentences by length with a stable counting sort. */
PackedSequence *packed_sequence_new(Tape *tape, const int *lengths, int B) {
    PackedSequence *p = tape_alloc(tape, sizeof *p);
    int longest = 0, rows = 0;
    for (int b = 0; b < B; b++) {
        assert(lengths[b] > 0);
        if (lengths[b] > longest) longest = lengths[b];
        rows += lengths[b];
    }
    int *length = tape_alloc(tape, (size_t)B * sizeof *length),
        *rank = tape_alloc(tape, (size_t)B * sizeof *rank);
    int *order = tape_alloc(tape, (size_t)B * sizeof *order);
    int *offset = tape_alloc(tape, ((size_t)longest + 2) * sizeof *offset);
    memcpy(length, lengths, (size_t)B * sizeof *length);

    /* running[t] = the number of sentences longer than t, which is also the first rank of length t. */
    int *running = tape_alloc(tape, ((size_t)longest + 2) * sizeof *running);
    memset(running, 0, ((size_t)longest + 2) * sizeof *running);
    for (int b = 0; b < B; b++) running[length[b]]++;
    int longer = 0;
    for (int t = longest; t >= 0; t--) {
        int here = running[t];
        running[t] = longer;
        longer += here;
    }
    offset[0] = 0;
    for (int t = 0; t < longest; t++) offset[t + 1] = offset[t] + running[t];
    for (int b = 0; b < B; b++) {
        rank[b] = running[length[b]]++;
        order[rank[b]] = b;
    }
    *p = (PackedSequence){.B = B,
                          .rows = rows,
                          .steps = longest,
                          .rank = rank,
                          .order = order,
                          .length = length,
                          .offset = offset};
    return p;
}

SequenceSteps sequences_steps(Tape *tape, const Sequences *s) {
    PackedSequence *packed = packed_sequence_new(tape, s->length, s->B);
    int *from_packed = tape_alloc(tape, 2 * (size_t)s->rows * sizeof *from_packed),
        *to_packed = from_packed + s->rows;
    uint32_t *keys = tape_alloc(tape, (size_t)s->rows * sizeof *keys);
    for (int r = 0; r < s->rows; r++) {
        to_packed[r] = packed_sequence_row(packed, s->sentence[r], s->position[r]);
        from_packed[to_packed[r]] = r;
        keys[to_packed[r]] = s->row_keys[r];
    }
    packed->row_keys = keys; /* the first step has a row for each rank */
    return (SequenceSteps){packed, from_packed, to_packed, keys};
}
