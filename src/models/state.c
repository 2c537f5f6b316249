/* state.c - spans of source rows; batches that are encoded in chunks. */
#include "models/state.h"

#include <assert.h>
#include <string.h>

const Spans *encoded_spans(Tape *tape, const Encoded *encoded, const int *sentence, int rows) {
    int *first = tape_alloc(tape, 2 * (size_t)rows * sizeof *first), *length = first + rows;
    for (int r = 0; r < rows; r++) {
        first[r] = encoded->start[sentence[r]];
        length[r] = encoded->start[sentence[r] + 1] - first[r];
        if (encoded->hides_end && length[r] > 1) length[r]--;
    }
    return spans_new(tape, first, length, rows);
}

/* ---- joining ---- */

Encoded *encoded_join(Tape *tape, const int *lengths, int B) {
    Encoded *whole = tape_alloc(tape, sizeof *whole);
    int *start = tape_alloc(tape, ((size_t)B + 1) * sizeof *start);
    start[0] = 0;
    for (int b = 0; b < B; b++) start[b + 1] = start[b] + lengths[b];
    *whole = (Encoded){.tape = tape, .B = B, .start = start};
    return whole;
}

/* Copies `chunk` to rows first.. of *whole, which is allocated with `rows` rows by the first call. */
static void join_rows(Tape *tape, Tensor **whole, int rows, int first, const Tensor *chunk) {
    if (!chunk) return;
    if (!*whole) *whole = tape_tensor(tape, rows, chunk->columns);
    assert((*whole)->columns == chunk->columns && first + chunk->rows <= rows);
    memcpy(tensor_row(*whole, first), chunk->data, tensor_size(chunk) * sizeof(real));
}

void encoded_add(Tape *tape, Encoded *whole, int first_sentence, const Encoded *chunk) {
    int first = whole->start[first_sentence], rows = whole->start[whole->B];
    whole->decoder = chunk->decoder;
    whole->hides_end = chunk->hides_end;
    for (int l = 0; l < MODEL_MAX_LAYERS; l++) {
        KeysValues *to = &whole->source[l];
        const KeysValues *from = &chunk->source[l];
        join_rows(tape, &to->values, rows, first, from->values);
        if (from->keys == from->values)
            to->keys = to->values;
        else
            join_rows(tape, &to->keys, rows, first, from->keys);
        join_rows(tape, &to->bias, rows, first, from->bias);
    }
    for (int i = 0; i < CONTEXT_MAPS; i++) join_rows(tape, &whole->mapped[i], rows, first, chunk->mapped[i]);
    whole->initial.parts = chunk->initial.parts;
    for (int i = 0; i < chunk->initial.parts; i++)
        join_rows(tape, &whole->initial.part[i], whole->B, first_sentence, chunk->initial.part[i]);
}
