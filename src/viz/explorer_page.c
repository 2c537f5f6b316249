/* explorer_page.c - see explorer_page.h. */
#include "viz/explorer_page.h"

#include <math.h>
#include <string.h>
#include "io/deflate.h"
#include "io/sha256.h"
#include "viz/label.h"
#include "viz/svg.h"

/* ---- pictures ---- */

enum { CELL = 20, LABEL_COLUMNS = 20, LABEL_SIZE = 13, SHADES = 16 };

static double widest(const char *const *labels, int count) {
    double width = 0;
    for (int i = 0; i < count; i++) width = fmax(width, svg_text_width(labels[i], LABEL_SIZE));
    return ceil(fmin(width, LABEL_COLUMNS * LABEL_SIZE * 0.63)) + 8;
}

static void write_labels(const char *const *labels, int count, StrBuf *out) {
    StrBuf cut = {0};
    for (int i = 0; i < count; i++, strbuf_clear(&cut)) {
        label_add(&cut, labels[i], LABEL_COLUMNS);
        strbuf_format(out, "<text y=\"%d\">", i * CELL + CELL * 7 / 10);
        svg_escape(out, strbuf_text(&cut));
        strbuf_add(out, SV("</text>"));
    }
    strbuf_free(&cut);
}

static int shade_of(float weight) {
    return isfinite(weight) ? (int)lround(fmax(0, fmin(1, (double)weight)) * SHADES) : 0;
}

static int shade_at(const Heatmap *map, int r, int c) {
    return shade_of(map->weights[(size_t)r * (size_t)map->columns + (size_t)c]);
}

/* One path for all cells of a shade: lines as wide as a cell, in units of cells. The lightest shade is the
 * background. */
static void write_shade(const Heatmap *map, int shade, StrBuf *out) {
    StrBuf path = {0};
    for (int r = 0; r < map->rows; r++)
        for (int c = 0, next; c < map->columns; c = next) {
            for (next = c + 1; next < map->columns && shade_at(map, r, next) == shade_at(map, r, c);) next++;
            if (shade_at(map, r, c) == shade) strbuf_format(&path, "M%d %dh%d", c, r, next - c);
        }
    if (path.length > 0) strbuf_format(out, "<path class=\"s%d\" d=\"%s\"/>", shade, strbuf_text(&path));
    strbuf_free(&path);
}

void explorer_page_picture(const Heatmap *map, StrBuf *out) {
    double left = widest(map->row_labels, map->rows), top = widest(map->column_labels, map->columns);
    double width = left + map->columns * CELL + 2, height = top + map->rows * CELL + 2;
    strbuf_add(out, SV("<figure class=\"card\"><figcaption dir=\"auto\">"));
    svg_escape(out, map->title ? map->title : "");
    strbuf_format(out,
                  "</figcaption><svg width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" role=\"img\" "
                  "aria-label=\"Attention weights\">",
                  width, height, width, height);
    strbuf_format(out, "<g transform=\"translate(%g %g)rotate(-90)\">", left, top - 6);
    write_labels(map->column_labels, map->columns, out);
    strbuf_format(out, "</g><g transform=\"translate(%g %g)\" text-anchor=\"end\">", left - 6, top);
    write_labels(map->row_labels, map->rows, out);
    strbuf_format(out, "</g><g transform=\"translate(%g %g)scale(%d)\">", left, top + CELL / 2.0, CELL);
    strbuf_format(out, "<rect class=\"s0\" stroke-width=\"0\" y=\"-.5\" width=\"%d\" height=\"%d\"/>",
                  map->columns, map->rows);
    for (int shade = 1; shade <= SHADES; shade++) write_shade(map, shade, out);
    strbuf_add(out, SV("</g></svg></figure>\n"));
}

/* ---- bytes as text ---- */

