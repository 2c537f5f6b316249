/* curve_svg.c - lines with up to two vertical scales, ticks at round numbers and a legend. */
#include "viz/curve.h"

#include <float.h>
#include <math.h>
#include "viz/svg.h"

enum { WIDTH = 760, PLOT_HEIGHT = 320, MARGIN = 16, TITLE_SIZE = 15, FONT = 12, FEW_POINTS = 40 };
/* Larger ones would squeeze the rest into a line: they are gaps, like NaN. Smaller ones are zero. */
static const double LARGEST = 1e30, SMALLEST = 1e-30;

/* One scale: values low..high are drawn at pixels from..to, with a tick at each multiple of step. */
typedef struct {
    double low, high, step;
    double from, to;
    bool used;
} Axis;

typedef struct {
    Axis x, left, right;
    double top, bottom;
} Plot;

/* Told apart by people who do not see colours as most do, and by their lightness in grey print. */
static const char *const PALETTE[] = {"#1b6ca8", "#d1495b", "#2e8b57", "#8e5ea2", "#c98b1b", "#444444"};
enum { PALETTE_SIZE = sizeof PALETTE / sizeof *PALETTE };

static bool is_drawn(double value) { return fabs(value) < LARGEST; }

static bool is_point(const CurveSeries *line, int i) { return is_drawn(line->x[i]) && is_drawn(line->y[i]); }

static void axis_cover(Axis *axis, double value) {
    axis->low = axis->used ? fmin(axis->low, value) : value;
    axis->high = axis->used ? fmax(axis->high, value) : value;
    axis->used = true;
}

/* Widen the axis to round numbers that cut it into at most `most` parts. */
static void axis_round(Axis *axis, int most, bool whole) {
    if (!axis->used) axis->low = 0, axis->high = 1;
    double room = fmax(SMALLEST, fmax(fabs(axis->low), fabs(axis->high)) * 1e-9); /* nearer is the same */
    if (!(axis->high - axis->low > room)) {
        double around = fabs(axis->high) > SMALLEST ? fabs(axis->high) * 0.1 : 1;
        axis->low -= around;
        axis->high += around;
    }
    if (axis->low > 0 && axis->low < axis->high / 4)
        axis->low = 0; /* not far from where people look for it */
    if (whole) axis->high = fmax(axis->high, axis->low + 1);
    double rough = (axis->high - axis->low) / most, power = pow(10, floor(log10(rough)));
    static const double factors[] = {1, 2, 2.5, 5, 10};
    int i = 0;
    while (i < 4 && (factors[i] * power < rough * (1 - 1e-9) || (whole && power < 2 && i == 2))) i++;
    axis->step = factors[i] * power;
    if (whole && axis->step < 1) axis->step = 1;
    axis->low = floor(axis->low / axis->step + 1e-9) * axis->step;
    axis->high = ceil(axis->high / axis->step - 1e-9) * axis->step;
}

static int axis_ticks(const Axis *axis) { return (int)lround((axis->high - axis->low) / axis->step); }

static double axis_place(const Axis *axis, double value) {
    return axis->from + (value - axis->low) / (axis->high - axis->low) * (axis->to - axis->from);
}

/* "0.25" under a step of 0.05, "12,000" under a step of 1000: no more digits than the ticks need. */
static void axis_label(const Axis *axis, int tick, StrBuf *out) {
    double value = axis->low + tick * axis->step;
    if (fabs(value) < axis->step * 1e-6) value = 0;
    strbuf_clear(out);
    if (axis->step < 1e-4 || fabs(value) >= 1e7) {
        strbuf_format(out, "%.6g", value);
        return;
    }
    int decimals = 0;
    for (double step = axis->step; decimals < 8 && fabs(step - round(step)) > 1e-6 * step; step *= 10)
        decimals++;
    if (fabs(value) < 10000)
        strbuf_format(out, "%.*f", decimals, value);
    else
        strbuf_format(out, "%d,%03d", (int)value / 1000, (int)fabs(value) % 1000);
}

