/* axis.h - one scale of a plot: what it covers, where its ticks are, how they are written.
 *
 * Units   values in the data's own unit, places in pixels
 * Fails   never: what cannot be drawn (not a number, infinite or nearly; zero or less on a logarithmic scale)
 *         is not covered, and an axis that covers nothing goes from 0 to 1, or from 1 to 10
 */
#ifndef VIZ_AXIS_H
#define VIZ_AXIS_H

#include <stdbool.h>
#include "base/strview.h"

typedef enum {
    AXIS_LINEAR, /* ticks at multiples of 1, 2, 2.5 or 5 times a power of ten */
    AXIS_LOG10,  /* at 1, 2 and 5 times powers of ten; over a wide range at powers of ten */
    AXIS_LOG2    /* at powers of two: lengths, sizes */
} AxisScale;

typedef struct {
    AxisScale scale;
    bool whole;       /* linear: ticks are whole numbers */
    bool used;        /* it covers something */
    double low, high; /* after axis_round: the first tick and the last */
    int ticks;        /* how many */
    double from, to;  /* pixels of low and high, set by who draws */
    double step;      /* linear: between ticks; logarithmic: powers of the base between ticks, 0 for 1-2-5 */
    int first;        /* logarithmic: number of the first tick */
} Axis;

bool axis_draws(const Axis *axis, double value);
void axis_cover(Axis *axis, double value); /* a value that axis_draws */
/* Widen the axis to round numbers that cut it into at most `most` parts. */
void axis_round(Axis *axis, int most);
double axis_tick(const Axis *axis, int tick);
double axis_place(const Axis *axis, double value);
/* "0.25" under a step of 0.05, "12,000" under one of 1000, "2e-6": no more digits than the ticks need. */
void axis_write_tick(const Axis *axis, int tick, StrBuf *out);
double axis_widest_tick(const Axis *axis, double font); /* pixels */

#endif
