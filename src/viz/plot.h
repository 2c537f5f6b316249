/* plot.h - lines over a common horizontal axis, as SVG.
 *
 * Owner   the caller owns names and arrays; the writer appends to a StrBuf
 * Fails   never: what its axis cannot draw (axis.h) is a gap in the line, a series may be empty, and there
 *         may be no series
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
    bool right_axis; /* belongs to the scale of the right-hand axis instead of the left one */
} PlotSeries;

typedef struct {
    const char *title;       /* or NULL */
    PlotAxis x, left, right; /* the right one is drawn if a series has values on it */
    const PlotSeries *series;
    int count;
} Plot;

/* Few points are marked and tell their values as tooltips; very many are drawn as their span. */
void plot_write_svg(const Plot *plot, StrBuf *out);

#endif
