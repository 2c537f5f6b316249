/* multihead.h - several attentions side by side, each over its own projection of queries, keys and values.
 * Vaswani et al. 2017, section 3.2.2; Dive into Deep Learning, section 11.5; relative positions: Shaw et al.
 * 2018, eq. 4 (of keys only: they find the ones of values to add nothing)
 *
 * Shapes  x [n, D] asks; source [m, M] answers; heads of D / N columns each: head h owns columns
 *         h D/N .. (h + 1) D/N - 1; weights [N, total] by spans; result [n, D]
 */
#ifndef LAYERS_MULTIHEAD_H
#define LAYERS_MULTIHEAD_H

#include "layers/attention.h"

typedef struct {
    const char *name; /* prefix of its parameters */
    int heads, size;
    Linear query, key, value, output;
    int max_relative_position; /* the largest distance that is told apart; 0: no relative positions */
    const Param *relative;     /* [2 max_relative_position + 1, D/N]: a vector for each distance, or NULL */
} Multihead;

Multihead multihead_new(ParamSet *params, const char *name, int size, int source_size, int heads,
                        int max_relative_position);
/* Keys and values of the rows of `source`: once for all queries. */
KeysValues multihead_project(Tape *tape, const Multihead *multihead, Tensor *source);
/* `position` [n]: the place in its span where each row itself stands; only read where there are relative
 * positions. */
Tensor *multihead_attend(Tape *tape, const Multihead *multihead, Tensor *x, const KeysValues *kv,
                         const Spans *spans, const int *position, AttentionDropout dropout, Tensor **weights);

#endif
