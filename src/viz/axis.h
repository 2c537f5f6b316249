/* axis.h - one linear scale of a plot: what it covers, where its ticks are, how they are written.
 *
 * Units   values in the data's own unit, places in pixels
 * Fails   never: a value that cannot be drawn (not a number, infinite or nearly) is not covered, and an axis
 *         that covers nothing goes from 0 to 1
 */
#ifndef VIZ_AXIS_H
#define VIZ_AXIS_H

#include <stdbool.h>
#include "base/strview.h"

typedef struct {
    bool whole;       /* ticks are whole numbers */
    bool used;        /* it covers something */
    double low, high; /* after axis_round: the first tick and the last */
    int ticks;        /* how many */
    double from, to;  /* pixels of low and high, set by who draws */
    double step;      /* between ticks: 1, 2, 2.5 or 5 times a power of ten */
} Axis;

bool axis_draws(double value);
void axis_cover(Axis *axis, double value); /* a value that axis_draws */
/* Widen the axis to round numbers that cut it into at most `most` parts. */
void axis_round(Axis *axis, int most);
double axis_tick(const Axis *axis, int tick);
double axis_place(const Axis *axis, double value);
/* "0.25" under a step of 0.05, "12,000" under one of 1000, "2e-6": no more digits than the ticks need. */
void axis_write_tick(const Axis *axis, int tick, StrBuf *out);
double axis_widest_tick(const Axis *axis, double font); /* pixels */

#endif
