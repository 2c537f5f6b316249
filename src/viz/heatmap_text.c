/* heatmap_text.c - weights in a terminal: rows of coloured or shaded cells, in blocks of columns that fit.
 *
 * Column labels are vertical, above their column. If one is too long, columns are numbered and the labels
 * follow below.
 */
#include "viz/heatmap.h"

#include <math.h>
#include "viz/colours.h"
#include "viz/label.h"

enum { TALLEST_LABEL = 16, GRADIENT = 16 };

typedef struct {
    const Heatmap *map;
    int width;       /* of the terminal */
    int label_width; /* columns for row labels */
    int cell_width;
    bool numbered;
    bool coloured; /* otherwise shades */
    StrBuf *out;
} TextHeatmap;

static int min_int(int a, int b) { return a < b ? a : b; }
static int max_int(int a, int b) { return a > b ? a : b; }

static void add_spaces(StrBuf *out, int count) {
    while (count-- > 0) strbuf_add_char(out, ' ');
}

/* Removes trailing blanks and ends the line. */
static void end_line(StrBuf *out) {
    while (out->length > 0 && out->data[out->length - 1] == ' ') out->length--;
    strbuf_add_char(out, '\n');
}

static void add_shades(StrBuf *out, double weight, int width) {
    static const char *const shades[] = {" ", "░", "▒", "▓", "█"};
    const char *shade = isnan(weight) ? "?" : shades[(int)(colour_clamp(weight) * 4 + 0.5)];
    while (width-- > 0) strbuf_add(out, sv(shade));
}

/* The escape sequence of a background colour, ECMA-48 SGR. */
static void add_background(const TextHeatmap *view, double weight) {
    Colour colour = colour_of(weight);
    strbuf_format(view->out, "\033[48;2;%d;%d;%dm", colour.red, colour.green, colour.blue);
}

static void add_cell(const TextHeatmap *view, double weight, int width) {
    if (!view->coloured) {
        add_shades(view->out, weight, width);
        return;
    }
    add_background(view, weight);
    add_spaces(view->out, width);
}

static void write_row(const TextHeatmap *view, int row, int first, int last) {
    StrBuf *out = view->out;
    const Heatmap *map = view->map;
    label_add_right(out, map->row_labels[row], view->label_width);
    strbuf_add(out, view->coloured ? SV(" ") : SV("│"));
    for (int c = first; c < last; c++)
        add_cell(view, (double)map->weights[(size_t)row * (size_t)map->columns + (size_t)c],
                 view->cell_width);
    strbuf_add(out, view->coloured ? SV("\033[0m\n") : SV("│\n"));
}

/* Character `index` of a label; returns its width, 0 if there is none. */
static int add_character(StrBuf *out, const char *label, int index) {
    StrView text = sv(label);
    StrBuf character = {0};
    int width = 0;
    size_t position = 0;
    for (int i = 0; i <= index && position < text.length; i++) {
        strbuf_clear(&character);
        width = label_add_next(&character, text, &position);
        if (i < index) width = 0;
    }
    if (width > 0) strbuf_add(out, strbuf_view(&character));
    label_keep_order(out, out->length - (width > 0 ? character.length : 0));
    strbuf_free(&character);
    return width;
}

/* Vertical labels, with their last characters next to the cells. */
static void write_vertical_labels(const TextHeatmap *view, int first, int last) {
    int height = 0;
    for (int c = first; c < last; c++) height = max_int(height, label_count(view->map->column_labels[c]));
    for (int line = 0; line < height; line++) {
        add_spaces(view->out, view->label_width + 1);
        for (int c = first; c < last; c++) {
            const char *label = view->map->column_labels[c];
            int index = line - (height - label_count(label));
            int used = index >= 0 ? add_character(view->out, label, index) : 0;
            add_spaces(view->out, view->cell_width - used);
        }
        end_line(view->out);
    }
}

static void write_numbers(const TextHeatmap *view, int first, int last) {
    add_spaces(view->out, view->label_width + 1);
    for (int c = first; c < last; c++) strbuf_format(view->out, "%*d", view->cell_width, c + 1);
    strbuf_add_char(view->out, '\n');
}

static void write_legend(const TextHeatmap *view, int first, int last) {
    StrBuf *out = view->out;
    int digits = view->cell_width - 1, used = 0;
    for (int c = first; c < last; c++) {
        const char *label = view->map->column_labels[c];
        int need = digits + 1 + min_int(label_width(label), max_int(1, view->width - digits - 1));
        if (used > 0 && used + 3 + need > view->width) {
            strbuf_add_char(out, '\n');
            used = 0;
        } else if (used > 0) {
            add_spaces(out, 3);
            used += 3;
        }
        strbuf_format(out, "%*d ", digits, c + 1);
        label_add(out, label, need - digits - 1);
        used += need;
    }
    if (used > 0) end_line(out);
}

static void write_scale(const TextHeatmap *view) {
    int cells = view->coloured ? GRADIENT : 5;
    int used = view->label_width + 1 + 2 + (view->coloured ? cells : 2 * cells) + 2;
    if (used > view->width) return;
    add_spaces(view->out, view->label_width - 1);
    strbuf_add(view->out, SV("0 "));
    if (!view->coloured) strbuf_add(view->out, SV("│"));
    for (int i = 0; i < cells; i++) add_cell(view, (double)i / (cells - 1), view->coloured ? 1 : 2);
    strbuf_add(view->out, view->coloured ? SV("\033[0m 1\n") : SV("│ 1\n"));
}

void heatmap_write_text(const Heatmap *map, int width, bool coloured, StrBuf *out) {
    TextHeatmap view = {.map = map,
                        .width = max_int(width, 1),
                        .label_width = 1,
                        .cell_width = 2,
                        .coloured = coloured,
                        .out = out};
    for (int r = 0; r < map->rows; r++)
        view.label_width = max_int(view.label_width, label_width(map->row_labels[r]));
    for (int c = 0; c < map->columns; c++)
        view.numbered |= label_count(map->column_labels[c]) > TALLEST_LABEL;
    if (view.numbered)
        for (int rest = map->columns; rest >= 10; rest /= 10) view.cell_width++;
    view.label_width = min_int(view.label_width, max_int(6, view.width / 3));
    view.label_width = max_int(1, min_int(view.label_width, view.width - 2 - view.cell_width));
    int block = max_int(1, (view.width - view.label_width - 2) / view.cell_width);

    if (map->title) {
        label_add(out, map->title, view.width);
        strbuf_add_char(out, '\n');
    }
    int first = 0;
    do {
        int last = min_int(first + block, map->columns);
        if (first > 0) strbuf_add_char(out, '\n');
        if (view.numbered)
            write_numbers(&view, first, last);
        else
            write_vertical_labels(&view, first, last);
        for (int r = 0; r < map->rows; r++) write_row(&view, r, first, last);
        if (view.numbered) write_legend(&view, first, last);
        first = last;
    } while (first < map->columns);
    write_scale(&view);
}
