/* svg.h - the few elements of SVG that the pictures here are made of. W3C, SVG 1.1; XML 1.0 section 2.2
 *
 * Units   pixels from the top left corner; text size in pixels
 * Fails   never: text is escaped, and what XML does not allow becomes U+FFFD
 */
#ifndef VIZ_SVG_H
#define VIZ_SVG_H

#include "base/strview.h"

#define SVG_INK   "#222222"
#define SVG_FAINT "#666666"

typedef enum { SVG_START, SVG_MIDDLE, SVG_END } SvgAnchor;

/* The root with a white background, so that the picture looks the same in a dark viewer. */
void svg_begin(StrBuf *out, double width, double height, const char *title);
void svg_end(StrBuf *out);
/* `turn` in degrees, clockwise, around (x, y), which is on the base line. */
void svg_text(StrBuf *out, double x, double y, double turn, SvgAnchor anchor, double size, const char *colour,
              const char *text);
/* Text in lines of `width`, the first on the base line y, broken at spaces where that is possible; returns
 * how many. `out` may be NULL to count only. */
int svg_paragraph(StrBuf *out, double x, double y, double width, double size, const char *text);
double svg_line_height(double size); /* from one base line of a paragraph to the next */
void svg_line(StrBuf *out, double x1, double y1, double x2, double y2, const char *colour, double width);
void svg_escape(StrBuf *out, const char *text);
/* About how wide a common sans-serif font draws it, rather too much than too little. */
double svg_text_width(const char *text, double size);

#endif
