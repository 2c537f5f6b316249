/* demo_pooling.c - attn-mt demo pooling: regression by attention, with several kernels and a learned width.
 * Nadaraya 1964, Watson 1964; Dive into Deep Learning, section 11.2: eq. 11.2.1 (kernels), 11.2.2
 * (regression)
 *
 * f(q) = sum_i a_i y_i with a_i = k((q - x_i) / width) / sum_j k((q - x_j) / width)
 */
#include <math.h>
#include "base/mem.h"
#include "base/rng.h"
#include "textbook/demo.h"
#include "viz/heatmap.h"
#include "viz/plot.h"

typedef struct {
    long long seed;
    double width, noise;
    int kernel, count;
    char *output;
    bool quiet;
} PoolingOptions;

enum { QUERIES = 50, MAX_KEYS = 500, WIDTHS = 4, STREAM_KEYS = 4 };
enum { FILE_KERNELS, FILE_WIDTHS, FILE_LEARNED, FILE_WEIGHTS, FILE_WEIGHTS_CSV, FILE_DATA };
static const double END = 5, WIDTH[WIDTHS] = {0.1, 0.2, 0.5, 1}; /* the textbook's */

typedef struct {
    int keys;
    double *x, *y;                 /* [keys], x ascending */
    double q[QUERIES], f[QUERIES]; /* queries, and f(q) without noise */
} Data;

/* ---- kernels, of u = (q - x) / width ----
 * The Gaussian is divided by its largest value, that of the least |u|. This does not change the weights, and
 * avoids an underflow if all keys are far away. */

static double gaussian(double u, double least) { return exp((least * least - u * u) / 2); }
static double boxcar(double u, double least) { return (void)least, fabs(u) < 1; }
static double constant(double u, double least) { return (void)u, (void)least, 1; }
static double epanechnikov(double u, double least) { /* as in the textbook; the usual one has u^2 */
    return (void)least, fmax(0, 1 - fabs(u));
}

typedef enum { GAUSSIAN, BOXCAR, CONSTANT, EPANECHNIKOV, KERNELS } Kernel;
#define KERNEL_CHOICES "gaussian|boxcar|constant|epanechnikov"
static const struct {
    const char *name, *formula;
    double (*value)(double u, double least);
} KERNEL[KERNELS] = {[GAUSSIAN] = {"gaussian", "exp(-u^2 / 2)", gaussian},
                     [BOXCAR] = {"boxcar", "1 where |u| < 1", boxcar},
                     [CONSTANT] = {"constant", "1", constant},
                     [EPANECHNIKOV] = {"epanechnikov", "max(0, 1 - |u|)", epanechnikov}};

#define POOLING(member) OPT_FIELD(PoolingOptions, member)

/* clang-format off */
static const Option POOLING_OPTIONS[] = {
    {.flag = "kernel", .type = OPT_CHOICE, POOLING(kernel), .default_text = "gaussian",
     .choices = KERNEL_CHOICES, .arg = "KERNEL",
     .help = "kernel whose weights are drawn", .group = "demo pooling"},
    {.flag = "width", .type = OPT_REAL, POOLING(width), .default_text = "1", .min = 0.001, .max = 1000,
     .arg = "W",
     .help = "width of the kernels, and the initial value of the learned width"},
    {.flag = "count", .type = OPT_INT, POOLING(count), .default_text = "40", .min = 2, .max = MAX_KEYS,
     .arg = "N",
     .help = "number of keys, each with a value"},
    {.flag = "noise", .type = OPT_REAL, POOLING(noise), .default_text = "1", .max = 1000, .arg = "SD",
     .help = "standard deviation of the noise in the values"},
    {.flag = "seed", .type = OPT_LONG, POOLING(seed), .default_text = "1", .max = 9e15, .arg = "N",
     .help = "seed of all random numbers"},
    {.flag = "output", .letter = 'o', .type = OPT_STRING, POOLING(output),
     .arg = "PREFIX",
     .help = "write PREFIX-kernels.svg, -widths.svg and -learned.svg, the weights as PREFIX-weights.svg "
             "and .csv, and keys and values as PREFIX-data.csv"},
    {.flag = "quiet", .letter = 'q', .type = OPT_BOOL, POOLING(quiet), .default_text = "false",
     .help = "do not print the names of written files"},
    {0}};
/* clang-format on */

/* ---- the data: y = 2 sin(x) + x and noise ---- */

static double truth(double x) { return 2 * sin(x) + x; }

