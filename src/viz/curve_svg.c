/* curve_svg.c - training curves are plots on linear scales over whole numbers of updates. */
#include "viz/curve.h"

void curve_write_svg(const char *title, const char *x_label, const char *left_label, const char *right_label,
                     const CurveSeries *series, int count, StrBuf *out) {
    Plot plot = {.title = title,
                 .x = {.title = x_label, .whole = true},
                 .left = {.title = left_label},
                 .right = {.title = right_label},
                 .series = series,
                 .count = count};
    plot_write_svg(&plot, out);
}
