/* plain_layers.h - the layers of the models, written out from their papers for one sentence. */
#ifndef PLAIN_LAYERS_H
#define PLAIN_LAYERS_H

#include "models/config.h"
#include "unit/plain_math.h"

typedef struct {
    Vector h, c; /* c: of an LSTM */
} PlainState;

/* Cho et al. 2014 as in PyTorch; Hochreiter and Schmidhuber 1997 with forget gate. `input`: the projected
 * input, not normalized. */
PlainState plain_cell(const char *name, const ModelOptions *options, Vector input, PlainState before);
/* Is there an equation for this score of the table? */
bool plain_knows_score(const char *score);
/* The context that attention "name" gives to a query. */
Vector plain_attend(const char *name, const char *score, const ModelOptions *options, Vector query,
                    const Vectors *values);
/* Vaswani et al. 2017, section 3.5 and embeddings times sqrt(size); "name.positions" if they are learned. */
void plain_add_positions(const char *name, const ModelOptions *options, Vectors *x);
/* Vaswani et al. 2017, section 3; relative positions: Shaw et al. 2018. `source` NULL: no cross-attention,
 * and not causal. */
void plain_block(const char *name, const ModelOptions *options, Vectors *x, const Vectors *source);
/* Gehring et al. 2017, section 3.2 */
void plain_conv(const char *name, const ModelOptions *options, Vectors *x);

#endif
