/* test_plot.c - plots: ticks and places on linear and logarithmic scales, gaps, many series, odd values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "unit/picture_check.h"
#include "viz/plot_sheet.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void assert_near(double actual, double expected, double tolerance) {
    if (!(fabs(actual - expected) <= tolerance)) fail_msg("%.9g instead of %.9g", actual, expected);
}

/* ---- axes ---- */

static Axis axis_over(AxisScale scale, double low, double high, int most) {
    Axis axis = {.scale = scale, .from = 100, .to = 700};
    axis_cover(&axis, high);
    axis_cover(&axis, low);
    axis_round(&axis, most);
    return axis;
}

/* All labels in one line. */
static void write_ticks(const Axis *axis, StrBuf *out) {
    StrBuf label = {0};
    strbuf_clear(out);
    for (int i = 0; i < axis->ticks; i++) {
        axis_write_tick(axis, i, &label);
        strbuf_format(out, "%s%s", i ? " " : "", strbuf_text(&label));
    }
    strbuf_free(&label);
}

static void test_axis_ticks(void **state) {
    (void)state;
    static const struct {
        AxisScale scale;
        double low, high;
        int most;
        const char *ticks;
    } cases[] = {{AXIS_LINEAR, -0.97, 0.99, 6, "-1.0 -0.5 0.0 0.5 1.0"},
                 {AXIS_LINEAR, 0, 59, 8, "0 10 20 30 40 50 60"},
                 {AXIS_LINEAR, 500, 15000, 8, "0 2000 4000 6000 8000 10,000 12,000 14,000 16,000"},
                 {AXIS_LOG2, 8, 1024, 12, "8 16 32 64 128 256 512 1024"},
                 {AXIS_LOG2, 9, 1000, 12, "8 16 32 64 128 256 512 1024"},
                 {AXIS_LOG2, 7.9, 1025, 12, "4 8 16 32 64 128 256 512 1024 2048"},
                 {AXIS_LOG2, 1, 1048576, 12, "1 4 16 64 256 1024 4096 16,384 65,536 262,144 1,048,576"},
                 {AXIS_LOG2, 0.2, 3, 12, "0.125 0.25 0.5 1 2 4"},
                 {AXIS_LOG2, 64, 64, 12, "32 64 128"},
                 {AXIS_LOG10, 0.0042, 0.37, 9, "0.002 0.005 0.01 0.02 0.05 0.1 0.2 0.5"},
                 {AXIS_LOG10, 0.002, 0.5, 9, "0.002 0.005 0.01 0.02 0.05 0.1 0.2 0.5"},
                 {AXIS_LOG10, 3, 4, 9, "2 5"},
                 {AXIS_LOG10, 2e-6, 3000, 9, "1e-6 0.0001 0.01 1 100 10,000"},
                 {AXIS_LOG10, 1e-6, 1000, 9, "1e-6 1e-5 0.0001 0.001 0.01 0.1 1 10 100 1000"},
                 {AXIS_LOG10, 1e-12, 1e9, 9, "1e-12 1e-9 1e-6 0.001 1 1000 1,000,000 1e9"},
                 {AXIS_LOG10, 2e-5, 5e-5, 9, "2e-5 5e-5"},
                 {AXIS_LOG10, 10, 10, 9, "5 10 20"}};
    StrBuf out = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        Axis axis = axis_over(cases[i].scale, cases[i].low, cases[i].high, cases[i].most);
        write_ticks(&axis, &out);
        if (strcmp(strbuf_text(&out), cases[i].ticks) != 0)
            fail_msg("%g to %g: '%s' instead of '%s'", cases[i].low, cases[i].high, strbuf_text(&out),
                     cases[i].ticks);
    }
    strbuf_free(&out);
}

