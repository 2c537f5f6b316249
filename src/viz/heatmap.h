/* heatmap.h - writes a matrix of weights with labels as a table or a picture.
 *
 * Shapes  weights [rows, columns] row-major; of attention: rows are target tokens, columns source tokens
 * Units   weights in [0, 1]; the darkest shade is 1, except with heatmap_write_svg_range
 * Owner   the caller owns matrix and labels; writers append to a StrBuf. Labels are UTF-8, NUL-terminated.
 */
#ifndef VIZ_HEATMAP_H
#define VIZ_HEATMAP_H

#include "base/strview.h"

typedef struct {
    int rows, columns;
    const char *const *row_labels;    /* [rows] */
    const char *const *column_labels; /* [columns] */
    const float *weights;             /* [rows, columns] */
    const char *title;                /* or NULL */
} Heatmap;

/* The first line is an empty cell and the column labels; other lines are a row label and weights (%.9g).
 * Quoting of RFC 4180. */
void heatmap_write_csv(const Heatmap *map, StrBuf *out);
/* {"rows": [labels], "columns": [labels], "weights": [[...], ...]} */
void heatmap_write_json(const Heatmap *map, StrBuf *out);
/* Binary PGM (P5, 8 bits, 255 = weight 1), `cell` pixels per weight. */
void heatmap_write_pgm(const Heatmap *map, int cell, StrBuf *out);
/* Self-contained SVG: labels, cells with the weight as a tooltip, a scale; no script, no external font. */
void heatmap_write_svg(const Heatmap *map, StrBuf *out);
/* The same for numbers in [low, high]: the lightest shade is `low`, the darkest `high`. */
void heatmap_write_svg_range(const Heatmap *map, double low, double high, StrBuf *out);
/* For a terminal of `width` columns: cells in 24-bit colours, or five shades of block characters. */
void heatmap_write_text(const Heatmap *map, int width, bool coloured, StrBuf *out);

#endif
