/* plot_sheet.h - several plots as one picture, side by side and one below the other.
 *
 * Fails   never; a sheet without plots is an empty picture
 */
#ifndef VIZ_PLOT_SHEET_H
#define VIZ_PLOT_SHEET_H

#include "viz/plot.h"

/* Row after row of `columns` plots each. */
void plot_sheet_write_svg(const Plot *plots, int count, int columns, StrBuf *out);

#endif