static void test_axis_places(void **state) {
    (void)state;
    Axis axis = axis_over(AXIS_LOG2, 8, 512, 12);
    assert_near(axis_place(&axis, 8), 100, 1e-9);
    assert_near(axis_place(&axis, 64), 400, 1e-9);
    assert_near(axis_place(&axis, 512), 700, 1e-9);
    axis = axis_over(AXIS_LOG10, 0.01, 100, 9);
    assert_near(axis_place(&axis, 1), 400, 1e-9);
    assert_near(axis_place(&axis, 10), 550, 1e-9);
    axis = axis_over(AXIS_LINEAR, -1, 1, 6);
    assert_near(axis_place(&axis, -0.5), 250, 1e-9);
    static const double odd[] = {0, -1, NAN, INFINITY, -INFINITY, 1e-31, 1e300};
    for (size_t i = 0; i < COUNT(odd); i++) {
        axis = axis_over(AXIS_LOG10, 1, 10, 9);
        assert_false(axis_draws(&axis, odd[i]));
        axis.scale = AXIS_LINEAR;
        assert_int_equal(axis_draws(&axis, odd[i]), i < 2 || i == 5);
    }
}

/* Ticks rise, enclose what is covered and are not too many, whatever the range. */
static void test_axis_ranges(void **state) {
    (void)state;
    static const AxisScale scales[] = {AXIS_LINEAR, AXIS_LOG10, AXIS_LOG2};
    for (size_t s = 0; s < COUNT(scales); s++)
        for (double low = 1.1e-30; low < 9e29; low *= 7.3)
            for (double high = low; high < 9e29; high *= 11.7) {
                Axis axis = axis_over(scales[s], low, high, 9);
                if (!(axis.ticks >= 2 && axis.ticks <= 12))
                    fail_msg("%d ticks from %g to %g", axis.ticks, low, high);
                double first = axis_tick(&axis, 0), last = axis_tick(&axis, axis.ticks - 1);
                if (!(first <= low * (1 + 1e-8) && last >= high * (1 - 1e-8)))
                    fail_msg("%g to %g does not enclose %g to %g", first, last, low, high);
                for (int i = 1; i < axis.ticks; i++)
                    assert_true(axis_tick(&axis, i) > axis_tick(&axis, i - 1));
            }
}

/* ---- plots ---- */

/* Coordinates of the line number `which`, as it is drawn; *pieces counts where the pen comes down. */
static int read_path(const StrBuf *out, int which, double (*points)[2], int most, int *pieces) {
    const char *path = strbuf_text(out);
    for (int i = 0; i <= which; i++) {
        path = strstr(path, "stroke-linejoin");
        assert_non_null(path);
        path++;
    }
    path = strstr(path, " d=\"");
    assert_non_null(path);
    path += 4;
    int count = 0, used;
    *pieces = 0;
    while (count < most && sscanf(path, "%*1[ML]%lf %lf%n", &points[count][0], &points[count][1], &used) == 2)
        *pieces += *path == 'M', path += used, count++;
    assert_int_equal(*path, '"');
    return count;
}

