/* plot_svg.c - a plot as a figure: title, legend, scales with ticks, lines. */
#include "viz/plot.h"

#include <math.h>
#include "viz/svg.h"

enum { WIDTH = 760, PLOT_HEIGHT = 320, MARGIN = 16, TITLE_SIZE = 15, FONT = 12 };
enum { FEW_POINTS = 40, X_PARTS = 8, Y_PARTS = 6 };

/* The scales, with their positions in pixels. */
typedef struct {
    Axis x, left, right;
    double top, bottom;
} Figure;

/* Distinguishable with colour vision deficiency, and by lightness in grey print. */
static const char *const PALETTE[] = {"#1b6ca8", "#d1495b", "#2e8b57", "#8e5ea2", "#c98b1b", "#444444"};
enum { PALETTE_SIZE = sizeof PALETTE / sizeof *PALETTE };

static const char *colour_of_series(int s) { return PALETTE[s % PALETTE_SIZE]; }

/* Lines of the right-hand axis are dashed. Lines that reuse a colour are dotted. */
static const char *dashes_of_series(const PlotSeries *line, int s) {
    if (line->right_axis) return " stroke-dasharray=\"7 3\"";
    return s >= PALETTE_SIZE ? " stroke-dasharray=\"2 3\"" : "";
}

static const Axis *axis_of(const Figure *figure, const PlotSeries *line) {
    return line->right_axis ? &figure->right : &figure->left;
}

static bool is_point(const PlotSeries *line, int i) {
    return i >= 0 && i < line->count && axis_draws(line->x[i]) && axis_draws(line->y[i]);
}

/* ---- scales ---- */

static void cover_series(Figure *figure, const PlotSeries *line) {
    Axis *y = line->right_axis ? &figure->right : &figure->left;
    for (int i = 0; i < line->count; i++)
        if (is_point(line, i)) {
            axis_cover(&figure->x, line->x[i]);
            axis_cover(y, line->y[i]);
        }
}

/* Computes the scales: first their ranges, then their positions. `below` is the end of the legend. */
static Figure plan(const Plot *plot, double below) {
    Figure figure = {
        .x.whole = plot->x.whole, .left.whole = plot->left.whole, .right.whole = plot->right.whole};
    for (int s = 0; s < plot->count; s++) cover_series(&figure, &plot->series[s]);
    axis_round(&figure.x, X_PARTS);
    axis_round(&figure.left, Y_PARTS);
    axis_round(&figure.right, Y_PARTS);
    figure.top = below + 18;
    figure.bottom = figure.top + PLOT_HEIGHT;
    figure.left.from = figure.right.from = figure.bottom;
    figure.left.to = figure.right.to = figure.top;
    figure.x.from = ceil(MARGIN + 20 + axis_widest_tick(&figure.left, FONT) + 8);
    figure.x.to =
        WIDTH - ceil(MARGIN + (figure.right.used ? 20 + axis_widest_tick(&figure.right, FONT) + 8 : 12));
    return figure;
}

static void write_ticks(const Figure *figure, StrBuf *out) {
    StrBuf label = {0};
    for (int i = 0; i < figure->left.ticks; i++) {
        double y = axis_position(&figure->left, axis_tick(&figure->left, i));
        svg_line(out, figure->x.from, y, figure->x.to, y, "#e4e4e4", 1);
        axis_write_tick(&figure->left, i, &label);
        svg_text(out, figure->x.from - 8, y + 4, 0, SVG_END, FONT, SVG_INK, strbuf_text(&label));
    }
    for (int i = 0; figure->right.used && i < figure->right.ticks; i++) {
        double y = axis_position(&figure->right, axis_tick(&figure->right, i));
        svg_line(out, figure->x.to, y, figure->x.to + 4, y, SVG_FAINT, 1);
        axis_write_tick(&figure->right, i, &label);
        svg_text(out, figure->x.to + 8, y + 4, 0, SVG_START, FONT, SVG_INK, strbuf_text(&label));
    }
    for (int i = 0; i < figure->x.ticks; i++) {
        double x = axis_position(&figure->x, axis_tick(&figure->x, i));
        svg_line(out, x, figure->bottom, x, figure->bottom + 4, SVG_FAINT, 1);
        axis_write_tick(&figure->x, i, &label);
        svg_text(out, x, figure->bottom + 18, 0, SVG_MIDDLE, FONT, SVG_INK, strbuf_text(&label));
    }
    strbuf_free(&label);
}

static void write_axis_title(const PlotAxis *axis, double x, double y, double turn, StrBuf *out) {
    if (axis->title) svg_text(out, x, y, turn, SVG_MIDDLE, FONT, SVG_INK, axis->title);
}

