/* curve.h - training curves, as SVG: what is measured over the updates, on up to two scales.
 *
 * Owner   the caller owns all arrays; NaN values are gaps
 */
#ifndef VIZ_CURVE_H
#define VIZ_CURVE_H

#include "viz/plot.h"

typedef PlotSeries CurveSeries; /* left: loss; right: BLEU */

void curve_write_svg(const char *title, const char *x_label, const char *left_label, const char *right_label,
                     const CurveSeries *series, int count, StrBuf *out);

#endif
