/* plot_sheet.c - an SVG may hold others. */
#include "viz/plot_sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The number of an attribute of the root element. */
static double root_size(const StrBuf *svg, const char *attribute) {
    const char *at = strstr(strbuf_text(svg), attribute);
    return at ? strtod(at + strlen(attribute), NULL) : 0;
}

/* One plot with its place; makes *width and *height as large as it is. */
static void add_plot(const Plot *plot, double x, double y, double *width, double *height, StrBuf *out) {
    StrBuf svg = {0};
    plot_write_svg(plot, &svg);
    const char *root = strstr(strbuf_text(&svg), "<svg ");
    strbuf_format(out, "<svg x=\"%g\" y=\"%g\" %s", x, y, root ? root + strlen("<svg ") : "/>\n");
    *width = fmax(*width, root_size(&svg, " width=\""));
    *height = fmax(*height, root_size(&svg, " height=\""));
    strbuf_free(&svg);
}

void plot_sheet_write_svg(const Plot *plots, int count, int columns, StrBuf *out) {
    StrBuf body = {0};
    double right = 0, y = 0;
    for (int first = 0; first < count; first += columns) {
        double x = 0, height = 0;
        for (int i = first; i < count && i < first + columns; i++) {
            double width = 0;
            add_plot(&plots[i], x, y, &width, &height, &body);
            x += width;
        }
        right = fmax(right, x);
        y += height;
    }
    strbuf_format(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
                  "width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" role=\"img\">\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
                  right, y, right, y);
    strbuf_add(out, strbuf_view(&body));
    strbuf_add(out, SV("</svg>\n"));
    strbuf_free(&body);
}
