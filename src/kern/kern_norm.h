/* kern_norm.h - layer normalization. For kern_impl.c alone.
 */
#ifndef KERN_KERN_NORM_H
#define KERN_KERN_NORM_H

#include "kern/kern_vector.h"

static void kern_layer_norm_forward(int rows, int columns, const real *x, const real *gain, const real *bias,
                                    double epsilon, real *y, real *stats) {
    size_t n = (size_t)columns;
    for (int row = 0; row < rows; row++, x += n, y += n, stats += 2) {
        Vec sum = {0}, squares = {0};
        FOR_VECTORS(n, sum += LOAD(x););
        real mean = sum_lanes(sum) / (real)columns;
        size_t j = 0;
        for (; j + LANES <= n; j += LANES) {
            Vec apart = load(x + j) - splat(mean);
            squares += apart * apart;
        }
        real variance = sum_lanes(squares);
        for (; j < n; j++) variance += (x[j] - mean) * (x[j] - mean);
        real scale = 1 / (real)sqrt((double)(variance / (real)columns) + epsilon);
        FOR_VECTORS(n, STORE(y, (LOAD(x) - splat(mean)) * splat(scale) * LOAD(gain) + LOAD(bias)););
        stats[0] = mean;
        stats[1] = scale;
    }
}

static void kern_layer_norm_backward(int rows, int columns, const real *x, const real *gain,
                                     const real *stats, const real *dy, real *dx, real *dgain, real *dbias) {
    size_t n = (size_t)columns;
    for (int row = 0; row < rows; row++, x += n, dy += n, dx += n, stats += 2) {
        Vec mean = splat(stats[0]), scale = splat(stats[1]), sum = {0}, sum_x = {0};
        FOR_VECTORS(n, Vec hat = (LOAD(x) - mean) * scale; Vec d = LOAD(dy);
                    STORE(dgain, LOAD(dgain) + d * hat); STORE(dbias, LOAD(dbias) + d);
                    Vec g = d * LOAD(gain); sum += g; sum_x += g * hat;);
        Vec a = splat(sum_lanes(sum) / (real)columns), b = splat(sum_lanes(sum_x) / (real)columns);
        FOR_VECTORS(n, Vec hat = (LOAD(x) - mean) * scale;
                    STORE(dx, LOAD(dx) + scale * (LOAD(dy) * LOAD(gain) - a - hat * b)););
    }
}

#endif