static void write_axes(const Plot *plot, const Figure *figure, StrBuf *out) {
    double middle = (figure->top + figure->bottom) / 2;
    write_ticks(figure, out);
    write_axis_title(&plot->x, (figure->x.from + figure->x.to) / 2, figure->bottom + 38, 0, out);
    write_axis_title(&plot->left, MARGIN + FONT - 2, middle, -90, out);
    if (figure->right.used) {
        write_axis_title(&plot->right, WIDTH - MARGIN, middle, -90, out);
        svg_line(out, figure->x.to, figure->top, figure->x.to, figure->bottom, SVG_FAINT, 1);
    }
    svg_line(out, figure->x.from, figure->top, figure->x.from, figure->bottom, SVG_FAINT, 1);
    svg_line(out, figure->x.from, figure->bottom, figure->x.to, figure->bottom, SVG_FAINT, 1);
}

/* ---- lines ---- */

static void add_step(StrBuf *out, bool pen_down, double x, double y) {
    strbuf_format(out, "%c%.1f %.1f", pen_down ? 'L' : 'M', x, y);
}

/* Of many points, those in the same column of pixels are drawn as their range: a million points make a small
 * file. */
static void write_path(const Figure *figure, const PlotSeries *line, StrBuf *out) {
    const Axis *axis = axis_of(figure, line);
    bool pen_down = false, dense = line->count > 2 * WIDTH;
    for (int i = 0; i < line->count; i++) {
        if (!is_point(line, i)) {
            pen_down = false;
            continue;
        }
        double x = axis_position(&figure->x, line->x[i]), y = axis_position(axis, line->y[i]);
        double low = y, high = y, last = y;
        while (dense && is_point(line, i + 1) &&
               floor(axis_position(&figure->x, line->x[i + 1])) == floor(x)) {
            last = axis_position(axis, line->y[++i]);
            low = fmin(low, last);
            high = fmax(high, last);
        }
        add_step(out, pen_down, x, y);
        pen_down = true;
        if (low < high) {
            add_step(out, true, x, low);
            add_step(out, true, x, high);
            add_step(out, true, x, last);
        }
    }
}

static void write_markers(const Figure *figure, const PlotSeries *line, const char *colour, StrBuf *out) {
    for (int i = 0; i < line->count; i++) {
        bool alone = !is_point(line, i - 1) && !is_point(line, i + 1); /* no line ends here */
        if (!is_point(line, i) || !(line->count <= FEW_POINTS || alone)) continue;
        strbuf_format(
            out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>%.6g: %.6g</title></circle>\n",
            axis_position(&figure->x, line->x[i]), axis_position(axis_of(figure, line), line->y[i]), colour,
            line->x[i], line->y[i]);
    }
}

static void write_series(const Figure *figure, const PlotSeries *line, int s, StrBuf *out) {
    strbuf_format(out,
                  "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" stroke-linejoin=\"round\"%s d=\"",
                  colour_of_series(s), line->count > WIDTH ? "1" : "1.8", dashes_of_series(line, s));
    write_path(figure, line, out);
    strbuf_add(out, SV("\"/>\n"));
    write_markers(figure, line, colour_of_series(s), out);
}

/* ---- the figure ---- */

/* Names in rows below the title; returns the base line of the last row. A NULL `out` only measures. */
static double write_legend(const Plot *plot, double y, StrBuf *out) {
    bool left = false, right = false;
    double x = MARGIN;
    for (int s = 0; s < plot->count; s++) (plot->series[s].right_axis ? (right = true) : (left = true));
    for (int s = 0; s < plot->count; s++) {
        const PlotSeries *line = &plot->series[s];
        StrBuf name = {0};
        strbuf_add(&name, sv(line->name));
        if (left && right) strbuf_add(&name, line->right_axis ? SV(" (right)") : SV(" (left)"));
        double width = 28 + svg_text_width(strbuf_text(&name), FONT);
        if (x > MARGIN && x + width > WIDTH - MARGIN) {
            x = MARGIN;
            y += FONT + 8;
        }
        if (out) {
            strbuf_format(out,
                          "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2.4\"%s d=\"M%.6g %.6gh22\"/>\n",
                          colour_of_series(s), dashes_of_series(line, s), x, y - 4);
            svg_text(out, x + 28, y, 0, SVG_START, FONT, SVG_INK, strbuf_text(&name));
        }
        strbuf_free(&name);
        x += width + 20;
    }
    return y;
}

void plot_write_svg(const Plot *plot, StrBuf *out) {
    double width = WIDTH - 2 * MARGIN, base = MARGIN + FONT;
    int lines = plot->title ? svg_paragraph(NULL, 0, 0, width, TITLE_SIZE, plot->title) : 0;
    if (plot->title) base += TITLE_SIZE + 12 + (lines > 1 ? (lines - 1) * svg_line_height(TITLE_SIZE) : 0);
    Figure figure = plan(plot, write_legend(plot, base, NULL));
    svg_begin(out, WIDTH, figure.bottom + 38 + MARGIN, plot->title);
    if (plot->title) svg_paragraph(out, MARGIN, MARGIN + TITLE_SIZE, width, TITLE_SIZE, plot->title);
    write_legend(plot, base, out);
    write_axes(plot, &figure, out);
    for (int s = 0; s < plot->count; s++) write_series(&figure, &plot->series[s], s, out);
    svg_end(out);
}
