/* heatmap_json.c - labels and weights as one JSON object; weights read back as the same floats. */
#include "base/json.h"
#include "viz/heatmap.h"

static void add_labels(const char *key, const char *const *labels, int count, StrBuf *out) {
    strbuf_format(out, "\"%s\": [", key);
    for (int i = 0; i < count; i++) {
        if (i > 0) strbuf_add(out, SV(", "));
        json_write_string(out, sv(labels[i]));
    }
    strbuf_add(out, SV("], "));
}

void heatmap_write_json(const Heatmap *map, StrBuf *out) {
    const float *weight = map->weights;
    strbuf_add_char(out, '{');
    add_labels("rows", map->row_labels, map->rows, out);
    add_labels("columns", map->column_labels, map->columns, out);
    strbuf_add(out, SV("\"weights\": ["));
    for (int r = 0; r < map->rows; r++) {
        strbuf_add(out, r ? SV(", [") : SV("["));
        for (int c = 0; c < map->columns; c++) {
            if (c > 0) strbuf_add(out, SV(", "));
            json_write_digits(out, (double)*weight++, 9);
        }
        strbuf_add_char(out, ']');
    }
    strbuf_add(out, SV("]}"));
}
