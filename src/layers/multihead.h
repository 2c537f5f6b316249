/* multihead.h - several attentions side by side, each over its own projection of queries, keys and values.
 * Vaswani et al. 2017, section 3.2.2; Dive into Deep Learning, section 11.5; relative positions: Shaw et
 * al. 2018, eq. 4 (keys only: the paper finds that relative positions of values add nothing)
 *
 * Shapes  queries from x [n, D]; keys and values from source [m, M]; N heads of D / N columns each: head h
 *         owns columns h D/N .. (h + 1) D/N - 1; weights [N, total] by spans; result [n, D]
 */
#ifndef LAYERS_MULTIHEAD_H
#define LAYERS_MULTIHEAD_H

#include "layers/attention.h"

typedef struct {
    const char *name;          /* prefix of its parameters */
    int heads, size;           /* N and D */
    Linear query;              /* [D, D], and biases, if there are any */
    Linear key, value;         /* [M, D] */
    Linear output;             /* [D, D] */
    int max_relative_position; /* larger distances count as this one; 0: no relative positions */
    const Param *relative;     /* [2 max_relative_position + 1, D/N]: a vector for each distance, or NULL */
} Multihead;

/* `bias`: the four maps have biases. */
Multihead multihead_new(ParamSet *params, const char *name, int size, int source_size, int heads,
                        int max_relative_position, bool bias);
/* Keys and values of the rows of `source`: once for all queries. */
KeysValues multihead_project(Tape *tape, const Multihead *multihead, Tensor *source);
/* `position` [n]: each row's own position in its span, read only for relative positions. Sets *weights to the
 * attention weights [N, total]. */
Tensor *multihead_attend(Tape *tape, const Multihead *multihead, Tensor *x, const KeysValues *kv,
                         const Spans *spans, const int *position, AttentionDropout dropout, Tensor **weights);

#endif