static void test_plot_log_log(void **state) {
    (void)state;
    double x[8], linear[8], square[8], points[8][2];
    for (int i = 0; i < 8; i++) {
        x[i] = ldexp(1, i + 3);
        linear[i] = 1e-4 * x[i];
        square[i] = 2e-6 * x[i] * x[i];
    }
    const PlotSeries series[] = {{"rnn", x, linear, 8, false},
                                 {"self <attention> & co", x, square, 8, false}};
    const Plot plot = {.title = "\"time\" < length",
                       .x = {.title = "length & more", .scale = AXIS_LOG2},
                       .left = {.title = "seconds <wall>", .scale = AXIS_LOG10},
                       .series = series,
                       .count = 2};
    StrBuf out = {0};
    plot_write_svg(&plot, &out);
    assert_xml(&out);
    static const char *const texts[] = {">&quot;time&quot; &lt; length</text>",
                                        ">length &amp; more</text>",
                                        ">seconds &lt;wall&gt;</text>",
                                        ">rnn</text>",
                                        ">self &lt;attention&gt; &amp; co</text>",
                                        ">8</text>",
                                        ">256</text>",
                                        ">1024</text>",
                                        ">0.0001</text>",
                                        ">0.1</text>",
                                        ">10</text>"};
    for (size_t i = 0; i < COUNT(texts); i++) assert_text_has(&out, texts[i]);
    assert_int_equal(text_count(&out, "<circle "), 16);
    assert_text_has(&out, "<title>1024: 2.09715</title>");
    /* Powers are straight lines, and twice the exponent is twice as steep. */
    double slope[2];
    int pieces;
    for (int s = 0; s < 2; s++) {
        assert_int_equal(read_path(&out, s, points, 8, &pieces), 8);
        slope[s] = (points[7][1] - points[0][1]) / (points[7][0] - points[0][0]);
        assert_true(slope[s] < 0); /* up is smaller */
        for (int i = 0; i < 8; i++)
            assert_near(points[i][1], points[0][1] + slope[s] * (points[i][0] - points[0][0]), 0.2);
    }
    assert_near(slope[1] / slope[0], 2, 0.01);
    strbuf_free(&out);
}

static void test_plot_gaps(void **state) {
    (void)state;
    static const double x[] = {1, 2, 4, 8, 16, 32}, y[] = {1, 0, 3, -2, NAN, 5};
    const PlotSeries series[] = {{"gaps", x, y, 6, false}, {"empty", NULL, NULL, 0, false}};
    Plot plot = {.left = {.scale = AXIS_LOG10}, .series = series, .count = 2};
    double points[6][2];
    int pieces;
    StrBuf out = {0};
    plot_write_svg(&plot, &out);
    assert_xml(&out);
    assert_int_equal(text_count(&out, "<circle "), 3);
    assert_int_equal(read_path(&out, 0, points, 6, &pieces), 3);
    assert_int_equal(pieces, 3);
    assert_int_equal(read_path(&out, 1, points, 6, &pieces), 0);
    assert_text_has(&out, ">empty</text>");
    assert_int_equal(text_count(&out, "<title>"), 3); /* no title of the picture, one of each point */
    strbuf_clear(&out);
    plot.left.scale = AXIS_LINEAR; /* zero and less are numbers like others there */
    plot_write_svg(&plot, &out);
    assert_int_equal(read_path(&out, 0, points, 6, &pieces), 5);
    assert_int_equal(pieces, 2);
    strbuf_clear(&out);
    plot.count = 0;
    plot.x.scale = plot.left.scale = AXIS_LOG10;
    plot_write_svg(&plot, &out);
    assert_xml(&out);
    assert_text_has(&out, ">1</text>");
    assert_text_has(&out, ">10</text>");
    strbuf_free(&out);
}

static void test_plot_odd_values(void **state) {
    (void)state;
    static const double values[][3] = {{NAN, NAN, NAN},  {0, 0, 0},         {5, 5, 5},
                                       {-1, 0, 1},       {INFINITY, 1, 2},  {1e300, -1e300, 0},
                                       {5e29, 2e-30, 1}, {1, 1 + 1e-15, 1}, {1e-320, 0, 0}};
    for (size_t i = 0; i < COUNT(values); i++)
        for (size_t k = 0; k < COUNT(values); k++)
            for (int scales = 0; scales < 9; scales++) {
                const PlotSeries series[] = {{"a", values[i], values[k], 3, false},
                                             {"b", values[k], values[i], 3, true}};
                const Plot plot = {.x = {.scale = (AxisScale)(scales / 3)},
                                   .left = {.scale = (AxisScale)(scales % 3)},
                                   .right = {.scale = (AxisScale)(scales / 3)},
                                   .series = series,
                                   .count = 2};
                StrBuf out = {0};
                plot_write_svg(&plot, &out);
                assert_xml(&out);
                if (strstr(strbuf_text(&out), "nan") || strstr(strbuf_text(&out), "inf"))
                    fail_msg("not a number drawn: %s", strbuf_text(&out) + 1000);
                assert_true(out.length < 20000);
                strbuf_free(&out);
            }
}

