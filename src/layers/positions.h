/* positions.h - where in its sentence a token stands, as numbers that can be added to its embedding.
 * Vaswani et al. 2017, section 3.5
 *
 * Shapes  out [count, size], row r for position first + r
 * Units   P[i, 2j] = sin(i / 10000^(2j / size)), P[i, 2j + 1] = cos of the same; the last column of an odd size is a
 *         sine. For any distance a rotation of each pair of columns leads from P[i] to P[i + distance].
 */
#ifndef LAYERS_POSITIONS_H
#define LAYERS_POSITIONS_H

#include "num/tensor.h"

void positions_sinusoidal(int first, int count, int size, real *out);

#endif
