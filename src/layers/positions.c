/* positions.c - sines and cosines, computed in double precision: angles may be large. */
#include "layers/positions.h"

#include <math.h>

void positions_sinusoidal(int first, int count, int size, real *out) {
    for (int column = 0; column < size; column += 2) {
        double frequency = pow(10000, -(double)column / size);
        for (int r = 0; r < count; r++) {
            double angle = ((double)first + r) * frequency;
            real *pair = out + (size_t)r * (size_t)size + column;
            pair[0] = (real)sin(angle);
            if (column + 1 < size) pair[1] = (real)cos(angle);
        }
    }
}
