/* heatmap.c - tables and pictures: exact small ones, valid large and unusual ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "unit/picture_check.h"
#include "unit/xml_check.h"
#include "viz/colours.h"
#include "viz/heatmap.h"
#include "viz/label.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void assert_text(const StrBuf *out, const char *expected) {
    assert_string_equal(strbuf_text(out), expected);
    assert_int_equal(out->length, strlen(expected));
}

/* A map with one label and one weight. */
typedef struct {
    Heatmap map;
    const char **labels;
    float *weights;
} Plain;

static Plain plain_map(int rows, int columns, const char *label, float weight) {
    Plain plain = {.labels = mem_alloc((size_t)(rows > columns ? rows : columns) + 1, sizeof(char *)),
                   .weights = mem_alloc((size_t)rows * (size_t)columns + 1, sizeof(float))};
    for (int i = 0; i < rows || i < columns; i++) plain.labels[i] = label;
    for (int i = 0; i < rows * columns; i++) plain.weights[i] = weight;
    plain.map = (Heatmap){rows, columns, plain.labels, plain.labels, plain.weights, NULL};
    return plain;
}

static void plain_free(Plain *plain) {
    mem_free(plain->labels);
    mem_free(plain->weights);
}

/* ---- checker ---------------------------------------------------------------------------------------- */

static void test_xml_checker_finds_faults(void **state) {
    (void)state;
    static const char *const good[] = {
        "<a/>", "<?xml version=\"1.0\"?>\n<a b=\"1\" c=\"&lt;\"><b>x &amp; é</b></a>\n"};
    static const char *const bad[] = {"",
                                      "x",
                                      "<a>",
                                      "<a></b>",
                                      "</a>",
                                      "<a/><b/>",
                                      "<a>&</a>",
                                      "<a>&x;</a>",
                                      "<a b=1/>",
                                      "<a b=\"<\"/>",
                                      "<a b=\"1\"c=\"2\"/>",
                                      "<a b=\"1\" b=\"1\"/>",
                                      "<a b=\"1/>",
                                      "<a>\x01</a>",
                                      "<a>\xC3</a>",
                                      "<a>\xED\xA0\x80</a>",
                                      "<a>\xEF\xBF\xBF</a>",
                                      "<a><b></a></b>",
                                      "< a/>",
                                      "<a/>x",
                                      "<?xml <a/>"};
    for (size_t i = 0; i < COUNT(good); i++) assert_null(xml_check(sv(good[i])));
    for (size_t i = 0; i < COUNT(bad); i++)
        if (!xml_check(sv(bad[i]))) fail_msg("accepted: %s", bad[i]);
}

/* ---- labels and colours ------------------------------------------------------------------------------ */

static void test_label_widths(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int width, count;
    } cases[] = {{"", 0, 0},
                 {"abc", 3, 3},
                 {"été", 3, 3},
                 {"e\xCC\x81te\xCC\x81", 3, 3}, /* decomposed */
                 {"日本", 4, 2},
                 {"▁home", 5, 5},
                 {"👍🏽", 2, 1},
                 {"\xCC\x81", 1, 1}, /* a mark alone sits on a dotted circle */
                 {"a\xFF\xFE"
                  "b",
                  4, 4},
                 {"\xED\xA0\x80", 3, 3}, /* a surrogate: three bad bytes */
                 {"\xF4\x90\x80\x80", 4, 4},
                 {"\xC0\x80", 2, 2}, /* overlong */
                 {"\xE2\x82", 1, 1}, /* cut off: one sequence */
                 {"\033[31m", 5, 5},
                 {"\xC2\x9B", 1, 1}}; /* C1 control */
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(label_width(cases[i].text), cases[i].width);
        assert_int_equal(label_count(cases[i].text), cases[i].count);
    }
}

