/* posenc.h - telling a model that reads all tokens at once where each of them stands.
 * Vaswani et al. 2017, section 3.5 (sinusoidal, learned); Gehring et al. 2017 (learned)
 *
 * Relative positions (Shaw et al. 2018) are not added to the tokens but to the scores: multihead.h.
 */
#ifndef LAYERS_POSENC_H
#define LAYERS_POSENC_H

#include "layers/linear.h"

typedef enum { POSITIONS_SINUSOIDAL, POSITIONS_LEARNED, POSITIONS_RELATIVE, POSITIONS_NONE } PositionKind;
#define POSITION_CHOICES "sinusoidal|learned|relative|none" /* in the order of PositionKind */

typedef struct {
    PositionKind kind;
    const Param *table; /* learned: [positions, size]; later positions share the last row */
} Posenc;

Posenc posenc_new(ParamSet *params, const char *name, PositionKind kind, int positions, int size);
/* x [n, size] sqrt(size) plus the encoding of position[r] for each row: the factor keeps embeddings, which begin small, from being
 * drowned by their positions. Without an encoding, x alone is scaled. */
Tensor *posenc_add(Tape *tape, const Posenc *posenc, Tensor *x, const int *position);

#endif
