/* heatmap_svg.c - weights as a figure: labels, cells with their weight as a tooltip, and a scale. */
#include "viz/heatmap.h"

#include <math.h>
#include "viz/colours.h"
#include "viz/label.h"
#include "viz/svg.h"

enum {
    MARGIN = 16,
    LABEL_COLUMNS = 28,
    SCALE_WIDTH = 14,
    SCALE_HEIGHT = 160,
    TITLE_SIZE = 15,
    TITLE_WIDTH = 480
};

typedef struct {
    double cell, font, turn; /* turn: of the column labels, degrees */
    double left, top;        /* corner of the grid */
    double grid_width, grid_height;
    double scale_x, scale_height;
    double title_width;
    double width, height;
    double low, high; /* weights of the lightest and the darkest shade */
} Layout;

/* The label, cut if it is very long. Returns the text of `buffer`. */
static const char *shorten(const char *label, StrBuf *buffer) {
    strbuf_clear(buffer);
    label_add(buffer, label, LABEL_COLUMNS);
    return strbuf_text(buffer);
}

static double widest(const char *const *labels, int count, double font) {
    StrBuf buffer = {0};
    double width = 0;
    for (int i = 0; i < count; i++) width = fmax(width, svg_text_width(shorten(labels[i], &buffer), font));
    strbuf_free(&buffer);
    return width;
}

/* Pixels by which slanted column labels exceed the grid on the right. */
static double overhang(const Heatmap *map, const Layout *at) {
    StrBuf buffer = {0};
    double beyond = 0, lean = cos(at->turn * acos(-1) / 180);
    for (int c = 0; c < map->columns; c++) {
        double end =
            (c + 0.5) * at->cell + lean * svg_text_width(shorten(map->column_labels[c], &buffer), at->font);
        beyond = fmax(beyond, end - at->grid_width);
    }
    strbuf_free(&buffer);
    return beyond;
}

static Layout plan(const Heatmap *map, double low, double high) {
    Layout at = {.low = low, .high = high};
    int longest = map->rows > map->columns ? map->rows : map->columns;
    at.cell = floor(fmin(34, fmax(16, 640.0 / (longest > 0 ? longest : 1))));
    at.font = fmin(14, floor(at.cell * 0.7));
    at.turn = at.cell >= 20 ? -45 : -90;
    at.grid_width = map->columns * at.cell;
    at.grid_height = map->rows * at.cell;
    double radians = at.turn * acos(-1) / 180;
    double labels = widest(map->column_labels, map->columns, at.font);
    at.left = ceil(MARGIN + widest(map->row_labels, map->rows, at.font) + 8);
    at.scale_x = at.left + at.grid_width + 24;
    at.scale_height = fmin(SCALE_HEIGHT, fmax(at.grid_height, 80));
    double right = fmax(at.scale_x + SCALE_WIDTH + 8 + svg_text_width("0.25", 11),
                        at.left + at.grid_width + overhang(map, &at));
    const char *title = map->title ? map->title : "";
    at.title_width = fmax(right - MARGIN, fmin(TITLE_WIDTH, svg_text_width(title, TITLE_SIZE)));
    int lines = svg_paragraph(NULL, 0, 0, at.title_width, TITLE_SIZE, title);
    at.top = ceil(MARGIN + (map->title ? TITLE_SIZE + 14 : 0) +
                  (lines > 1 ? (lines - 1) * svg_line_height(TITLE_SIZE) : 0) + labels * -sin(radians) +
                  at.font * cos(radians) + 8);
    at.width = ceil(fmax(right, MARGIN + at.title_width) + MARGIN);
    at.height = ceil(at.top + fmax(at.grid_height, at.scale_height + 6) + MARGIN);
    return at;
}

static void write_labels(const Heatmap *map, const Layout *at, StrBuf *out) {
    StrBuf buffer = {0};
    /* Vertical labels are centred on the column; slanted labels start above its middle. */
    double shift = at->turn == -90 ? at->font * 0.35 : at->font * 0.2;
    for (int c = 0; c < map->columns; c++)
        svg_text(out, at->left + (c + 0.5) * at->cell + shift, at->top - 6, at->turn, SVG_START, at->font,
                 SVG_INK, shorten(map->column_labels[c], &buffer));
    for (int r = 0; r < map->rows; r++)
        svg_text(out, at->left - 8, at->top + (r + 0.5) * at->cell + at->font * 0.35, 0, SVG_END, at->font,
                 SVG_INK, shorten(map->row_labels[r], &buffer));
    strbuf_free(&buffer);
}

