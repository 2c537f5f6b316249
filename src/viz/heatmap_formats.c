/* heatmap_formats.c - weights as CSV, JSON and PGM. CSV and JSON read back as the same floats. */
#include <assert.h>
#include <string.h>
#include "io/json_write.h"
#include "viz/colours.h"
#include "viz/heatmap.h"

/* ---- CSV: RFC 4180, with '\n' as the line end ---- */

/* Quoted if a reader could otherwise split, trim or skip the cell. */
static void add_cell(StrBuf *out, const char *text) {
    size_t length = strlen(text);
    bool blank_edge = length > 0 && (strchr(" \t", text[0]) || strchr(" \t", text[length - 1]));
    if (!blank_edge && !strpbrk(text, ",\"\r\n")) {
        strbuf_add(out, (StrView){text, length});
        return;
    }
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') strbuf_add_char(out, '"');
        strbuf_add_char(out, text[i]);
    }
    strbuf_add_char(out, '"');
}

void heatmap_write_csv(const Heatmap *map, StrBuf *out) {
    if (map->columns == 0)
        strbuf_add(out, SV("\"\"")); /* otherwise the line of one empty cell would be blank */
    for (int c = 0; c < map->columns; c++) {
        strbuf_add_char(out, ',');
        add_cell(out, map->column_labels[c]);
    }
    strbuf_add_char(out, '\n');
    for (int r = 0; r < map->rows; r++) {
        if (map->columns == 0 && map->row_labels[r][0] == '\0') strbuf_add(out, SV("\"\""));
        add_cell(out, map->row_labels[r]);
        for (int c = 0; c < map->columns; c++)
            strbuf_format(out, ",%.9g", (double)map->weights[(size_t)r * (size_t)map->columns + (size_t)c]);
        strbuf_add_char(out, '\n');
    }
}

/* ---- JSON ---- */

static void add_labels(const char *key, const char *const *labels, int count, StrBuf *out) {
    json_put_array(out, key);
    for (int i = 0; i < count; i++) json_write_string(out, sv(labels[i]));
    json_close_array(out);
}

void heatmap_write_json(const Heatmap *map, StrBuf *out) {
    const float *weight = map->weights;
    json_open_object(out);
    add_labels("rows", map->row_labels, map->rows, out);
    add_labels("columns", map->column_labels, map->columns, out);
    json_put_array(out, "weights");
    for (int r = 0; r < map->rows; r++) {
        json_open_array(out);
        for (int c = 0; c < map->columns; c++) json_write_digits(out, (double)*weight++, 9);
        json_close_array(out);
    }
    json_close_array(out);
    json_close_object(out);
}

/* ---- PGM: grey squares in the raw format of Netpbm, pgm(5); 255 is weight 1 ---- */

static char grey(float weight) {
    double level = colour_clamp((double)weight) * 255 + 0.5;
    return level >= 0 ? (char)(unsigned char)level : 0; /* NaN is black */
}

void heatmap_write_pgm(const Heatmap *map, int cell, StrBuf *out) {
    assert(cell > 0);
    if (map->rows == 0 || map->columns == 0) { /* PGM has no empty pictures: one black pixel */
        strbuf_add(out, SV("P5\n1 1\n255\n"));
        strbuf_add_char(out, 0);
        return;
    }
    strbuf_format(out, "P5\n%d %d\n255\n", map->columns * cell, map->rows * cell);
    for (int r = 0; r < map->rows; r++) {
        const float *row = map->weights + (size_t)r * (size_t)map->columns;
        for (int line = 0; line < cell; line++)
            for (int c = 0; c < map->columns; c++)
                for (int pixel = 0; pixel < cell; pixel++) strbuf_add_char(out, grey(row[c]));
    }
}
