/* curve.c - training curves: round ticks, gaps, coordinates, unusual and many values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "unit/picture_check.h"
#include "viz/plot.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A plot as training has it: linear scales over whole numbers of updates. */
static void draw(const char *title, const char *x, const char *left, const char *right,
                 const PlotSeries *series, int count, StrBuf *out) {
    Plot plot = {.title = title,
                 .x = {.title = x, .whole = true},
                 .left = {.title = left},
                 .right = {.title = right},
                 .series = series,
                 .count = count};
    plot_write_svg(&plot, out);
}

/* The number of occurrences of a letter in the paths of all lines. */
static int path_count(const StrBuf *out, char letter) {
    int count = 0;
    for (const char *path = strbuf_text(out); (path = strstr(path, "stroke-linejoin")) != NULL; path++)
        for (const char *c = strstr(path, " d=\"") + 4; *c != '"'; c++) count += *c == letter;
    return count;
}

static void test_curve_axes(void **state) {
    (void)state;
    static const double x[] = {500, 1000, 12000, 15000}, loss[] = {7.1, 3.2, NAN, 1.9},
                        bleu[] = {NAN, 12, 48, 58.3};
    const PlotSeries lines[] = {{"loss <a>", x, loss, 4, false}, {"BLEU & co", x, bleu, 4, true}};
    StrBuf out = {0};
    draw("a < b", "update", "loss", "BLEU", lines, 2, &out);
    assert_xml(&out);
    assert_text_has(&out, ">loss &lt;a&gt; (left)</text>");
    assert_text_has(&out, ">BLEU &amp; co (right)</text>");
    static const char *const ticks[] = {">0<", ">2000<", ">14,000<", ">16,000<",
                                        ">2<", ">8<",    ">10<",     ">60<"};
    for (size_t i = 0; i < COUNT(ticks); i++) assert_text_has(&out, ticks[i]);
    assert_int_equal(text_count(&out, ">0<"), 2); /* updates and BLEU begin near 0, loss does not */
    assert_int_equal(text_count(&out, "<circle "), 6);
    assert_text_has(&out, "<title>15000: 58.3</title>");
    /* The gap in the middle lifts the pen; the one at the start of the other line does not matter. */
    assert_int_equal(path_count(&out, 'M'), 3);
    assert_int_equal(path_count(&out, 'L'), 3);
    strbuf_free(&out);
}

static void test_curve_places(void **state) {
    (void)state;
    static const double x[] = {0, 10}, y[] = {0, 6};
    const PlotSeries line = {"y", x, y, 2, false};
    StrBuf out = {0};
    draw(NULL, "x", "y", NULL, &line, 1, &out);
    assert_xml(&out);
    /* From the lower left corner of the plot to the upper right one: up is smaller. */
    const char *path = strstr(strbuf_text(&out), "stroke-linejoin");
    assert_non_null(path);
    double x1, y1, x2, y2;
    assert_int_equal(sscanf(strstr(path, "d=\""), "d=\"M%lf %lfL%lf %lf\"", &x1, &y1, &x2, &y2), 4);
    assert_true(fabs((y1 - y2) - 320) < 0.2 && y2 > 0);
    assert_true(x1 > 40 && x1 < 80 && x2 > 700 && x2 < 760);
    assert_int_equal(text_count(&out, "stroke-dasharray"), 0);
    strbuf_free(&out);
}

static void test_curve_odd_values(void **state) {
    (void)state;
    static const double values[][3] = {{NAN, NAN, NAN},   {0, 0, 0},         {5, 5, 5},
                                       {-1, 0, 1},        {INFINITY, 1, 2},  {1e300, -1e300, 0},
                                       {1e-12, 2e-12, 0}, {-3, -2, -2.5},    {1e9, 2e9, 3e9},
                                       {5e29, -5e29, 0},  {1, 1 + 1e-15, 1}, {1e-320, 0, 0}};
    for (size_t i = 0; i < COUNT(values); i++)
        for (size_t k = 0; k < COUNT(values); k++)
            for (int count = 0; count <= 3; count++) {
                const PlotSeries lines[] = {{"a", values[i], values[k], count, false},
                                            {"b", values[k], values[i], count, true}};
                StrBuf out = {0};
                draw("odd", "x", "y", "z", lines, 2, &out);
                assert_xml(&out);
                if (strstr(strbuf_text(&out), "nan") || strstr(strbuf_text(&out), "inf"))
                    fail_msg("not a number drawn: %s", strbuf_text(&out) + 1200);
                assert_true(out.length < 20000);
                strbuf_free(&out);
            }
    StrBuf out = {0};
    draw(NULL, "x", "y", NULL, NULL, 0, &out);
    assert_xml(&out);
    strbuf_free(&out);
}

static void test_curve_many_points(void **state) {
    (void)state;
    enum { N = 200000 };
    double *x = mem_alloc(N, sizeof *x), *y = mem_alloc(N, sizeof *y);
    for (int i = 0; i < N; i++) {
        x[i] = i;
        y[i] = i % 2;
    }
    y[N / 2 + 7] = 10;
    const PlotSeries line = {"loss", x, y, N, false};
    StrBuf out = {0};
    draw("long", "update", "loss", NULL, &line, 1, &out);
    assert_xml(&out);
    assert_true(out.length < 200000);
    assert_int_equal(text_count(&out, "<circle"), 0);
    /* The one high value survives: a point at the top of the plot. */
    const char *top = strstr(strbuf_text(&out), "stroke-linejoin");
    assert_non_null(top);
    assert_true(strstr(top, " 73.0L") != NULL);
    strbuf_free(&out);
    mem_free(x);
    mem_free(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curve_axes),
        cmocka_unit_test(test_curve_places),
        cmocka_unit_test(test_curve_odd_values),
        cmocka_unit_test(test_curve_many_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