/* More series than colours are told apart by dots; a long title does not leave the picture. */
static void test_plot_many_series(void **state) {
    (void)state;
    static const double x[] = {1, 2}, y[] = {1, 2};
    static const char *const names[] = {"additive", "dot",      "scaled_dot", "general",
                                        "cosine",   "distance", "location",   "concat"};
    PlotSeries series[COUNT(names)];
    for (size_t i = 0; i < COUNT(names); i++) series[i] = (PlotSeries){names[i], x, y, 2, false};
    Plot plot = {.title =
                     "a title that goes on and on and on and on and on and on and on and on and on and on "
                     "until it needs another line, which stands below the first one and above the names",
                 .series = series,
                 .count = COUNT(names)};
    StrBuf out = {0};
    plot_write_svg(&plot, &out);
    assert_xml(&out);
    for (size_t i = 0; i < COUNT(names); i++) assert_text_has(&out, names[i]);
    assert_int_equal(text_count(&out, "stroke-dasharray=\"2 3\""), 4); /* two in the legend, two lines */
    assert_int_equal(text_count(&out, "stroke-dasharray=\"7 3\""), 0);
    assert_text_has(&out, "<text x=\"16\" y=\"31\" font-size=\"15\"");
    assert_text_has(&out, "<text x=\"16\" y=\"50\" font-size=\"15\"");
    assert_text_has(&out, " above the names</text>");
    assert_int_equal(text_count(&out, "…"), 0);
    strbuf_free(&out);
}

/* Each plot keeps its size and gets a place of its own; the sheet is as large as all of them. */
static void test_sheet(void **state) {
    (void)state;
    static const double x[] = {1, 2}, y[] = {1, 2};
    const PlotSeries series = {"line", x, y, 2, false};
    const Plot plots[] = {{.title = "first", .series = &series, .count = 1},
                          {.title = "second", .series = &series, .count = 1},
                          {.title = "third", .series = &series, .count = 1}};
    double width = 0, height = 0, left = 0, top = 0;
    StrBuf out = {0};
    plot_write_svg(&plots[0], &out);
    const char *at = strstr(strbuf_text(&out), " width=\"");
    assert_true(at && sscanf(at, " width=\"%lf\" height=\"%lf\"", &width, &height) == 2);
    strbuf_clear(&out);
    plot_sheet_write_svg(plots, 3, 2, &out);
    assert_xml(&out);
    at = strstr(strbuf_text(&out), " width=\"");
    assert_true(at && sscanf(at, " width=\"%lf\" height=\"%lf\"", &left, &top) == 2);
    assert_near(left, 2 * width, 1e-3);
    assert_near(top, 2 * height, 1e-3);
    assert_int_equal(text_count(&out, "<?xml"), 1);
    at = strbuf_text(&out);
    for (int i = 0; i < 3; i++) {
        at = strstr(at, "<svg x=\"");
        assert_true(at && sscanf(at, "<svg x=\"%lf\" y=\"%lf\"", &left, &top) == 2);
        assert_near(left, i == 1 ? width : 0, 1e-3);
        assert_near(top, i == 2 ? height : 0, 1e-3);
        const char *title = strstr(at, "<title>");
        assert_true(title && strncmp(title + 7, plots[i].title, strlen(plots[i].title)) == 0);
        at = title;
    }
    strbuf_clear(&out);
    plot_sheet_write_svg(plots, 0, 2, &out);
    assert_xml(&out);
    strbuf_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axis_ticks),       cmocka_unit_test(test_axis_places),
        cmocka_unit_test(test_axis_ranges),      cmocka_unit_test(test_plot_log_log),
        cmocka_unit_test(test_plot_gaps),        cmocka_unit_test(test_plot_odd_values),
        cmocka_unit_test(test_plot_many_series), cmocka_unit_test(test_sheet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
