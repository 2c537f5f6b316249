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

/* Width of the character at *position, which advances past it, in ems. */
static double character_width(StrView text, size_t *position, StrBuf *scratch) {
    char c = text.data[*position];
    strbuf_clear(scratch);
    int columns = label_add_next(scratch, text, position);
    if (c > 0 && strchr("ijl.,:;'|!I ", c)) return 0.36;
    if (c > 0 && strchr("mwMW@%", c)) return 0.98;
    if (c >= 'A' && c <= 'Z') return 0.75;
    return columns == 2 ? 1.1 : 0.63;
}

double svg_text_width(const char *text, double size) {
    StrView view = sv(text);
    StrBuf scratch = {0};
    double ems = 0;
    for (size_t position = 0; position < view.length;) ems += character_width(view, &position, &scratch);
    strbuf_free(&scratch);
    return ems * size;
}

/* Bytes of the first line: up to the last space that fits, or the last character; at least one. */
static size_t first_line(StrView text, double ems) {
    StrBuf scratch = {0};
    size_t position = 0, cut = 0;
    while (position < text.length) {
        size_t start = position;
        ems -= character_width(text, &position, &scratch);
        if (text.data[start] == ' ') {
            cut = position; /* a space at the end may exceed the width */
        } else if (ems < 0 && start > 0) {
            position = cut > 0 ? cut : start;
            break;
        }
    }
    strbuf_free(&scratch);
    return position;
}

int svg_paragraph(StrBuf *out, double x, double y, double width, double size, const char *text) {
    int lines = 0;
    for (StrView rest = sv(text); rest.length > 0; lines++) {
        size_t length = first_line(rest, width / size);
        StrBuf line = {0};
        strbuf_add(&line, sv_trim((StrView){rest.data, length}));
        if (out)
            svg_text(out, x, y + lines * svg_line_height(size), 0, SVG_START, size, SVG_INK,
                     strbuf_text(&line));
        strbuf_free(&line);
        rest = (StrView){rest.data + length, rest.length - length};
    }
    return lines;
}

double svg_line_height(double size) { return size + 4; }
