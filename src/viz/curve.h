/* curve.h - lines over a common horizontal axis, as SVG: training curves.
 *
 * Owner   the caller owns all arrays; NaN values are gaps
 */
#ifndef VIZ_CURVE_H
#define VIZ_CURVE_H

#include <stdbool.h>
#include "base/strview.h"

typedef struct {
    const char *name;
    const double *x, *y; /* [count] */
    int count;
    bool right_axis; /* scale of the right-hand axis (BLEU) instead of the left (loss) */
} CurveSeries;

void curve_write_svg(const char *title, const char *x_label, const char *left_label, const char *right_label,
                     const CurveSeries *series, int count, StrBuf *out);

#endif
