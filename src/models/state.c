/* state.c - spans of source rows; batches that are encoded in sub-batches. */
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

/* Copies `sub_batch` to rows first.. of *whole, which is allocated with `rows` rows by the first call. */
static void join_rows(Tape *tape, Tensor **whole, int rows, int first, const Tensor *sub_batch) {
    if (!sub_batch) return;
    if (!*whole) *whole = tape_tensor(tape, rows, sub_batch->columns);
    assert((*whole)->columns == sub_batch->columns && first + sub_batch->rows <= rows);
    memcpy(tensor_row(*whole, first), sub_batch->data, tensor_size(sub_batch) * sizeof(real));
}

void encoded_add(Tape *tape, Encoded *whole, int first_sentence, const Encoded *sub_batch) {
    int first = whole->start[first_sentence], rows = whole->start[whole->B];
    whole->decoder = sub_batch->decoder;
    whole->hides_end = sub_batch->hides_end;
    for (int l = 0; l < MODEL_MAX_LAYERS; l++) {
        KeysValues *to = &whole->source[l];
        const KeysValues *from = &sub_batch->source[l];
        join_rows(tape, &to->values, rows, first, from->values);
        if (from->keys == from->values)
            to->keys = to->values;
        else
            join_rows(tape, &to->keys, rows, first, from->keys);
        join_rows(tape, &to->bias, rows, first, from->bias);
    }
    for (int i = 0; i < CONTEXT_MAPS; i++)
        join_rows(tape, &whole->mapped[i], rows, first, sub_batch->mapped[i]);
    whole->initial.parts = sub_batch->initial.parts;
    for (int i = 0; i < sub_batch->initial.parts; i++)
        join_rows(tape, &whole->initial.part[i], whole->B, first_sentence, sub_batch->initial.part[i]);
}
