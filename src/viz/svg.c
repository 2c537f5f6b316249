/* svg.c - elements, escapes and an estimate of text width that needs no font. */
#include "viz/svg.h"

#include <string.h>
#include "viz/label.h"

void svg_begin(StrBuf *out, double width, double height, const char *title) {
    strbuf_add(out, SV("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
    strbuf_format(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.6g\" height=\"%.6g\" viewBox=\"0 0 %.6g %.6g\" "
        "role=\"img\" font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\">\n",
        width, height, width, height);
    if (title) {
        strbuf_add(out, SV("<title>"));
        svg_escape(out, title);
        strbuf_add(out, SV("</title>\n"));
    }
    strbuf_add(out, SV("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"));
}

void svg_end(StrBuf *out) { strbuf_add(out, SV("</svg>\n")); }

void svg_text(StrBuf *out, double x, double y, double turn, SvgAnchor anchor, double size, const char *colour,
              const char *text) {
    static const char *const anchors[] = {"start", "middle", "end"};
    strbuf_add(out, SV("<text "));
    if (turn == 0)
        strbuf_format(out, "x=\"%.6g\" y=\"%.6g\"", x, y);
    else
        strbuf_format(out, "transform=\"translate(%.6g %.6g) rotate(%.6g)\"", x, y, turn);
    strbuf_format(out, " font-size=\"%.6g\" fill=\"%s\" text-anchor=\"%s\">", size, colour, anchors[anchor]);
    svg_escape(out, text);
    strbuf_add(out, SV("</text>\n"));
}

void svg_line(StrBuf *out, double x1, double y1, double x2, double y2, const char *colour, double width) {
    strbuf_format(
        out, "<line x1=\"%.6g\" y1=\"%.6g\" x2=\"%.6g\" y2=\"%.6g\" stroke=\"%s\" stroke-width=\"%.6g\"/>\n",
        x1, y1, x2, y2, colour, width);
}

void svg_escape(StrBuf *out, const char *text) {
    StrView view = sv(text);
    for (size_t position = 0; position < view.length;) {
        char c = text[position];
        StrView entity = c == '&'   ? SV("&amp;")
                         : c == '<' ? SV("&lt;")
                         : c == '>' ? SV("&gt;")
                         : c == '"' ? SV("&quot;")
                                    : (StrView){0};
        if (entity.length > 0) {
            strbuf_add(out, entity);
            position++;
        } else {
            label_add_next(out, view, &position);
        }
    }
}

double svg_text_width(const char *text, double size) {
    StrView view = sv(text);
    StrBuf character = {0};
    double ems = 0;
    for (size_t position = 0; position < view.length;) {
        char c = text[position];
        strbuf_clear(&character);
        int columns = label_add_next(&character, view, &position);
        if (c > 0 && strchr("ijl.,:;'|!I ", c))
            ems += 0.36;
        else if (c > 0 && strchr("mwMW@%", c))
            ems += 0.98;
        else if (c >= 'A' && c <= 'Z')
            ems += 0.75;
        else
            ems += columns == 2 ? 1.1 : 0.63;
    }
    strbuf_free(&character);
    return ems * size;
}