static Data data_make(const PoolingOptions *options) {
    Data d = {.keys = options->count, .x = mem_alloc((size_t)options->count * 2, sizeof(double))};
    d.y = d.x + d.keys;
    Rng rng = rng_new(rng_key((uint64_t)options->seed, STREAM_KEYS, 0, 0));
    for (int i = 0; i < d.keys; i++) { /* insertion sort */
        double x = END * rng_uniform(&rng);
        int at = i;
        for (; at > 0 && d.x[at - 1] > x; at--) d.x[at] = d.x[at - 1];
        d.x[at] = x;
    }
    for (int i = 0; i < d.keys; i++) d.y[i] = truth(d.x[i]) + options->noise * rng_normal(&rng);
    for (int j = 0; j < QUERIES; j++) {
        d.q[j] = END * j / QUERIES;
        d.f[j] = truth(d.q[j]);
    }
    return d;
}

/* ---- pooling ---- */

/* Weights [keys] of a query, all 0 if no key is near enough. Key `excluded` gets 0; -1: none. */
static void weigh(const Data *d, Kernel kernel, double width, double q, int excluded, double *weights) {
    double sum = 0, least = INFINITY;
    for (int i = 0; i < d->keys; i++)
        if (i != excluded) least = fmin(least, fabs(q - d->x[i]) / width);
    for (int i = 0; i < d->keys; i++) {
        weights[i] = i == excluded ? 0 : KERNEL[kernel].value((q - d->x[i]) / width, least);
        sum += weights[i];
    }
    for (int i = 0; i < d->keys && sum > 0; i++) weights[i] /= sum;
}

/* NaN if no key is near enough. */
static double pool(const Data *d, const double *weights) {
    double sum = 0, y = 0;
    for (int i = 0; i < d->keys; i++) {
        sum += weights[i];
        y += weights[i] * d->y[i];
    }
    return sum > 0 ? y : NAN;
}

static void estimate(const Data *d, Kernel kernel, double width, double *estimates) {
    double weights[MAX_KEYS];
    for (int j = 0; j < QUERIES; j++) {
        weigh(d, kernel, width, d->q[j], -1, weights);
        estimates[j] = pool(d, weights);
    }
}

/* The mean of (f(q) - 2 sin(q) - q)^2 over the queries that have an estimate. */
static double error_of(const Data *d, const double *estimates) {
    double sum = 0;
    int count = 0;
    for (int j = 0; j < QUERIES; j++) {
        if (isnan(estimates[j])) continue;
        sum += (estimates[j] - d->f[j]) * (estimates[j] - d->f[j]);
        count++;
    }
    return count > 0 ? sum / count : NAN;
}

/* ---- learning the width ----
 * of the Gaussian, by gradient descent on the mean of (f(x_i) - y_i)^2 over the keys. x_i itself is one of
 * the keys or is left out. The parameter is log(width), which keeps the width positive:
 * d a_i / d log(width) = a_i (u_i^2 - sum_j a_j u_j^2). The width is clamped, because much
 * noise makes very large steps. */

enum { STEPS = 200, CURVE_POINTS = STEPS + 1 };
static const double RATE = 0.2, MIN_WIDTH = 1e-6, MAX_WIDTH = 1e6;

typedef struct {
    double width[CURVE_POINTS], at_keys[CURVE_POINTS], at_queries[CURVE_POINTS];
} LearnedWidth;

/* Returns the mean; *slope is its derivative. */
static double loss_at_keys(const Data *d, double width, bool leave_out, double *slope) {
    double weights[MAX_KEYS], loss = 0;
    *slope = 0;
    for (int i = 0; i < d->keys; i++) {
        weigh(d, GAUSSIAN, width, d->x[i], leave_out ? i : -1, weights);
        double f = pool(d, weights), change = 0;
        for (int j = 0; j < d->keys; j++) {
            double u = (d->x[i] - d->x[j]) / width;
            change += weights[j] * u * u * (d->y[j] - f);
        }
        loss += (f - d->y[i]) * (f - d->y[i]) / d->keys;
        *slope += 2 * (f - d->y[i]) * change / d->keys;
    }
    return loss;
}

static void learn(const Data *d, double width, bool leave_out, LearnedWidth *learned) {
    double estimates[QUERIES], slope;
    for (int s = 0; s < CURVE_POINTS; s++) {
        learned->width[s] = width;
        learned->at_keys[s] = loss_at_keys(d, width, leave_out, &slope);
        estimate(d, GAUSSIAN, width, estimates);
        learned->at_queries[s] = error_of(d, estimates);
        width = fmin(fmax(width * exp(-RATE * slope), MIN_WIDTH), MAX_WIDTH);
    }
}

