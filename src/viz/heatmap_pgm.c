/* heatmap_pgm.c - the weights as grey squares. Netpbm, pgm(5), the raw format: 255 is weight 1 */
#include "viz/heatmap.h"

#include <assert.h>
#include "viz/colours.h"

static char grey(float weight) {
    double level = colour_clamp((double)weight) * 255 + 0.5;
    return level >= 0 ? (char)(unsigned char)level : 0; /* NaN is black */
}

void heatmap_write_pgm(const Heatmap *map, int cell, StrBuf *out) {
    assert(cell > 0);
    if (map->rows == 0 || map->columns == 0) { /* the format has no empty picture: one black pixel */
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
