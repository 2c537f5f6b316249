/* state.c - where each row's source sentence lies. */
#include "models/state.h"

const Spans *encoded_spans(Tape *tape, const Encoded *encoded, const int *sentence, int rows) {
    int *first = tape_alloc(tape, 2 * (size_t)rows * sizeof *first), *length = first + rows;
    for (int r = 0; r < rows; r++) {
        first[r] = encoded->start[sentence[r]];
        length[r] = encoded->start[sentence[r] + 1] - first[r];
    }
    return spans_new(tape, first, length, rows);
}
