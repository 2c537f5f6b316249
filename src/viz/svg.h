/* svg.h - the SVG elements of the pictures. W3C, SVG 1.1; XML 1.0 section 2.2
 *
 * Units   pixels from the top left corner; text size in pixels
 * Fails   never: text is escaped, and characters that XML forbids become U+FFFD
 */
#ifndef VIZ_SVG_H
#define VIZ_SVG_H

#include "base/strview.h"

#define SVG_INK   "#222222"
#define SVG_FAINT "#666666"

typedef enum { SVG_START, SVG_MIDDLE, SVG_END } SvgAnchor;

/* The root element with a white background, for dark viewers. */
void svg_begin(StrBuf *out, double width, double height, const char *title);
void svg_end(StrBuf *out);
/* `turn` is in degrees, clockwise around (x, y), which is on the base line. */
void svg_text(StrBuf *out, double x, double y, double turn, SvgAnchor anchor, double size, const char *colour,
              const char *text);
/* Text in lines of `width`, broken at spaces if possible. The first base line is y. Returns the number of
 * lines. A NULL `out` only counts. */
int svg_paragraph(StrBuf *out, double x, double y, double width, double size, const char *text);
double svg_line_height(double size); /* from one base line of a paragraph to the next */
void svg_line(StrBuf *out, double x1, double y1, double x2, double y2, const char *colour, double width);
void svg_escape(StrBuf *out, const char *text);
/* The approximate width in a common sans-serif font, rather too large than too small. */
double svg_text_width(const char *text, double size);

#endif