/* ---- numbers ---- */

static void write_number(double value, StrBuf *out) {
    if (isnan(value))
        strbuf_format(out, "%14s", "-");
    else
        strbuf_format(out, "%14.4f", value);
}

static void write_estimates(const Data *d, double width, double (*estimates)[QUERIES], StrBuf *out) {
    strbuf_format(out, "\nwidth %g\n     q  2 sin q + q", width);
    for (int k = 0; k < KERNELS; k++) strbuf_format(out, "%14s", KERNEL[k].name);
    for (int j = 0; j < QUERIES; j += QUERIES / 10) {
        strbuf_format(out, "\n%6.2f", d->q[j]);
        write_number(d->f[j], out);
        for (int k = 0; k < KERNELS; k++) write_number(estimates[k][j], out);
    }
    strbuf_add(out, SV("\n"));
}

static void write_errors(const Data *d, StrBuf *out) {
    double estimates[QUERIES];
    strbuf_format(out, "\nmean of (f(q) - 2 sin(q) - q)^2 over %d queries\n width", QUERIES);
    for (int k = 0; k < KERNELS; k++) strbuf_format(out, "%14s", KERNEL[k].name);
    for (int w = 0; w < WIDTHS; w++) {
        strbuf_format(out, "\n%6.1f", WIDTH[w]);
        for (int k = 0; k < KERNELS; k++) {
            estimate(d, (Kernel)k, WIDTH[w], estimates);
            write_number(error_of(d, estimates), out);
        }
    }
    strbuf_add(out, SV("\n"));
}

static void write_learned(const LearnedWidth *with, const LearnedWidth *without, StrBuf *out) {
    static const int SHOWN[] = {0, 1, 2, 5, 10, 20, 50, 100, STEPS};
    strbuf_add(out, SV("\nthe Gaussian's width, learned by gradient descent of the mean of (f(x) - y)^2 over "
                       "the keys\n        x itself is a key                           x itself is left out\n"
                       "  step         width       at keys    at queries         width       at keys    "
                       "at queries"));
    for (size_t i = 0; i < sizeof SHOWN / sizeof *SHOWN; i++) {
        int s = SHOWN[i];
        strbuf_format(out, "\n%6d", s);
        for (int side = 0; side < 2; side++) {
            const LearnedWidth *l = side == 0 ? with : without;
            write_number(l->width[s], out);
            write_number(l->at_keys[s], out);
            write_number(l->at_queries[s], out);
        }
    }
    strbuf_add(out, SV("\n"));
}

/* ---- pictures ---- */

/* `series`: [count + 1] of which the first is 2 sin x + x; the caller has filled the others except x. */
static void draw(const char *title, const Data *d, PlotSeries *series, int count, StrBuf *out) {
    series[0] = (PlotSeries){.name = "2 sin x + x", .y = d->f};
    for (int i = 0; i <= count; i++) {
        series[i].x = d->q;
        series[i].count = QUERIES;
    }
    Plot plot = {.title = title,
                 .x = {.title = "query"},
                 .left = {.title = "estimate"},
                 .series = series,
                 .count = count + 1};
    plot_write_svg(&plot, out);
}

static void draw_kernels(const Data *d, double (*estimates)[QUERIES], StrBuf *out) {
    PlotSeries series[1 + KERNELS];
    for (int k = 0; k < KERNELS; k++) series[1 + k] = (PlotSeries){.name = KERNEL[k].name, .y = estimates[k]};
    draw("Attention pooling with several kernels", d, series, KERNELS, out);
}

static void draw_widths(const Data *d, StrBuf *out) {
    static const char *const NAMES[WIDTHS] = {"width 0.1", "width 0.2", "width 0.5", "width 1"};
    double estimates[WIDTHS][QUERIES];
    PlotSeries series[1 + WIDTHS];
    for (int w = 0; w < WIDTHS; w++) {
        estimate(d, GAUSSIAN, WIDTH[w], estimates[w]);
        series[1 + w] = (PlotSeries){.name = NAMES[w], .y = estimates[w]};
    }
    draw("Attention pooling with Gaussians of several widths", d, series, WIDTHS, out);
}

