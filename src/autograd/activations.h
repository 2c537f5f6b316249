/* activations.h - copies of intermediate results of a model, recorded by name.
 *
 * The model calls record_activation at each place of interest. The call does nothing on a tape without
 * Activations. Rows recorded step by step under one name become one matrix, a row for each step.
 *
 * Shapes  an activation is [heads, rows, columns]; heads is 1 except for attention with several heads. Scores
 *         and weights are [heads, queries, keys], 0 for keys outside the query's span
 * Owner   a zeroed Activations is empty; activations_free releases it
 */
#ifndef AUTOGRAD_ACTIVATIONS_H
#define AUTOGRAD_ACTIVATIONS_H

#include "autograd/ops.h"

typedef struct {
    char *name; /* "decoder.attention.weights": the name of the parameters nearby, and the part */
    int heads, rows, columns;
    int stride; /* from row to row, at least `columns` */
    real *data;
    size_t capacity; /* of `data` */
} Activation;

struct Activations {
    Activation *items; /* in the order of their first record */
    int count;
    size_t capacity;
};

/* Record x [rows, columns] under the name "name.part", if the tape has Activations. */
void record_activation(const Tape *tape, const char *name, const char *part, const Tensor *x);
/* The same for scores or weights [N, total] of rows of one sentence; a row gets at least `keys` columns,
 * though no query may attend to the last ones. */
void record_activation_spans(const Tape *tape, const char *name, const char *part, const Tensor *x,
                             const Spans *spans, int keys);

const Activation *activations_find(const Activations *activations,
                                   const char *name); /* NULL if none has this name */
static inline const real *activation_row(const Activation *a, int head, int row) {
    return a->data + ((size_t)head * (size_t)a->rows + (size_t)row) * (size_t)a->stride;
}
void activations_free(Activations *activations);

#endif
