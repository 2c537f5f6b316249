/* heatmap_json.c - labels and weights as one JSON object; weights read back as the same floats. */
#include "base/json.h"
#include "viz/heatmap.h"

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