static double widest_label(const Axis *axis) {
    StrBuf label = {0};
    double width = 0;
    for (int i = 0; i <= axis_ticks(axis); i++) {
        axis_label(axis, i, &label);
        width = fmax(width, svg_text_width(strbuf_text(&label), FONT));
    }
    strbuf_free(&label);
    return width;
}

static Axis *axis_of(Plot *plot, const CurveSeries *line) {
    return line->right_axis ? &plot->right : &plot->left;
}

/* All scales from the data: what they cover first, then their place. `below` is the end of the legend. */
static Plot plan(const CurveSeries *series, int count, double below) {
    Plot plot = {0};
    for (int s = 0; s < count; s++)
        for (int i = 0; i < series[s].count; i++)
            if (is_point(&series[s], i)) {
                axis_cover(&plot.x, series[s].x[i]);
                axis_cover(axis_of(&plot, &series[s]), series[s].y[i]);
            }
    bool right = plot.right.used;
    axis_round(&plot.x, 8, true);
    axis_round(&plot.left, 6, false);
    axis_round(&plot.right, 6, false);
    plot.top = below + 18;
    plot.bottom = plot.top + PLOT_HEIGHT;
    plot.left.from = plot.right.from = plot.bottom;
    plot.left.to = plot.right.to = plot.top;
    plot.x.from = ceil(MARGIN + 20 + widest_label(&plot.left) + 8);
    plot.x.to = WIDTH - ceil(MARGIN + (right ? 20 + widest_label(&plot.right) + 8 : 12));
    plot.right.used = right;
    return plot;
}

static void write_axes(const Plot *plot, const char *x_label, const char *left_label, const char *right_label,
                       StrBuf *out) {
    StrBuf label = {0};
    for (int i = 0; i <= axis_ticks(&plot->left); i++) {
        double y = axis_place(&plot->left, plot->left.low + i * plot->left.step);
        svg_line(out, plot->x.from, y, plot->x.to, y, "#e4e4e4", 1);
        axis_label(&plot->left, i, &label);
        svg_text(out, plot->x.from - 8, y + 4, 0, SVG_END, FONT, SVG_INK, strbuf_text(&label));
    }
    for (int i = 0; plot->right.used && i <= axis_ticks(&plot->right); i++) {
        double y = axis_place(&plot->right, plot->right.low + i * plot->right.step);
        svg_line(out, plot->x.to, y, plot->x.to + 4, y, SVG_FAINT, 1);
        axis_label(&plot->right, i, &label);
        svg_text(out, plot->x.to + 8, y + 4, 0, SVG_START, FONT, SVG_INK, strbuf_text(&label));
    }
    for (int i = 0; i <= axis_ticks(&plot->x); i++) {
        double x = axis_place(&plot->x, plot->x.low + i * plot->x.step);
        svg_line(out, x, plot->bottom, x, plot->bottom + 4, SVG_FAINT, 1);
        axis_label(&plot->x, i, &label);
        svg_text(out, x, plot->bottom + 18, 0, SVG_MIDDLE, FONT, SVG_INK, strbuf_text(&label));
    }
    strbuf_free(&label);
    double middle = (plot->top + plot->bottom) / 2;
    svg_text(out, (plot->x.from + plot->x.to) / 2, plot->bottom + 38, 0, SVG_MIDDLE, FONT, SVG_INK, x_label);
    svg_text(out, MARGIN + FONT - 2, middle, -90, SVG_MIDDLE, FONT, SVG_INK, left_label);
    if (plot->right.used) {
        svg_text(out, WIDTH - MARGIN, middle, -90, SVG_MIDDLE, FONT, SVG_INK, right_label ? right_label : "");
        svg_line(out, plot->x.to, plot->top, plot->x.to, plot->bottom, SVG_FAINT, 1);
    }
    svg_line(out, plot->x.from, plot->top, plot->x.from, plot->bottom, SVG_FAINT, 1);
    svg_line(out, plot->x.from, plot->bottom, plot->x.to, plot->bottom, SVG_FAINT, 1);
}

static void add_step(StrBuf *out, bool pen_down, double x, double y) {
    strbuf_format(out, "%c%.1f %.1f", pen_down ? 'L' : 'M', x, y);
}

