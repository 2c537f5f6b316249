/* op_apart.c - attention to rows that lie anywhere in memory: for decoding step by step, which nobody runs backwards. */
#include <assert.h>
#include "num/kern.h"
#include "num/ops.h"

Tensor *op_score_apart(Tape *tape, Tensor *query, const real *const *keys, int heads, const Spans *spans) {
    assert(!tape->record && query->columns % heads == 0 && query->rows == spans->rows);
    int size = query->columns / heads;
    Tensor *scores = tape_tensor_apart(tape, heads, spans->total);
    for (int r = 0; r < spans->rows; r++)
        for (int h = 0; h < heads; h++)
            kern->dots_apart(spans->length[r], size, tensor_row(query, r) + h * size, keys + spans->start[r],
                             (size_t)(h * size), tensor_row(scores, h) + spans->start[r]);
    return scores;
}

Tensor *op_context_apart(Tape *tape, Tensor *weights, const real *const *values, int columns,
                         const Spans *spans) {
    assert(!tape->record && weights->columns == spans->total && columns % weights->rows == 0);
    int heads = weights->rows, size = columns / heads;
    Tensor *context = tape_tensor(tape, spans->rows, columns);
    for (int r = 0; r < spans->rows; r++)
        for (int h = 0; h < heads; h++)
            kern->weighted_sum_apart(spans->length[r], size, tensor_row(weights, h) + spans->start[r],
                                     values + spans->start[r], (size_t)(h * size),
                                     tensor_row(context, r) + h * size);
    return context;
}