static void write_row(const Heatmap *map, const Layout *at, int row, StrBuf *out) {
    const float *weights = map->weights + (size_t)row * (size_t)map->columns;
    strbuf_format(out, "<g transform=\"translate(%.6g %.6g)\">\n", at->left, at->top + row * at->cell);
    for (int c = 0; c < map->columns; c++) {
        Colour colour = colour_of(((double)weights[c] - at->low) / (at->high - at->low));
        strbuf_format(out, "<rect x=\"%.6g\" width=\"%.6g\" height=\"%.6g\" fill=\"#%02x%02x%02x\"><title>",
                      c * at->cell, at->cell, at->cell, (unsigned)colour.red, (unsigned)colour.green,
                      (unsigned)colour.blue);
        svg_escape(out, map->row_labels[row]);
        strbuf_add(out, SV(" ← "));
        svg_escape(out, map->column_labels[c]);
        strbuf_format(out, ": %.3f</title></rect>\n", (double)weights[c]);
    }
    strbuf_add(out, SV("</g>\n"));
}

/* Faint lines between cells, from a weight to its labels. */
static void write_rules(const Heatmap *map, const Layout *at, StrBuf *out) {
    strbuf_add(out, SV("<path stroke=\"#000000\" stroke-opacity=\"0.07\" d=\"M0 0"));
    for (int c = 1; c < map->columns; c++)
        strbuf_format(out, "M%.6g %.6gv%.6g", at->left + c * at->cell, at->top, at->grid_height);
    for (int r = 1; r < map->rows; r++)
        strbuf_format(out, "M%.6g %.6gh%.6g", at->left, at->top + r * at->cell, at->grid_width);
    strbuf_add(out, SV("\"/>\n"));
}

static void write_scale(const Layout *at, StrBuf *out) {
    strbuf_add(out, SV("<defs><linearGradient id=\"scale\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">\n"));
    for (int i = 0; i <= COLOUR_STEPS; i++) {
        Colour colour = colour_of((double)i / COLOUR_STEPS);
        strbuf_format(out, "<stop offset=\"%.6g\" stop-color=\"#%02x%02x%02x\"/>\n", (double)i / COLOUR_STEPS,
                      (unsigned)colour.red, (unsigned)colour.green, (unsigned)colour.blue);
    }
    strbuf_add(out, SV("</linearGradient></defs>\n"));
    strbuf_format(
        out,
        "<rect x=\"%.6g\" y=\"%.6g\" width=\"%d\" height=\"%.6g\" fill=\"url(#scale)\" stroke=\"" SVG_FAINT
        "\" stroke-width=\"0.75\"/>\n",
        at->scale_x, at->top, SCALE_WIDTH, at->scale_height);
    int ticks = at->scale_height >= 120 ? 4 : 2;
    for (int i = 0; i <= ticks; i++) {
        double y = at->top + at->scale_height * (ticks - i) / ticks, x = at->scale_x + SCALE_WIDTH;
        StrBuf number = {0};
        strbuf_format(&number, "%.3g", at->low + (at->high - at->low) * i / ticks);
        svg_line(out, x, y, x + 4, y, SVG_FAINT, 0.75);
        svg_text(out, x + 8, y + 4, 0, SVG_START, 11, SVG_INK, strbuf_text(&number));
        strbuf_free(&number);
    }
}

void heatmap_write_svg(const Heatmap *map, StrBuf *out) { heatmap_write_svg_range(map, 0, 1, out); }

void heatmap_write_svg_range(const Heatmap *map, double low, double high, StrBuf *out) {
    Layout at = plan(map, low, high);
    svg_begin(out, at.width, at.height, map->title ? map->title : "weights");
    if (map->title) svg_paragraph(out, MARGIN, MARGIN + TITLE_SIZE, at.title_width, TITLE_SIZE, map->title);
    write_labels(map, &at, out);
    strbuf_add(out, SV("<g shape-rendering=\"crispEdges\">\n"));
    for (int r = 0; r < map->rows; r++) write_row(map, &at, r, out);
    write_rules(map, &at, out);
    strbuf_add(out, SV("</g>\n"));
    strbuf_format(
        out,
        "<rect x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" fill=\"none\" stroke=\"" SVG_FAINT
        "\" stroke-width=\"0.75\"/>\n",
        at.left, at.top, at.grid_width, at.grid_height);
    write_scale(&at, out);
    svg_end(out);
}
