/* packed.c - ranking sentences by length with a stable counting sort. */
#include "layers/packed.h"

#include <assert.h>
#include <string.h>

Packed *packed_new(Tape *tape, const int *lengths, int B) {
    Packed *p = tape_alloc(tape, sizeof *p);
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

    /* running[t] = how many sentences are longer than t; it is also the rank after the last of length t. */
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
    *p = (Packed){.B = B,
                  .rows = rows,
                  .steps = longest,
                  .rank = rank,
                  .order = order,
                  .length = length,
                  .offset = offset};
    return p;
}