static void draw_learned(const LearnedWidth *with, const LearnedWidth *without, StrBuf *out) {
    double step[CURVE_POINTS];
    for (int s = 0; s < CURVE_POINTS; s++) step[s] = s;
    PlotSeries series[] = {{"x is a key: at keys", step, with->at_keys, CURVE_POINTS, false},
                           {"x is a key: at queries", step, with->at_queries, CURVE_POINTS, false},
                           {"x is left out: at keys", step, without->at_keys, CURVE_POINTS, false},
                           {"x is left out: at queries", step, without->at_queries, CURVE_POINTS, false}};
    Plot plot = {.title = "The Gaussian's width, learned",
                 .x = {.title = "step", .whole = true},
                 .left = {.title = "mean square"},
                 .series = series,
                 .count = 4};
    plot_write_svg(&plot, out);
}

static void draw_weights(const PoolingOptions *options, const Data *d, DemoOutput *out) {
    size_t keys = (size_t)d->keys;
    double row[MAX_KEYS];
    float *weights = mem_alloc(QUERIES * keys, sizeof *weights);
    for (int j = 0; j < QUERIES; j++) {
        weigh(d, (Kernel)options->kernel, options->width, d->q[j], -1, row);
        for (size_t i = 0; i < keys; i++) weights[(size_t)j * keys + i] = (float)row[i];
    }
    float most = 0;
    for (size_t i = 0; i < QUERIES * keys; i++) most = fmaxf(most, weights[i]);
    StrList down = {0}, across = {0};
    for (int j = 0; j < QUERIES; j++) strlist_format(&down, "%.4f", d->q[j]);
    for (int i = 0; i < d->keys; i++) strlist_format(&across, "%.4f", d->x[i]);
    Heatmap map = {.rows = QUERIES,
                   .columns = d->keys,
                   .row_labels = (const char *const *)down.items,
                   .column_labels = (const char *const *)across.items,
                   .weights = weights,
                   .title = "Attention pooling: weights of the keys, a row for each query"};
    heatmap_write_svg_range(&map, 0, most > 0 ? (double)most : 1, &out->content[FILE_WEIGHTS]);
    heatmap_write_csv(&map, &out->content[FILE_WEIGHTS_CSV]);
    strlist_free(&down);
    strlist_free(&across);
    mem_free(weights);
}

/* ---- the demo ---- */

static void show(const PoolingOptions *options, DemoOutput *out) {
    Data data = data_make(options);
    double estimates[KERNELS][QUERIES];
    LearnedWidth *learned = mem_alloc(2, sizeof *learned);
    for (int k = 0; k < KERNELS; k++) estimate(&data, (Kernel)k, options->width, estimates[k]);
    for (int side = 0; side < 2; side++) learn(&data, options->width, side == 1, &learned[side]);
    strbuf_format(&out->text,
                  "attention pooling: f(q) = sum_i k((q - x_i) / width) y_i / sum_j k((q - x_j) / width)\n"
                  "%d keys x from 0 to %g with values y = 2 sin(x) + x + noise of %g; %d queries\n",
                  data.keys, END, options->noise, QUERIES);
    for (int k = 0; k < KERNELS; k++)
        strbuf_format(&out->text, "  %-12s k(u) = %s\n", KERNEL[k].name, KERNEL[k].formula);
    write_estimates(&data, options->width, estimates, &out->text);
    write_errors(&data, &out->text);
    write_learned(&learned[0], &learned[1], &out->text);
    draw_kernels(&data, estimates, &out->content[FILE_KERNELS]);
    draw_widths(&data, &out->content[FILE_WIDTHS]);
    draw_learned(&learned[0], &learned[1], &out->content[FILE_LEARNED]);
    draw_weights(options, &data, out);
    strbuf_add(&out->content[FILE_DATA], SV("x,y\n"));
    for (int i = 0; i < data.keys; i++)
        strbuf_format(&out->content[FILE_DATA], "%.9g,%.9g\n", data.x[i], data.y[i]);
    mem_free(learned);
    mem_free(data.x);
}

static Status demo_pooling(const void *user_options) {
    static const char *const SUFFIXES[] = {
        "-kernels.svg", "-widths.svg", "-learned.svg", "-weights.svg", "-weights.csv", "-data.csv", NULL};
    const PoolingOptions *options = user_options;
    DemoOutput out;
    Status status = demo_begin(&out, options->output, SUFFIXES);
    if (status == STATUS_OK) show(options, &out);
    return demo_finish(&out, status, options->quiet);
}

const Demo DEMO_POOLING = {"pooling", POOLING_OPTIONS, sizeof(PoolingOptions), demo_pooling};