static void test_label_cuts(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int width;
        const char *cut;
    } cases[] = {{"abcdef", 6, "abcdef"},
                 {"abcdef", 5, "abcd…"},
                 {"abcdef", 1, "…"},
                 {"abcdef", 0, ""},
                 {"", 3, ""},
                 {"日本語", 6, "日本語"},
                 {"日本語", 5, "日本…"},
                 {"日本語", 4, "日…"},
                 {"é", 1, "é"},
                 {"e\xCC\x81tat", 2, "e\xCC\x81…"},
                 {"\xC2\x9B", 9, "\xEF\xBF\xBD"},
                 {"\xE2\x80\xAE" /* U+202E */, 9, "\xEF\xBF\xBD"},
                 {"שלום", 4, "שלום\xE2\x80\x8E"},
                 {"שלום", 3, "של…\xE2\x80\x8E"},
                 {"a\033b", 9,
                  "a\xEF\xBF\xBD"
                  "b"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        StrBuf out = {0};
        int used = label_add(&out, cases[i].text, cases[i].width);
        assert_text(&out, cases[i].cut);
        assert_int_equal(used, label_width(cases[i].cut));
        strbuf_free(&out);
    }
    StrBuf out = {0};
    label_add_right(&out, "日", 4);
    label_add_right(&out, "abc", 2);
    assert_text(&out, "  日a…");
    strbuf_free(&out);
}

static void test_colours_darken(void **state) {
    (void)state;
    double last = 1e9;
    for (int i = 0; i <= 64; i++) {
        Colour colour = colour_of(i / 64.0);
        double light = 0.2126 * colour.red + 0.7152 * colour.green + 0.0722 * colour.blue;
        if (!(light < last)) fail_msg("weight %d/64 is no darker than the one before", i);
        last = light;
    }
    Colour none = colour_of(-INFINITY), all = colour_of(INFINITY), odd = colour_of(NAN);
    assert_int_equal(none.red, 246);
    assert_int_equal(all.red, 31);
    assert_int_equal(all.blue, 63);
    assert_true(odd.red == odd.green && odd.green == odd.blue);
}

/* ---- csv --------------------------------------------------------------------------------------------- */

static void test_csv_exact(void **state) {
    (void)state;
    static const char *const columns[] = {"go", "\"", "a,b", " x", "two\nlines", "."};
    static const char *const rows[] = {"été", ","};
    static const float weights[] = {0.1f, 0, 1, 0.5f, -1, 1e-30f, NAN, INFINITY, 0.333333343f, 2, 3, 4};
    Heatmap map = {2, 6, rows, columns, weights, "not in the table"};
    StrBuf out = {0};
    heatmap_write_csv(&map, &out);
    assert_text(&out, ",go,\"\"\"\",\"a,b\",\" x\",\"two\nlines\",.\n"
                      "été,0.100000001,0,1,0.5,-1,1e-30\n"
                      "\",\",nan,inf,0.333333343,2,3,4\n");
    strbuf_free(&out);
}

/* An independent reader: puts the next unquoted cell into `cell`; *end_of_line: the cell is the last one. */
static size_t read_cell(StrView text, size_t at, StrBuf *cell, bool *end_of_line) {
    strbuf_clear(cell);
    bool quoted = at < text.length && text.data[at] == '"';
    at += quoted;
    while (at < text.length) {
        char c = text.data[at];
        if (quoted && c == '"' && at + 1 < text.length && text.data[at + 1] == '"')
            at++;
        else if (quoted && c == '"') {
            quoted = false;
            at++;
            continue;
        } else if (!quoted && (c == ',' || c == '\n'))
            break;
        strbuf_add_char(cell, c);
        at++;
    }
    assert_true(at < text.length);
    *end_of_line = text.data[at] == '\n';
    return at + 1;
}

