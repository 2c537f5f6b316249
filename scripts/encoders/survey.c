/* survey.c - exponents, tables, JSON and a picture of what was measured. */
#include "survey.h"

#include <math.h>
#include <stdio.h>
#include "base/json.h"
#include "measure/measure.h"
#include "num/gemm.h"
#include "num/kern.h"
#include "viz/plot_sheet.h"

void survey_collect(Survey *survey) {
    for (int i = 0; i < survey->count; i++) {
        const Measurement *c = &survey->points[i];
        bool lengths = i < LAYER_KINDS * survey->lengths;
        Series *s = lengths ? &survey->by_length[c->kind] : &survey->by_width[c->kind];
        s->x[s->count] = lengths ? c->n : c->d;
        s->milliseconds[s->count] = 1e3 * c->seconds;
        s->megabytes[s->count++] = (double)c->bytes / 1e6;
    }
}

/* Slope of log y over log x by least squares, from SURVEY_FIT_FROM up. */
static double exponent(const Series *s, const double *y) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < s->count; i++) {
        if (s->x[i] < SURVEY_FIT_FROM) continue;
        double u = log(s->x[i]), v = log(y[i]);
        n++, sx += u, sy += v, sxx += u * u, sxy += u * v;
    }
    return n < 2 ? NAN : (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/* ---- what is printed --------------------------------------------------------------------------------------------------- */

static void write_points(StrBuf *out, const char *title, const Series *series, bool memory) {
    strbuf_format(out, "\n| %s |", title);
    for (int i = 0; i < series->count; i++) strbuf_format(out, " %g |", series->x[i]);
    strbuf_add(out, SV("\n| --- |"));
    for (int i = 0; i < series->count; i++) strbuf_add(out, SV(" ---: |"));
    for (int kind = 0; kind < LAYER_KINDS; kind++) {
        strbuf_format(out, "\n| %s |", LAYER_FACTS[kind].name);
        for (int i = 0; i < series[kind].count; i++) {
            strbuf_add_char(out, ' ');
            measure_add_number(out, memory ? series[kind].megabytes[i] : series[kind].milliseconds[i]);
            strbuf_add(out, SV(" |"));
        }
    }
    strbuf_add_char(out, '\n');
}

static void write_growth(StrBuf *out, double n, double d) {
    if (isfinite(n) && isfinite(d))
        strbuf_format(out, "n^%.2f d^%.2f | ", n, d);
    else
        strbuf_add(out, SV("too few points | "));
}

void survey_write_tables(const Survey *survey, StrBuf *out) {
    char title[64];
    strbuf_format(out,
                  "One layer, forward and backward, one sentence of n tokens, width d, one thread (%s, %s).\n"
                  "Exponents are fitted from n = %d (at d = %d) and from d = %d (at n = %d) up.\n\n",
                  gemm_kernel(), kern->name, SURVEY_FIT_FROM, survey->width, SURVEY_FIT_FROM, survey->length);
    strbuf_add(out,
               SV("| layer | operations, by the chapter | time, measured | memory, measured | sequential "
                  "operations | longest path |\n| --- | --- | --- | --- | --- | --- |\n"));
    for (int kind = 0; kind < LAYER_KINDS; kind++) {
        const Series *n = &survey->by_length[kind], *d = &survey->by_width[kind];
        strbuf_format(out, "| %s | %s | ", LAYER_FACTS[kind].name, LAYER_FACTS[kind].chapter);
        write_growth(out, exponent(n, n->milliseconds), exponent(d, d->milliseconds));
        write_growth(out, exponent(n, n->megabytes), exponent(d, d->megabytes));
        strbuf_format(out, "%s | %s |\n", LAYER_FACTS[kind].sequential, LAYER_FACTS[kind].path);
    }
    snprintf(title, sizeof title, "milliseconds, d = %d; n =", survey->width);
    write_points(out, title, survey->by_length, false);
    snprintf(title, sizeof title, "megabytes, d = %d; n =", survey->width);
    write_points(out, title, survey->by_length, true);
    snprintf(title, sizeof title, "milliseconds, n = %d; d =", survey->length);
    write_points(out, title, survey->by_width, false);
    snprintf(title, sizeof title, "megabytes, n = %d; d =", survey->length);
    write_points(out, title, survey->by_width, true);
}

void survey_write_json(const Survey *survey, StrBuf *out) {
    strbuf_format(out, "{\"heads\": %d, \"sentences\": 1, \"fit_from\": %d, \"measurements\": [", LAYER_HEADS,
                  SURVEY_FIT_FROM);
    for (int i = 0; i < survey->count; i++) {
        const Measurement *c = &survey->points[i];
        strbuf_format(out, "%s\n  {\"layer\": \"%s\", \"n\": %d, \"d\": %d, \"seconds\": ", i ? "," : "",
                      LAYER_FACTS[c->kind].key, c->n, c->d);
        json_write_number(out, c->seconds);
        strbuf_format(out, ", \"bytes\": %zu, \"runs\": %d}", c->bytes, c->runs);
    }
    strbuf_add(out, SV("\n], \"exponents\": ["));
    for (int kind = 0; kind < LAYER_KINDS; kind++) {
        const Series *n = &survey->by_length[kind], *d = &survey->by_width[kind];
        const struct {
            const char *name;
            double value;
        } exponents[] = {{"time_n", exponent(n, n->milliseconds)},
                         {"time_d", exponent(d, d->milliseconds)},
                         {"memory_n", exponent(n, n->megabytes)},
                         {"memory_d", exponent(d, d->megabytes)}};
        strbuf_format(out, "%s\n  {\"layer\": \"%s\"", kind ? "," : "", LAYER_FACTS[kind].key);
        for (int i = 0; i < 4; i++)
            if (isfinite(exponents[i].value)) {
                strbuf_format(out, ", \"%s\": ", exponents[i].name);
                json_write_number(out, exponents[i].value);
            }
        strbuf_add_char(out, '}');
    }
    strbuf_add(out, SV("\n]}\n"));
}

/* ---- the picture --------------------------------------------------------------------------------------------------------- */

void survey_write_picture(const Survey *survey, StrBuf *out) {
    PlotSeries lines[2][LAYER_KINDS];
    char title[2][96];
    Plot plots[2];
    for (int memory = 0; memory < 2; memory++) {
        for (int kind = 0; kind < LAYER_KINDS; kind++) {
            const Series *s = &survey->by_length[kind];
            lines[memory][kind] = (PlotSeries){.name = LAYER_FACTS[kind].name,
                                               .x = s->x,
                                               .y = memory ? s->megabytes : s->milliseconds,
                                               .count = s->count};
        }
        snprintf(title[memory], sizeof title[memory], "%s of one layer, forward and backward (d = %d)",
                 memory ? "Memory" : "Time", survey->width);
        plots[memory] = (Plot){.title = title[memory],
                               .x = {.title = "tokens in the sentence", .scale = AXIS_LOG2},
                               .left = {.title = memory ? "megabytes" : "milliseconds", .scale = AXIS_LOG10},
                               .series = lines[memory],
                               .count = LAYER_KINDS};
    }
    plot_sheet_write_svg(plots, 2, 1, out);
}