/* RFC 4648, section 4. */
static void write_base64(const unsigned char *bytes, size_t count, StrBuf *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        unsigned group = (unsigned)bytes[i] << 16;
        if (i + 1 < count) group |= (unsigned)bytes[i + 1] << 8;
        if (i + 2 < count) group |= bytes[i + 2];
        for (unsigned d = 0; d < 4; d++)
            strbuf_add_char(out, i + d <= count ? digits[group >> (18 - 6 * d) & 63] : '=');
    }
}

static void write_compressed(StrView text, StrBuf *out) {
    StrBuf compressed = {0};
    deflate_add(text, &compressed);
    write_base64((const unsigned char *)compressed.data, compressed.length, out);
    strbuf_free(&compressed);
}

/* ---- the policy ---- */

static int hex_value(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

/* "'sha256-...'": a style sheet or script in a policy. */
static void write_hash(const char *const *lines, StrBuf *out) {
    enum { BYTES = 32 };
    unsigned char digest[BYTES];
    char hex[2 * BYTES + 1];
    Sha256 hash;
    sha256_begin(&hash);
    for (; *lines; lines++) sha256_add(&hash, *lines, strlen(*lines));
    sha256_end(&hash, hex);
    for (int i = 0; i < BYTES; i++)
        digest[i] = (unsigned char)(hex_value(hex[2 * i]) * 16 + hex_value(hex[2 * i + 1]));
    strbuf_add(out, SV("'sha256-"));
    write_base64(digest, BYTES, out);
    strbuf_add_char(out, '\'');
}

/* ---- the page ---- */

static void write_lines(const char *const *lines, StrBuf *out) {
    for (; *lines; lines++) strbuf_add(out, sv(*lines));
}

static void write_head(const char *title, StrBuf *out) {
    strbuf_add(out,
               SV("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "));
    write_hash(EXPLORER_STYLE, out);
    strbuf_add(out, SV("; script-src "));
    write_hash(EXPLORER_SCRIPT, out);
    strbuf_add(out, SV("; base-uri 'none'; form-action 'none'\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>"));
    svg_escape(out, title);
    strbuf_add(out, SV("</title>\n<style>"));
    write_lines(EXPLORER_STYLE, out);
    strbuf_add(out, SV("</style>\n</head>\n"));
}

/* The elements that the script fills, by id. */
static const char BODY[] = "<div id=\"explorer\" hidden>\n"
                           "<div class=\"columns\">\n"
                           "<nav id=\"list\" class=\"card list\" aria-label=\"Sentences\"></nav>\n"
                           "<main class=\"card\">\n"
                           "<div id=\"title\" class=\"title\"></div>\n"
                           "<div id=\"tools\" class=\"tools\"></div>\n"
                           "<div id=\"stage\"></div>\n"
                           "</main>\n"
                           "<aside class=\"panel\" aria-label=\"The chosen step\">\n"
                           "<section id=\"step\" class=\"card\"></section>\n"
                           "<section id=\"formula\" class=\"card\"></section>\n"
                           "</aside>\n"
                           "</div>\n"
                           "<p id=\"say\" class=\"unseen\" aria-live=\"polite\"></p>\n"
                           "</div>\n";

void explorer_page_write(const char *title, StrView data, StrView pictures, StrBuf *out) {
    write_head(title, out);
    strbuf_add(out, SV("<body>\n<div class=\"page\">\n<header class=\"head\"><h1>"));
    svg_escape(out, title);
    strbuf_add(out, SV("</h1><div id=\"views\" class=\"views\" role=\"group\" aria-label=\"Views\"></div>"
                       "</header>\n"));
    strbuf_add(out, sv(BODY));
    strbuf_add(out, SV("<div id=\"still\" class=\"still\">\n"));
    strbuf_add(out, pictures);
    strbuf_add(out, SV("</div>\n</div>\n<script type=\"text/plain\" id=\"data\">"));
    write_compressed(data, out);
    strbuf_add(out, SV("</script>\n<script>"));
    write_lines(EXPLORER_SCRIPT, out);
    strbuf_add(out, SV("</script>\n</body>\n</html>\n"));
}
