/* axis.h - a linear scale of a plot: its range, its ticks and their labels.
 *
 * Units   values in the unit of the data, positions in pixels
 * Fails   never: NaN, infinities and values above 1e30 are not in the range, and an axis without values goes
 *         from 0 to 1
 */
#ifndef VIZ_AXIS_H
#define VIZ_AXIS_H

#include <stdbool.h>
#include "base/strview.h"

typedef struct {
    bool whole;       /* ticks are whole numbers */
    bool used;        /* it has values */
    double low, high; /* the range; after axis_round, the first and the last tick */
    int ticks;        /* number of ticks */
    double from, to;  /* pixels of low and high; the caller sets them */
    double step;      /* between ticks: 1, 2, 2.5 or 5 times a power of ten */
} Axis;

bool axis_draws(double value);             /* can the value be drawn? */
void axis_cover(Axis *axis, double value); /* extends the range to the value, which axis_draws */
/* Widens the range to round numbers, with at most `most` steps between ticks. */
void axis_round(Axis *axis, int most);
double axis_tick(const Axis *axis, int tick);
double axis_position(const Axis *axis, double value);
/* "0.25" under a step of 0.05, "12,000" under one of 1000, "2e-6": with no more digits than the ticks
 * need. */
void axis_write_tick(const Axis *axis, int tick, StrBuf *out);
double axis_widest_tick(const Axis *axis, double font); /* pixels */

#endif
