/* activations.c - copies of tensors, under their names. */
#include "autograd/activations.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"

enum { NAME_SIZE = 256 };

const Activation *activations_find(const Activations *activations, const char *name) {
    for (int i = 0; i < activations->count; i++)
        if (!strcmp(activations->items[i].name, name)) return &activations->items[i];
    return NULL;
}

void activations_free(Activations *activations) {
    for (int i = 0; i < activations->count; i++) {
        mem_free(activations->items[i].name);
        mem_free(activations->items[i].data);
    }
    mem_free(activations->items);
    *activations = (Activations){0};
}

static Activation *named(Activations *activations, const char *name, const char *part) {
    char joined[NAME_SIZE];
    snprintf(joined, sizeof joined, "%s.%s", name, part);
    Activation *found = (Activation *)activations_find(activations, joined);
    if (found) return found;
    MEM_GROW(activations->items, activations->capacity, (size_t)activations->count + 1);
    found = &activations->items[activations->count++];
    *found = (Activation){.name = mem_strdup(joined)};
    return found;
}

/* Wider rows get room for twice as much, so that rows that grow step by step are seldom moved. */
static void make_wider(Activation *one, int columns) {
    Activation wide = *one;
    wide.stride = one->rows == 0 ? columns : 2 * columns;
    wide.capacity = (size_t)one->heads * (size_t)one->rows * (size_t)wide.stride;
    wide.data = mem_alloc(wide.capacity, sizeof *wide.data);
    for (int r = 0; r < one->rows; r++)
        memcpy((real *)activation_row(&wide, 0, r), activation_row(one, 0, r),
               (size_t)one->columns * sizeof *one->data);
    mem_free(one->data);
    *one = wide;
}

/* Zeroed rows behind those that are there, which become as wide as the widest: later steps may look at more
 * keys than earlier ones. */
static void widen(Activation *one, int heads, int rows, int columns) {
    assert(one->rows == 0 || (heads == 1 && one->heads == 1));
    one->heads = heads;
    if (columns > one->stride) make_wider(one, columns);
    if (columns > one->columns) one->columns = columns;
    size_t row = (size_t)heads * (size_t)one->stride, used = row * (size_t)one->rows,
           added = row * (size_t)rows;
    MEM_GROW(one->data, one->capacity, used + added);
    memset(one->data + used, 0, added * sizeof *one->data);
    one->rows += rows;
}

void record_activation(const Tape *tape, const char *name, const char *part, const Tensor *x) {
    if (!tape->activations) return;
    Activation *one = named(tape->activations, name, part);
    int first = one->rows;
    widen(one, 1, x->rows, x->columns);
    for (int r = 0; r < x->rows; r++)
        memcpy((real *)activation_row(one, 0, first + r), tensor_row(x, r),
               (size_t)x->columns * sizeof(real));
}

void record_activation_spans(const Tape *tape, const char *name, const char *part, const Tensor *x,
                             const Spans *spans) {
    if (!tape->activations) return;
    Activation *one = named(tape->activations, name, part);
    int first = one->rows, columns = 0;
    for (int r = 0; r < spans->rows; r++)
        if (spans->first[r] + spans->length[r] > columns) columns = spans->first[r] + spans->length[r];
    widen(one, x->rows, spans->rows, columns);
    for (int h = 0; h < x->rows; h++)
        for (int r = 0; r < spans->rows; r++)
            memcpy((real *)activation_row(one, h, first + r) + spans->first[r],
                   tensor_row(x, h) + spans->start[r], (size_t)spans->length[r] * sizeof(real));
}
