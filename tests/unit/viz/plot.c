/* plot.c - plots: ticks and coordinates, gaps, many series, unusual values. */
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
#include "viz/plot.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void assert_near(double actual, double expected, double tolerance) {
    if (!(fabs(actual - expected) <= tolerance)) fail_msg("%.9g instead of %.9g", actual, expected);
}

/* ---- axes ---- */

static Axis axis_over(double low, double high, int most) {
    Axis axis = {.from = 100, .to = 700};
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
        double low, high;
        int most;
        const char *ticks;
    } cases[] = {{-0.97, 0.99, 6, "-1.0 -0.5 0.0 0.5 1.0"},
                 {0, 59, 8, "0 10 20 30 40 50 60"},
                 {500, 15000, 8, "0 2000 4000 6000 8000 10,000 12,000 14,000 16,000"},
                 {3e-5, 9e-5, 8, "3e-05 4e-05 5e-05 6e-05 7e-05 8e-05 9e-05"}};
    StrBuf out = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        Axis axis = axis_over(cases[i].low, cases[i].high, cases[i].most);
        write_ticks(&axis, &out);
        if (strcmp(strbuf_text(&out), cases[i].ticks) != 0)
            fail_msg("%g to %g: '%s' instead of '%s'", cases[i].low, cases[i].high, strbuf_text(&out),
                     cases[i].ticks);
    }
    strbuf_free(&out);
}

static void test_axis_positions(void **state) {
    (void)state;
    Axis axis = axis_over(-1, 1, 6);
    assert_near(axis_position(&axis, -0.5), 250, 1e-9);
    static const double odd[] = {0, -1, NAN, INFINITY, -INFINITY, 1e-31, 1e300};
    for (size_t i = 0; i < COUNT(odd); i++) assert_int_equal(axis_draws(odd[i]), i < 2 || i == 5);
}

/* For any range, ticks ascend, enclose the range and are few. */
static void test_axis_ranges(void **state) {
    (void)state;
    for (double low = 1.1e-30; low < 9e29; low *= 7.3)
        for (double high = low; high < 9e29; high *= 11.7) {
            Axis axis = axis_over(low, high, 9);
            if (!(axis.ticks >= 2 && axis.ticks <= 12))
                fail_msg("%d ticks from %g to %g", axis.ticks, low, high);
            double first = axis_tick(&axis, 0), last = axis_tick(&axis, axis.ticks - 1);
            if (!(first <= low * (1 + 1e-8) && last >= high * (1 - 1e-8)))
                fail_msg("%g to %g does not enclose %g to %g", first, last, low, high);
            for (int i = 1; i < axis.ticks; i++) assert_true(axis_tick(&axis, i) > axis_tick(&axis, i - 1));
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

static void test_plot_lines(void **state) {
    (void)state;
    double x[8], once[8], twice[8], points[8][2];
    for (int i = 0; i < 8; i++) {
        x[i] = 100 * i;
        once[i] = 1e-3 * x[i];
        twice[i] = 2e-3 * x[i];
    }
    const PlotSeries series[] = {{"rnn", x, once, 8, false}, {"self <attention> & co", x, twice, 8, false}};
    const Plot plot = {.title = "\"time\" < length",
                       .x = {.title = "length & more"},
                       .left = {.title = "seconds <wall>"},
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
                                        ">100</text>",
                                        ">700</text>",
                                        ">1.50</text>"};
    for (size_t i = 0; i < COUNT(texts); i++) assert_text_has(&out, texts[i]);
    assert_int_equal(text_count(&out, "<circle "), 16);
    assert_text_has(&out, "<title>700: 1.4</title>");
    /* Lines are straight, and one is twice as steep. */
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
    Plot plot = {.series = series, .count = 2};
    double points[6][2];
    int pieces;
    StrBuf out = {0};
    plot_write_svg(&plot, &out);
    assert_xml(&out);
    assert_int_equal(text_count(&out, "<circle "), 5);
    assert_int_equal(read_path(&out, 0, points, 6, &pieces), 5);
    assert_int_equal(pieces, 2);
    assert_int_equal(read_path(&out, 1, points, 6, &pieces), 0);
    assert_text_has(&out, ">empty</text>");
    assert_int_equal(text_count(&out, "<title>"), 5); /* no title of the picture, one of each point */
    strbuf_clear(&out);
    plot.count = 0;
    plot_write_svg(&plot, &out);
    assert_xml(&out);
    assert_text_has(&out, ">0.0</text>");
    assert_text_has(&out, ">1.0</text>");
    strbuf_free(&out);
}

static void test_plot_odd_values(void **state) {
    (void)state;
    static const double values[][3] = {{NAN, NAN, NAN},  {0, 0, 0},         {5, 5, 5},
                                       {-1, 0, 1},       {INFINITY, 1, 2},  {1e300, -1e300, 0},
                                       {5e29, 2e-30, 1}, {1, 1 + 1e-15, 1}, {1e-320, 0, 0}};
    for (size_t i = 0; i < COUNT(values); i++)
        for (size_t k = 0; k < COUNT(values); k++) {
            const PlotSeries series[] = {{"a", values[i], values[k], 3, false},
                                         {"b", values[k], values[i], 3, true}};
            const Plot plot = {.series = series, .count = 2};
            StrBuf out = {0};
            plot_write_svg(&plot, &out);
            assert_xml(&out);
            if (strstr(strbuf_text(&out), "nan") || strstr(strbuf_text(&out), "inf"))
                fail_msg("not a number drawn: %s", strbuf_text(&out) + 1000);
            assert_true(out.length < 20000);
            strbuf_free(&out);
        }
}

/* More series than colours differ by dots; a long title stays inside the picture. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axis_ticks),       cmocka_unit_test(test_axis_positions),
        cmocka_unit_test(test_axis_ranges),      cmocka_unit_test(test_plot_lines),
        cmocka_unit_test(test_plot_gaps),        cmocka_unit_test(test_plot_odd_values),
        cmocka_unit_test(test_plot_many_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
