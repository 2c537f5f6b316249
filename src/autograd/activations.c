/* activations.c - see activations.h. */
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

static Activation *find_or_add(Activations *activations, const char *name, const char *part) {
    char full_name[NAME_SIZE];
    snprintf(full_name, sizeof full_name, "%s.%s", name, part);
    Activation *a = (Activation *)activations_find(activations, full_name);
    if (a) return a;
    MEM_GROW(activations->items, activations->capacity, (size_t)activations->count + 1);
    a = &activations->items[activations->count++];
    *a = (Activation){.name = mem_strdup(full_name)};
    return a;
}

/* Doubles the stride, so that rows that grow step by step are seldom moved. */
static void widen_rows(Activation *a, int columns) {
    Activation wide = *a;
    wide.stride = a->rows == 0 ? columns : 2 * columns;
    wide.capacity = (size_t)a->heads * (size_t)a->rows * (size_t)wide.stride;
    wide.data = mem_alloc(wide.capacity, sizeof *wide.data);
    for (int r = 0; r < a->rows; r++)
        memcpy((real *)activation_row(&wide, 0, r), activation_row(a, 0, r),
               (size_t)a->columns * sizeof *a->data);
    mem_free(a->data);
    *a = wide;
}

/* Appends zeroed rows. All rows become as wide as the widest: later steps may attend to more keys than
 * earlier ones. */
static void add_rows(Activation *a, int heads, int rows, int columns) {
    assert(a->rows == 0 || (heads == 1 && a->heads == 1));
    a->heads = heads;
    if (columns > a->stride) widen_rows(a, columns);
    if (columns > a->columns) a->columns = columns;
    size_t row = (size_t)heads * (size_t)a->stride, used = row * (size_t)a->rows, added = row * (size_t)rows;
    MEM_GROW(a->data, a->capacity, used + added);
    memset(a->data + used, 0, added * sizeof *a->data);
    a->rows += rows;
}

void record_activation(const Tape *tape, const char *name, const char *part, const Tensor *x) {
    if (!tape->activations) return;
    Activation *a = find_or_add(tape->activations, name, part);
    int first = a->rows;
    add_rows(a, 1, x->rows, x->columns);
    for (int r = 0; r < x->rows; r++)
        memcpy((real *)activation_row(a, 0, first + r), tensor_row(x, r), (size_t)x->columns * sizeof(real));
}

void record_activation_spans(const Tape *tape, const char *name, const char *part, const Tensor *x,
                             const Spans *spans, int keys) {
    if (!tape->activations) return;
    Activation *a = find_or_add(tape->activations, name, part);
    int first = a->rows, columns = keys;
    for (int r = 0; r < spans->rows; r++)
        if (spans->first[r] + spans->length[r] > columns) columns = spans->first[r] + spans->length[r];
    add_rows(a, x->rows, spans->rows, columns);
    for (int h = 0; h < x->rows; h++)
        for (int r = 0; r < spans->rows; r++)
            memcpy((real *)activation_row(a, h, first + r) + spans->first[r],
                   tensor_row(x, h) + spans->start[r], (size_t)spans->length[r] * sizeof(real));
}