/* Points that share a column of pixels are drawn as their span, so that a million of them stay a small file. */
static void write_path(const Plot *plot, const Axis *axis, const CurveSeries *line, StrBuf *out) {
    bool pen_down = false, dense = line->count > 2 * WIDTH;
    for (int i = 0; i < line->count; i++) {
        if (!is_point(line, i)) {
            pen_down = false;
            continue;
        }
        double x = axis_place(&plot->x, line->x[i]), y = axis_place(axis, line->y[i]);
        double low = y, high = y, last = y;
        while (dense && i + 1 < line->count && is_point(line, i + 1) &&
               floor(axis_place(&plot->x, line->x[i + 1])) == floor(x)) {
            last = axis_place(axis, line->y[++i]);
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

/* The value has no neighbour to draw a line to. */
static bool is_alone(const CurveSeries *line, int i) {
    return (i == 0 || !is_point(line, i - 1)) && (i + 1 == line->count || !is_point(line, i + 1));
}

static void write_series(Plot *plot, const CurveSeries *line, const char *colour, StrBuf *out) {
    const Axis *axis = axis_of(plot, line);
    const char *dashes = line->right_axis ? " stroke-dasharray=\"7 3\"" : "";
    strbuf_format(out,
                  "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" stroke-linejoin=\"round\"%s d=\"",
                  colour, line->count > WIDTH ? "1" : "1.8", dashes);
    write_path(plot, axis, line, out);
    strbuf_add(out, SV("\"/>\n"));
    for (int i = 0; i < line->count; i++)
        if (is_point(line, i) && (line->count <= FEW_POINTS || is_alone(line, i)))
            strbuf_format(
                out,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>%.6g: %.6g</title></circle>\n",
                axis_place(&plot->x, line->x[i]), axis_place(axis, line->y[i]), colour, line->x[i],
                line->y[i]);
}

/* Names in rows below the title; returns the base line of the last row. `out` may be NULL to measure only. */
static double write_legend(const CurveSeries *series, int count, double y, bool sides, StrBuf *out) {
    double x = MARGIN;
    for (int s = 0; s < count; s++) {
        StrBuf name = {0};
        strbuf_format(&name, "%s%s", series[s].name,
                      !sides                 ? ""
                      : series[s].right_axis ? " (right)"
                                             : " (left)");
        double width = 28 + svg_text_width(strbuf_text(&name), FONT);
        if (x > MARGIN && x + width > WIDTH - MARGIN) {
            x = MARGIN;
            y += FONT + 8;
        }
        if (out) {
            const char *colour = PALETTE[s % PALETTE_SIZE];
            strbuf_format(out,
                          "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2.4\"%s d=\"M%.6g %.6gh22\"/>\n",
                          colour, series[s].right_axis ? " stroke-dasharray=\"7 3\"" : "", x, y - 4);
            svg_text(out, x + 28, y, 0, SVG_START, FONT, SVG_INK, strbuf_text(&name));
        }
        strbuf_free(&name);
        x += width + 20;
    }
    return y;
}

void curve_write_svg(const char *title, const char *x_label, const char *left_label, const char *right_label,
                     const CurveSeries *series, int count, StrBuf *out) {
    double base = MARGIN + (title ? TITLE_SIZE + 12 : 0) + FONT;
    bool left = false, right = false;
    for (int s = 0; s < count; s++) (series[s].right_axis ? (right = true) : (left = true));
    double below = write_legend(series, count, base, left && right, NULL);
    Plot plot = plan(series, count, below);
    svg_begin(out, WIDTH, plot.bottom + 38 + MARGIN, title);
    if (title) svg_text(out, MARGIN, MARGIN + TITLE_SIZE, 0, SVG_START, TITLE_SIZE, SVG_INK, title);
    write_legend(series, count, base, left && right, out);
    write_axes(&plot, x_label, left_label, right_label, out);
    for (int s = 0; s < count; s++) write_series(&plot, &series[s], PALETTE[s % PALETTE_SIZE], out);
    svg_end(out);
}
