/* demo.c - reads lengths, prints rows and writes files, for all demonstrations. */
#include "textbook/demo.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "viz/heatmap.h"

/* ---- lengths ---- */

int demo_lengths_rows(const DemoLengths *lengths) { return lengths->batch * lengths->queries; }

void demo_write_lengths(const DemoLengths *lengths, StrBuf *out) {
    int step = lengths->queries, rows = demo_lengths_rows(lengths);
    for (int r = 0; r < rows; r++) /* equal lengths of all queries of an example are printed once */
        if (lengths->row[r] != lengths->row[r / step * step]) step = 1;
    for (int r = 0; r < rows; r += step)
        strbuf_format(out, "%s%d", r == 0 ? "" : r + step < rows ? ", " : " and ", lengths->row[r]);
}

static Status fail_lengths(const char *text, const char *reason) {
    status_fail(STATUS_USAGE, "--lengths '%s': %s", text, reason);
    return status_hint(STATUS_USAGE,
                       "a length for each example, as in 2,3; or for each query, as in 1,3;2,4");
}

/* A whole number from 0 to `most`, or -1. */
static int parse_length(StrView item, int most) {
    int length = 0;
    item = sv_trim(item);
    if (item.length == 0) return -1;
    for (size_t i = 0; i < item.length; i++) {
        if (item.data[i] < '0' || item.data[i] > '9') return -1;
        length = 10 * length + item.data[i] - '0';
        if (length > most) return -1;
    }
    return length;
}

Status demo_lengths_parse(const char *text, int queries, int keys, DemoLengths *lengths) {
    StrView rest = sv(text), example, item;
    bool each = false;       /* each query has its own length */
    int rows = 0, first = 0; /* first: lengths of the first example */
    char range[64];
    *lengths = (DemoLengths){0};
    for (size_t i = 0; i < rest.length; i++) each |= rest.data[i] == ';';
    snprintf(range, sizeof range, "lengths are whole numbers from 0 to %d", keys);
    while (sv_next(&rest, ';', &example)) {
        int count = 0;
        while (sv_next(&example, ',', &item)) {
            int length = parse_length(item, keys);
            if (length < 0) return fail_lengths(text, range);
            for (int q = 0; q < (each ? 1 : queries); q++) {
                if (rows == LENGTHS_MOST_ROWS) return fail_lengths(text, "more than 32 queries");
                lengths->row[rows++] = length;
            }
            count++;
        }
        if (lengths->batch == 0) first = count;
        if (count != first || count == 0)
            return fail_lengths(text, "examples with different numbers of queries");
        lengths->batch++;
    }
    if (rows == 0) return fail_lengths(text, range);
    if (!each) lengths->batch = rows / queries;
    lengths->queries = rows / lengths->batch;
    return STATUS_OK;
}

/* ---- files ---- */

Status demo_begin(DemoOutput *out, const char *prefix, const char *const *suffixes) {
    Status status = STATUS_OK;
    *out = (DemoOutput){0};
    if (!prefix) return STATUS_OK;
    StrView name = sv(prefix);
    /* A prefix with the extension of a file stands for all files. */
    for (int i = 0; suffixes[i] && !sv_cut_extension(&name, sv(strrchr(suffixes[i], '.') + 1)); i++) continue;
    if (name.length == 0 || sv_ends(name, SV("/")) || sv_equal(name, SV("-"))) {
        status_fail(STATUS_USAGE, "option '--output': '%s' is not the beginning of file names", prefix);
        return status_hint(STATUS_USAGE,
                           "--output toy writes toy%s and so on; standard output has the numbers",
                           suffixes[0]);
    }
    for (; suffixes[out->files] && status == STATUS_OK; out->files++) {
        int i = out->files;
        strbuf_format(&out->path[i], "%.*s%s", SV_ARG(name), suffixes[i]);
        status = file_create(&out->file[i], strbuf_text(&out->path[i]));
        if (status != STATUS_OK) out->file[i] = NULL;
    }
    return status;
}