static void test_csv_round_trip(void **state) {
    (void)state;
    enum { ROWS = 40, COLUMNS = 30 };
    static const char *const odd[] = {"a", "\"\"", ",", "", "\r\n", "\t", "'", "é\"é", "=1+1"};
    const char *rows[ROWS], *columns[COLUMNS];
    float weights[ROWS * COLUMNS];
    for (int i = 0; i < ROWS; i++) rows[i] = odd[(size_t)i % COUNT(odd)];
    for (int i = 0; i < COLUMNS; i++) columns[i] = odd[(size_t)(i * 5 + 1) % COUNT(odd)];
    uint32_t bits = 1;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        do { /* any finite float, subnormal ones too */
            bits = bits * 1664525u + 1013904223u;
            memcpy(&weights[i], &bits, sizeof bits);
        } while (!isfinite(weights[i]));
    }
    Heatmap map = {ROWS, COLUMNS, rows, columns, weights, NULL};
    StrBuf out = {0}, cell = {0};
    heatmap_write_csv(&map, &out);
    StrView text = strbuf_view(&out);
    size_t at = 0;
    for (int r = -1; r < ROWS; r++)
        for (int c = -1; c < COLUMNS; c++) {
            bool end_of_line;
            at = read_cell(text, at, &cell, &end_of_line);
            assert_int_equal(end_of_line, c == COLUMNS - 1);
            if (r < 0 || c < 0) {
                assert_string_equal(strbuf_text(&cell), r < 0 && c < 0 ? "" : r < 0 ? columns[c] : rows[r]);
            } else {
                float back = strtof(strbuf_text(&cell), NULL);
                assert_memory_equal(&back, &weights[r * COLUMNS + c], sizeof back);
            }
        }
    assert_int_equal(at, text.length);
    strbuf_free(&out);
    strbuf_free(&cell);
}

static void test_csv_empty(void **state) {
    (void)state;
    Plain map = plain_map(2, 0, "", 0);
    StrBuf out = {0};
    heatmap_write_csv(&map.map, &out);
    assert_text(&out, "\"\"\n\"\"\n\"\"\n");
    strbuf_free(&out);
    plain_free(&map);
}

/* ---- pgm --------------------------------------------------------------------------------------------- */

static void test_pgm_exact(void **state) {
    (void)state;
    static const float weights[] = {0, 1, 0.5f, NAN, -3, 7};
    Heatmap map = {2, 3, NULL, NULL, weights, NULL};
    static const unsigned char one[] = "P5\n3 2\n255\n\x00\xFF\x80\x00\x00\xFF";
    StrBuf out = {0};
    heatmap_write_pgm(&map, 1, &out);
    assert_int_equal(out.length, sizeof one - 1);
    assert_memory_equal(out.data, one, sizeof one - 1);
    strbuf_clear(&out);
    static const unsigned char two[] = "P5\n6 4\n255\n"
                                       "\x00\x00\xFF\xFF\x80\x80\x00\x00\xFF\xFF\x80\x80"
                                       "\x00\x00\x00\x00\xFF\xFF\x00\x00\x00\x00\xFF\xFF";
    heatmap_write_pgm(&map, 2, &out);
    assert_int_equal(out.length, sizeof two - 1);
    assert_memory_equal(out.data, two, sizeof two - 1);
    strbuf_clear(&out);
    Heatmap empty = {1, 0, NULL, NULL, NULL, NULL};
    heatmap_write_pgm(&empty, 3, &out);
    assert_int_equal(out.length, 12);
    assert_memory_equal(out.data, "P5\n1 1\n255\n\0", 12);
    strbuf_free(&out);
}

/* ---- svg --------------------------------------------------------------------------------------------- */

static const char *const NASTY[] = {"<script>", "&amp;",
                                    "\"'>",     "\x01\x1B[0m",
                                    "\xFF\xC3", "\xEF\xBF\xBF",
                                    "été",      "日本",
                                    "",         "a-very-long-token-that-goes-on-and-on-and-on-and-on"};

