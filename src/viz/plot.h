/* plot.h - line plots with a common horizontal axis, as SVG.
 *
 * Owner   the caller owns names and arrays; the writer appends to a StrBuf
 * Fails   never: a value that its axis cannot draw (axis.h) is a gap in the line. A series can be empty, and
 *         a plot can have no series
 */
#ifndef VIZ_PLOT_H
#define VIZ_PLOT_H

#include "viz/axis.h"

typedef struct {
    const char *title; /* or NULL */
    bool whole;        /* ticks at whole numbers only */
} PlotAxis;

typedef struct {
    const char *name;
    const double *x, *y; /* [count] */
    int count;
    bool right_axis; /* uses the right-hand axis instead of the left one */
} PlotSeries;

typedef struct {
    const char *title;       /* or NULL */
    PlotAxis x, left, right; /* the right axis is drawn if a series has values on it */
    const PlotSeries *series;
    int count;
} Plot;

/* A few points get markers with their values as tooltips. Many points in one column of pixels are drawn as
 * their range. */
void plot_write_svg(const Plot *plot, StrBuf *out);

#endif
