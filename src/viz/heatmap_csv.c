/* heatmap_csv.c - the weights as a table that reads back exactly. RFC 4180, with '\n' as the line end */
#include "viz/heatmap.h"

#include <string.h>

/* Quoted where a reader could otherwise see another cell, or none, or trim it. */
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
    if (map->columns == 0) strbuf_add(out, SV("\"\"")); /* else the line of one empty cell would be blank */
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
