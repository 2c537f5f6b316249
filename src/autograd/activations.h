/* activations.h - what a model computes on the way, kept by name for whoever wants to look.
 *
 * The model says at each place of interest what it has just computed; on a tape without notes that is all.
 * What is noted step by step under one name becomes one matrix, a row for each step.
 *
 * Shapes  a note is [heads, rows, columns]; heads is 1 but for attention with several heads. Scores and
 *         weights are [heads, queries, keys], 0 beyond what a query may look at
 * Owner   a zeroed Activations is empty; activations_free releases it
 */
#ifndef AUTOGRAD_ACTIVATIONS_H
#define AUTOGRAD_ACTIVATIONS_H

#include "autograd/ops.h"

typedef struct {
    char *name; /* "decoder.attention.weights": that of the parameters nearby, and what it is */
    int heads, rows, columns;
    int stride; /* from row to row, at least `columns` */
    real *data;
    size_t capacity; /* of `data` */
} Activation;

struct Activations {
    Activation *items; /* in the order they were first made */
    int count;
    size_t capacity;
};

/* For models; nothing happens on a tape without notes. The name is "name.part". */
void record_activation(const Tape *tape, const char *name, const char *part, const Tensor *x);
/* Scores or weights [N, total] of rows of one sentence. */
void record_activation_spans(const Tape *tape, const char *name, const char *part, const Tensor *x,
                             const Spans *spans);

const Activation *activations_find(const Activations *notes, const char *name); /* NULL: there is none */
static inline const real *activation_row(const Activation *one, int head, int row) {
    return one->data + ((size_t)head * (size_t)one->rows + (size_t)row) * (size_t)one->stride;
}
void activations_free(Activations *notes);

#endif