static Status commit(DemoOutput *out, bool quiet) {
    for (int i = 0; i < out->files; i++)
        TRY(file_write(out->file[i], out->content[i].data, out->content[i].length));
    for (int i = 0; i < out->files; i++) {
        OutFile *file = out->file[i];
        out->file[i] = NULL; /* file_commit releases it even if it fails */
        TRY(file_commit(file));
        if (!quiet) log_info("wrote %s", strbuf_text(&out->path[i]));
    }
    return STATUS_OK;
}

Status demo_finish(DemoOutput *out, Status status, bool quiet) {
    if (status == STATUS_OK) status = file_write_whole("-", strbuf_view(&out->text));
    if (status == STATUS_OK) status = commit(out, quiet);
    for (int i = 0; i < DEMO_MOST_FILES; i++) {
        file_discard(out->file[i]);
        strbuf_free(&out->path[i]);
        strbuf_free(&out->content[i]);
    }
    strbuf_free(&out->text);
    return status;
}

/* ---- rows ---- */

/* `name` with 1, 2, ... or, of several examples with several rows each, 1.1, 1.2, ... */
static StrList row_labels(const char *name, int batch, int rows) {
    StrList labels = {0};
    for (int r = 0; r < batch * rows; r++)
        if (rows == 1 || batch == 1)
            strlist_format(&labels, "%s %d", name, r + 1);
        else
            strlist_format(&labels, "%s %d.%d", name, r / rows + 1, r % rows + 1);
    return labels;
}

/* Numbers on a line after a label of `width`: ten, or five on a narrow terminal. */
static int numbers_a_line(int width) {
    enum { NUMBER_WIDTH = 8 };
    bool narrow = isatty(STDOUT_FILENO) == 1 && log_terminal_width(STDOUT_FILENO) < width + 10 * NUMBER_WIDTH;
    return narrow ? 5 : 10;
}

void demo_write_rows(const DemoRows *rows, StrBuf *out) {
    int batch = rows->batch > 0 ? rows->batch : 1;
    StrList labels = row_labels(rows->row, batch, rows->rows);
    int width = (int)strlen(labels.items[labels.count - 1]) + 1; /* the longest */
    int a_line = numbers_a_line(width);
    strbuf_format(out, "\n%s (", rows->title);
    if (rows->batch > 0) strbuf_format(out, "%d, ", rows->batch);
    strbuf_format(out, "%d, %d)\n", rows->rows, rows->columns);
    for (int r = 0; r < batch * rows->rows; r++) {
        const real *numbers = rows->numbers + (size_t)r * (size_t)rows->columns;
        strbuf_format(out, "%-*s", width, labels.items[r]);
        for (int i = 0; i < rows->columns; i++) {
            if (i > 0 && i % a_line == 0) strbuf_format(out, "\n%*s", width, "");
            if (!rows->used || i < rows->used[r])
                strbuf_format(out, " %7.4f", (double)numbers[i]);
            else
                strbuf_format(out, " %7d", 0);
        }
        strbuf_add_char(out, '\n');
    }
    strlist_free(&labels);
}

void demo_draw_weights(const DemoRows *weights, const char *title, int cell, DemoOutput *out) {
    StrList rows = row_labels(weights->row, weights->batch, weights->rows), columns = {0};
    for (int c = 0; c < weights->columns; c++) strlist_format(&columns, "key %d", c + 1);
    Heatmap map = {.rows = weights->batch * weights->rows,
                   .columns = weights->columns,
                   .row_labels = (const char *const *)rows.items,
                   .column_labels = (const char *const *)columns.items,
                   .weights = weights->numbers,
                   .title = title};
    heatmap_write_csv(&map, &out->content[0]);
    heatmap_write_pgm(&map, cell, &out->content[1]);
    heatmap_write_svg(&map, &out->content[2]);
    strlist_free(&rows);
    strlist_free(&columns);
}
