/* multihead.h - several attentions side by side, each over its own projection of queries, keys and values.
 * Vaswani et al. 2017, section 3.2.2; relative positions: Shaw et al. 2018, eq. 4 (of keys only: they find the ones of values to add nothing)
 *
 * Shapes  x [n, D] asks; memory [m, M] answers; heads of D / N columns each: head h owns columns h D/N .. (h + 1) D/N - 1;
 *         weights [N, total] by spans; result [n, D]
 */
#ifndef LAYERS_MULTIHEAD_H
#define LAYERS_MULTIHEAD_H

#include "layers/attention.h"

typedef struct {
    int heads, size;
    Linear query, key, value, output;
    const Param *relative; /* [2 reach + 1, D/N]: a vector for each distance of -reach .. reach, or NULL */
    int reach;
} Multihead;

/* `reach` > 0: tell distances up to `reach` apart; 0: no relative positions. */
Multihead multihead_new(ParamSet *params, const char *name, int size, int memory_size, int heads, int reach);
/* Keys and values of the rows of `memory`: once for all queries. */
AttentionMemory multihead_remember(Tape *tape, const Multihead *multihead, Tensor *memory);
/* `position` [n]: the place in its span where each row itself stands; only read where there are relative positions. */
Tensor *multihead_attend(Tape *tape, const Multihead *multihead, Tensor *x, const AttentionMemory *memory,
                         const Spans *spans, const int *position, AttentionDropout dropout, Tensor **weights);

#endif
