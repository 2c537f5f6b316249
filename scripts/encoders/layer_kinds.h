/* layer_kinds.h - the encoder layers that are compared, behind one interface.
 *
 * Shapes  x [n, d] -> [n, d]; the pairs of tokens take queries, keys and values, one below the other: [3 n, d]
 */
#ifndef ENCODERS_LAYER_KINDS_H
#define ENCODERS_LAYER_KINDS_H

#include "layers/conv.h"
#include "layers/recurrent.h"
#include "layers/transformer.h"

/* The "pairs" of tokens are the part of self-attention that its O(n^2 d) counts: scores, softmax, context. The rest of it is four
 * projections of n tokens, which cost O(n d^2) like the other layers. */
typedef enum { RNN, CONV_3, CONV_5, ATTENTION, PAIRS, BLOCK, LAYER_KINDS } LayerKind;

typedef struct {
    const char *name, *key; /* for people, for programs */
    const char *chapter;    /* operations */
    const char *sequential,
        *path; /* operations that must wait for each other; steps between two tokens at most */
} LayerFacts;
extern const LayerFacts LAYER_FACTS[LAYER_KINDS];

enum { LAYER_HEADS = 4 }; /* as the models have by default */

typedef struct {
    LayerKind kind;
    int size;
    ParamSet *params;
    Cell cell;
    Conv conv;
    Multihead attention;
    TransformerBlock block;
} Layer;

int layer_inputs(LayerKind kind); /* rows of x per token */
Layer layer_new(LayerKind kind, int size);
Tensor *layer_run(Tape *tape, const Layer *layer, Tensor *x, int n);
void layer_free(Layer *layer);

#endif
