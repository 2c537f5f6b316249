/* positions.h - positional encoding, for layers that read all tokens at once.
 * Vaswani et al. 2017, section 3.5 (sinusoidal, learned); Gehring et al. 2017 (learned); Dive into Deep
 * Learning, section 11.6.3
 *
 * Relative positions (Shaw et al. 2018) are not added to the tokens but to the scores: multihead.h.
 */
#ifndef LAYERS_POSITIONS_H
#define LAYERS_POSITIONS_H

#include "layers/linear.h"

typedef enum {
    POSITIONS_SINUSOIDAL,
    POSITIONS_LEARNED,
    POSITIONS_RELATIVE,
    POSITIONS_NONE,
    POSITIONS_SINUSOIDAL_HALVES,
    POSITIONS_MARIAN
} PositionKind;
/* In the order of PositionKind. */
#define POSITION_CHOICES "sinusoidal|learned|relative|none|sinusoidal_halves|marian"

/* P[i, 2j] = sin(i / 10000^(2j / size)), P[i, 2j + 1] = cos of the same; the last column of an odd size is a
 * sine. For any distance a rotation of each pair of columns leads from P[i] to P[i + distance].
 * Dive into Deep Learning, eq. 11.6.2 and 11.6.3. out [count, size], row r for position first + r */
void positions_sinusoidal(int first, int count, int size, real *out);
/* The same numbers for POSITIONS_SINUSOIDAL.
 * POSITIONS_SINUSOIDAL_HALVES, as in Hugging Face's models, has all sines first: column j is
 * sin(i / 10000^(2j / size)), column size / 2 + j its cosine. POSITIONS_MARIAN has Marian's frequencies
 * instead: 10000^(j / (size / 2 - 1)), so that the last is 1 / 10000. With an odd size there is one more sine
 * than cosines. */
void positions_table(PositionKind kind, int first, int count, int size, real *out);

/* The input of such layers: embeddings, mapped to the layers' size if theirs differs, plus positions. */
typedef struct {
    PositionKind kind;
    Linear input;       /* [inputs, size] "name.input", if these differ */
    const Param *table; /* [positions, size] learned, "name.positions"; later positions share the last row */
    Tensor first;       /* [rows, size] sinusoidal: the first positions, computed once */
    real multiplier;    /* of the mapped embeddings */
} PositionalEncoding;

typedef struct {
    PositionKind kind;
    int positions; /* rows of a learned table */
    int inputs, size;
    double multiplier; /* of the mapped embeddings; 0: sqrt(size) */
} PositionForm;

PositionalEncoding positions_new(ParamSet *params, const char *name, const PositionForm *form);
/* x [n, inputs] -> [n, size]: the mapped x times the multiplier, plus the encoding of position[r] for each
 * row. The usual factor, sqrt(size), keeps the small initial embeddings from being drowned by their
 * positions; it applies without an encoding, too. */
Tensor *positions_add(Tape *tape, const PositionalEncoding *encoding, Tensor *x, const int *position);

#endif
