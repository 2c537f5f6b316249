/* sequences.c - numbering the tokens of a batch. */
#include "layers/sequences.h"

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
        if (lengths[b] > s->longest) s->longest = lengths[b];
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

SequenceSteps sequences_steps(Tape *tape, const Sequences *s) {
    const Packed *packed = packed_new(tape, s->length, s->B);
    int *row = tape_alloc(tape, 2 * (size_t)s->rows * sizeof *row), *place = row + s->rows;
    uint32_t *keys = tape_alloc(tape, (size_t)s->rows * sizeof *keys);
    for (int r = 0; r < s->rows; r++) {
        place[r] = packed_row(packed, s->sentence[r], s->position[r]);
        row[place[r]] = r;
        keys[place[r]] = s->row_keys[r];
    }
    return (SequenceSteps){packed, row, place, keys};
}
