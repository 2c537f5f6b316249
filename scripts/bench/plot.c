/* plot.c - no measurement: draws what a script has measured.
 *
 * The input has tables, one below the other, each of lines of fields between tabs:
 *
 *     # TITLE
 *     TITLE OF X       TITLE OF Y       NAME OF A LINE   NAME OF ANOTHER ...
 *     x                the lines' y there, "-" for none ...
 */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "bench/bench.h"

enum { PLOTS = 4, LINES = 6, POINTS = 256 };

typedef struct {
    StrBuf title, x_title, y_title, name[LINES];
    double x[LINES][POINTS], y[LINES][POINTS];
    PlotSeries series[LINES];
    int lines, points[LINES];
} Table;

static void table_free(Table *t) {
    strbuf_free(&t->title);
    strbuf_free(&t->x_title);
    strbuf_free(&t->y_title);
    for (int i = 0; i < LINES; i++) strbuf_free(&t->name[i]);
}

static void read_names(Table *t, StrView line) {
    StrView field;
    for (int i = 0; sv_next(&line, '\t', &field) && i < LINES + 2; i++) {
        strbuf_add(i == 0 ? &t->x_title : i == 1 ? &t->y_title : &t->name[i - 2], field);
        t->lines = i - 1;
    }
}

static bool read_number(StrView field, double *number) {
    char text[32], *end;
    if (field.length == 0 || field.length >= sizeof text) return false;
    memcpy(text, field.data, field.length);
    text[field.length] = '\0';
    *number = strtod(text, &end);
    return *end == '\0';
}

/* A line of numbers; false if there are not as many as names. */
static bool read_point(Table *t, StrView line) {
    StrView field;
    double x, y;
    int i = 0;
    if (!sv_next(&line, '\t', &field) || !read_number(field, &x)) return false;
    for (; sv_next(&line, '\t', &field); i++) {
        if (i == t->lines || t->points[i] == POINTS) return false;
        if (sv_equal(field, SV("-"))) continue;
        if (!read_number(field, &y)) return false;
        t->x[i][t->points[i]] = x;
        t->y[i][t->points[i]++] = y;
    }
    return i == t->lines;
}

/* Returns how many tables, or -1: line *wrong is none of a table. */
static int read_tables(StrView text, Table *tables, int *wrong) {
    int count = 0;
    StrView line;
    for (*wrong = 1; sv_next(&text, '\n', &line); ++*wrong) {
        Table *t = &tables[count - 1];
        if (line.length == 0) continue;
        if (line.length > 2 && line.data[0] == '#') {
            if (count == PLOTS) return -1;
            strbuf_add(&tables[count++].title, (StrView){line.data + 2, line.length - 2});
        } else if (count == 0) {
            return -1;
        } else if (t->lines == 0) {
            read_names(t, line);
            if (t->lines < 1) return -1;
        } else if (!read_point(t, line)) {
            return -1;
        }
    }
    return count;
}

static Plot plot_of(Table *t) {
    for (int i = 0; i < t->lines; i++)
        t->series[i] =
            (PlotSeries){.name = strbuf_text(&t->name[i]), .x = t->x[i], .y = t->y[i], .count = t->points[i]};
    return (Plot){.title = strbuf_text(&t->title),
                  .x = {.title = strbuf_text(&t->x_title), .whole = true},
                  .left = {.title = strbuf_text(&t->y_title)},
                  .series = t->series,
                  .count = t->lines};
}

Status bench_plot(Bench *bench) {
    const BenchOptions *o = &bench->options;
    Table tables[PLOTS] = {{.lines = 0}};
    Plot plots[PLOTS];
    StrBuf text = {0};
    int wrong = 0;
    if (!o->input || !o->svg) return status_fail(STATUS_USAGE, "plot needs --input FILE and --svg FILE");
    TRY(file_read(o->input, 1 << 20, &text));
    int count = read_tables(strbuf_view(&text), tables, &wrong);
    Status status = STATUS_OK;
    if (count < 0)
        status = status_fail(STATUS_DATA, "'%s', line %d: no table has this line", o->input, wrong);
    for (int i = 0; i < count; i++) plots[i] = plot_of(&tables[i]);
    if (status == STATUS_OK) status = bench_draw(bench, plots, count, count > 1 ? 2 : 1);
    for (int i = 0; i < PLOTS; i++) table_free(&tables[i]);
    strbuf_free(&text);
    return status;
}