static void test_svg_labels(void **state) {
    (void)state;
    enum { N = COUNT(NASTY) };
    float weights[N * N];
    for (int i = 0; i < N * N; i++) weights[i] = (float)i / (N * N - 1);
    weights[3] = NAN;
    weights[4] = INFINITY;
    Heatmap map = {N, N, NASTY, NASTY, weights, "a < b & \"c\" → \x02"};
    StrBuf out = {0};
    heatmap_write_svg(&map, &out);
    assert_xml(&out);
    assert_text_has(&out, "&lt;script&gt;</text>");
    assert_text_has(&out, "&amp;amp;</text>");
    assert_text_has(&out, ">été</text>");
    assert_text_has(&out, ">a-very-long-token-that-goes…</text>");
    assert_text_has(&out, "a &lt; b &amp; &quot;c&quot; → \xEF\xBF\xBD</title>");
    assert_text_has(&out, "<title>été ← 日本: 0.677</title>");
    assert_text_has(&out, "rotate(-45)\" ");
    assert_int_equal(text_count(&out, "<script"), 0);
    assert_int_equal(text_count(&out, "href"), 0);
    assert_int_equal(text_count(&out, "<rect "), N * N + 3); /* background, frame, scale */
    strbuf_free(&out);
}

static void test_svg_cells(void **state) {
    (void)state;
    static const char *const rows[] = {"va", "!"}, *const columns[] = {"go", "."};
    static const float weights[] = {1, 0, 0.25f, NAN};
    Heatmap map = {2, 2, rows, columns, weights, NULL};
    StrBuf out = {0};
    heatmap_write_svg(&map, &out);
    assert_xml(&out);
    assert_text_has(&out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
    assert_text_has(
        &out,
        "<rect x=\"0\" width=\"34\" height=\"34\" fill=\"#1f243f\"><title>va ← go: 1.000</title></rect>");
    assert_text_has(
        &out,
        "<rect x=\"34\" width=\"34\" height=\"34\" fill=\"#f6fbfb\"><title>va ← .: 0.000</title></rect>");
    assert_text_has(
        &out,
        "<rect x=\"0\" width=\"34\" height=\"34\" fill=\"#80cedd\"><title>! ← go: 0.250</title></rect>");
    assert_text_has(
        &out, "<rect x=\"34\" width=\"34\" height=\"34\" fill=\"#bebebe\"><title>! ← .: nan</title></rect>");
    strbuf_free(&out);
}

/* The number behind `name="` in the root element. */
static double root_number(const StrBuf *out, const char *name) {
    const char *place = strstr(strbuf_text(out), name);
    assert_non_null(place);
    return strtod(place + strlen(name), NULL);
}

static void test_svg_sizes(void **state) {
    (void)state;
    static const int sizes[][2] = {{1, 1}, {1, 0}, {0, 1}, {0, 0}, {1, 80}, {80, 1}, {80, 80}, {200, 200}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        Plain map = plain_map(sizes[i][0], sizes[i][1], "gouvernement", 0.3f);
        StrBuf out = {0};
        heatmap_write_svg(&map.map, &out);
        assert_xml(&out);
        assert_int_equal(text_count(&out, "<rect "), sizes[i][0] * sizes[i][1] + 3);
        assert_int_equal(text_count(&out, ">gouvernement</text>"), sizes[i][0] + sizes[i][1]);
        double width = root_number(&out, " width=\""), height = root_number(&out, " height=\"");
        /* Cells of at least 16 pixels, with small margins. */
        assert_true(width >= 16 * sizes[i][1] + 50 && width <= 34 * sizes[i][1] + 300);
        assert_true(height >= 16 * sizes[i][0] + 50 && height <= 34 * sizes[i][0] + 300);
        if (sizes[i][0] == 80) assert_true(height < 1500);
        strbuf_free(&out);
        plain_free(&map);
    }
}

/* ---- text -------------------------------------------------------------------------------------------- */

static const char *const ROWS[] = {"je", "suis", "là"}, *const COLUMNS[] = {"I", "am", "he\xCC\x81", "日"};
static const float WEIGHTS[] = {1, 0.12f, 0.13f, 0, 0.2f, 0.4f, 0.7f, 0.9f, NAN, -1, 2, 0.5f};

static void test_text_exact(void **state) {
    (void)state;
    Heatmap map = {3, 4, ROWS, COLUMNS, WEIGHTS, "I am → je suis"};
    StrBuf out = {0};
    heatmap_write_text(&map, 40, false, &out);
    assert_text(&out, "I am → je suis\n"
                      "       a h\n"
                      "     I m e\xCC\x81 日\n"
                      "  je│██  ░░  │\n"
                      "suis│░░▒▒▓▓██│\n"
                      "  là│??  ██▒▒│\n"
                      "   0 │  ░░▒▒▓▓██│ 1\n");
    strbuf_free(&out);
}

static void test_text_colour(void **state) {
    (void)state;
    static const float weights[] = {1, 0};
    Heatmap map = {1, 2, ROWS, COLUMNS, weights, NULL};
    StrBuf out = {0};
    heatmap_write_text(&map, 16, true, &out); /* too narrow for the scale */
    assert_text(&out, "     a\n"
                      "   I m\n"
                      "je \033[48;2;31;36;63m  \033[48;2;246;251;251m  \033[0m\n");
    strbuf_clear(&out);
    heatmap_write_text(&map, 60, true, &out);
    assert_text_has(&out, "\n 0 \033[48;2;246;251;251m \033[");
    assert_text_has(&out, "\033[48;2;31;36;63m \033[0m 1\n");
    strbuf_free(&out);
}

/* The title of a long sentence wraps. */
static void test_svg_title_wraps(void **state) {
    (void)state;
    static const char *const row[] = {"r"}, *const column[] = {"c"};
    static const float weight[] = {1};
    StrBuf title = {0}, out = {0};
    for (int i = 0; i < 60; i++) strbuf_add(&title, SV("word "));
    for (int i = 0; i < 200; i++) strbuf_add(&title, SV("\xE5\xAD\x97")); /* no spaces to break at */
    Heatmap map = {1, 1, row, column, weight, strbuf_text(&title)};
    heatmap_write_svg(&map, &out);
    assert_xml(&out);
    assert_in_range(strtol(strstr(strbuf_text(&out), "width=\"") + 7, NULL, 10), 100, 520);
    assert_in_range(text_count(&out, "font-size=\"15\""), 6, 20);
    int words = text_count(&out, "word ") + text_count(&out, "word<");
    assert_int_equal(words, 2 * 60); /* the title element repeats them */
    strbuf_free(&title);
    strbuf_free(&out);
}

static void test_text_blocks(void **state) {
    (void)state;
    Heatmap map = {3, 4, ROWS, COLUMNS, WEIGHTS, NULL};
    StrBuf out = {0};
    heatmap_write_text(&map, 12, false, &out);
    assert_text(&out, "       a h\n"
                      "     I m e\xCC\x81\n"
                      "  je│██  ░░│\n"
                      "suis│░░▒▒▓▓│\n"
                      "  là│??  ██│\n"
                      "\n"
                      "     日\n"
                      "  je│  │\n"
                      "suis│██│\n"
                      "  là│▒▒│\n");
    strbuf_free(&out);
}

static void test_text_numbers(void **state) {
    (void)state;
    static const char *const columns[] = {"anticonstitutionnellement", "b", "c"};
    static const float weights[] = {0, 1, 0.5f};
    Heatmap map = {1, 3, ROWS, columns, weights, NULL};
    StrBuf out = {0};
    heatmap_write_text(&map, 34, false, &out);
    assert_text(&out, "    1 2 3\n"
                      "je│  ██▒▒│\n"
                      "1 anticonstitutionnellement   2 b\n"
                      "3 c\n"
                      " 0 │  ░░▒▒▓▓██│ 1\n");
    strbuf_clear(&out);
    heatmap_write_text(&map, 20, false, &out);
    assert_text_has(&out, "\n1 anticonstitutionn…\n2 b   3 c\n");
    strbuf_free(&out);
}

/* At any size, no line is wider than the limit and every weight is shown once. */
static void test_text_fits(void **state) {
    (void)state;
    static const char *const labels[] = {"a", "gouvernement", "anticonstitutionnellement", "日本語", ""};
    static const int sizes[][2] = {{1, 1}, {1, 0}, {0, 3}, {2, 9}, {7, 80}, {200, 200}};
    for (size_t l = 0; l < COUNT(labels); l++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (int width = 8; width <= 200; width += 1 + width / 3) {
                Plain map = plain_map(sizes[s][0], sizes[s][1], labels[l], 1);
                map.map.title = "a title that is rather long for so narrow a terminal";
                StrBuf out = {0}, line = {0};
                heatmap_write_text(&map.map, width, false, &out);
                StrView rest = strbuf_view(&out), piece;
                bool scale = false;
                while (sv_next(&rest, '\n', &piece)) {
                    strbuf_clear(&line);
                    strbuf_add(&line, piece);
                    if (label_width(strbuf_text(&line)) > width)
                        fail_msg("wider than %d: '%s'", width, strbuf_text(&line));
                    scale |= strstr(strbuf_text(&line), "0 │") != NULL;
                }
                int cell = l == 2 ? (sizes[s][1] < 10 ? 2 : sizes[s][1] < 100 ? 3 : 4) : 2;
                if (sizes[s][1] == 0) cell = 2;
                assert_int_equal(text_count(&out, "█"), cell * sizes[s][0] * sizes[s][1] + (scale ? 2 : 0));
                strbuf_free(&out);
                strbuf_free(&line);
                plain_free(&map);
            }
}

static void test_text_steers_no_terminal(void **state) {
    (void)state;
    enum { N = COUNT(NASTY) };
    static const float weights[N * N];
    Heatmap map = {N, N, NASTY, NASTY, weights, "\033]0;title\a"};
    StrBuf out = {0};
    heatmap_write_text(&map, 80, false, &out);
    for (size_t i = 0; i < out.length; i++)
        assert_true((unsigned char)out.data[i] >= 0x20 || out.data[i] == '\n');
    assert_text_has(&out, "\xEF\xBF\xBD]0;title\xEF\xBF\xBD\n");
    strbuf_free(&out);
}

/* Neighbours that are right-to-left stand apart by left-to-right marks, so that columns keep their order. */
static void test_text_keeps_columns_in_order(void **state) {
    (void)state;
    static const char *const letters[] = {"ש", "ل", "a"};
    /* The first label is too long to be vertical. */
    static const char *const words[] = {"שלוםשלוםשלוםשלוםשלום", "לום", "a"};
    static const float weights[3];
    StrBuf out = {0};
    heatmap_write_text(&(Heatmap){1, 3, letters + 2, letters, weights, NULL}, 80, false, &out);
    assert_text_has(&out, "  ש\xE2\x80\x8E ل\xE2\x80\x8E a\n");
    strbuf_clear(&out);
    heatmap_write_text(&(Heatmap){1, 3, words + 2, words, weights, NULL}, 80, false, &out);
    assert_text_has(&out, "1 שלוםשלוםשלוםשלוםשלום\xE2\x80\x8E   2 לום\xE2\x80\x8E   3 a\n");
    strbuf_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_xml_checker_finds_faults),
        cmocka_unit_test(test_label_widths),
        cmocka_unit_test(test_label_cuts),
        cmocka_unit_test(test_colours_darken),
        cmocka_unit_test(test_csv_exact),
        cmocka_unit_test(test_csv_round_trip),
        cmocka_unit_test(test_csv_empty),
        cmocka_unit_test(test_pgm_exact),
        cmocka_unit_test(test_svg_labels),
        cmocka_unit_test(test_svg_cells),
        cmocka_unit_test(test_svg_sizes),
        cmocka_unit_test(test_text_exact),
        cmocka_unit_test(test_text_colour),
        cmocka_unit_test(test_svg_title_wraps),
        cmocka_unit_test(test_text_blocks),
        cmocka_unit_test(test_text_numbers),
        cmocka_unit_test(test_text_fits),
        cmocka_unit_test(test_text_steers_no_terminal),
        cmocka_unit_test(test_text_keeps_columns_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
