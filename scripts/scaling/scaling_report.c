/* scaling_report.c - tables, straight lines through the memory, and a picture. */
#include "scaling_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/json.h"
#include "measure/measure.h"
#include "num/gemm.h"
#include "num/kern.h"
#include "viz/plot_sheet.h"

typedef struct {
    const char *name, *axis;
    const char *each; /* what memory grows by; NULL: it is not shown against this number */
} SweepFacts;

static const SweepFacts FACTS[SWEEPS] = {
    [SWEEP_HIDDEN] = {"hidden size", "units of encoder and decoder (model.hidden)", NULL},
    [SWEEP_BATCH] = {"batch", "sentences in a batch", "sentence"},
    [SWEEP_VOCABULARY] = {"vocabulary", "words of each language", NULL},
    [SWEEP_LENGTH] = {"sentence length", "words in a sentence", "word"},
};

/* ---- figures --------------------------------------------------------------------------------------------------------------- */

/* Target tokens with </s> in a second, by the median update. */
static double speed(const ScalingPoint *point) {
    return point->size.batch * (point->size.length + 1) / measure_median(point->seconds, point->updates);
}

typedef struct {
    double at_zero, slope, off; /* off: largest distance from the line, as a share of the value */
} Line;

/* y = at_zero + slope x by least squares of the relative errors, so that small values count as much as large ones. */
static Line fit(const double *x, const double *y, int count) {
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
    for (int i = 0; i < count; i++) {
        double weight = 1 / (y[i] * y[i]);
        w += weight, wx += weight * x[i], wy += weight * y[i];
        wxx += weight * x[i] * x[i], wxy += weight * x[i] * y[i];
    }
    Line line = {.slope = (w * wxy - wx * wy) / (w * wxx - wx * wx)};
    line.at_zero = (wy - line.slope * wx) / w;
    for (int i = 0; i < count; i++)
        line.off = fmax(line.off, fabs(line.at_zero + line.slope * x[i] - y[i]) / y[i]);
    return line;
}

static void memory_of(const Survey *survey, int sweep, int team, double *megabytes) {
    const Sweep *s = &survey->sweep[sweep];
    for (int i = 0; i < s->count; i++) megabytes[i] = survey->points[s->point[team][i]].megabytes;
}

/* ---- tables ---------------------------------------------------------------------------------------------------------------- */

static const char *threads_text(int threads, char *buffer, size_t size) {
    snprintf(buffer, size, "%d thread%s", threads, threads == 1 ? "" : "s");
    return buffer;
}

static void write_table(const Survey *survey, int sweep, StrBuf *out) {
    const Sweep *s = &survey->sweep[sweep];
    int last = survey->teams - 1;
    char number[32];
    strbuf_format(out, "\n| %s |", FACTS[sweep].name);
    for (int team = 0; team <= last; team++) {
        int threads = survey->points[s->point[team][0]].size.threads;
        strbuf_format(out, " %s, %s |", team ? "tokens/s" : "target tokens/s",
                      threads_text(threads, number, sizeof number));
    }
    if (last) strbuf_add(out, SV(" speed-up |"));
    strbuf_add(out, SV(" peak memory, MB |\n| ---: |"));
    for (int i = 0; i < survey->teams + last + 1; i++) strbuf_add(out, SV(" ---: |"));
    for (int i = 0; i < s->count; i++) {
        strbuf_format(out, "\n| %s |", str_count((long long)s->x[i], number));
        double by_team[SCALING_TEAMS];
        for (int team = 0; team <= last; team++) {
            by_team[team] = speed(&survey->points[s->point[team][i]]);
            strbuf_format(out, " %s |", str_count(llround(by_team[team]), number));
        }
        if (last) strbuf_format(out, " %.2f |", by_team[1] / by_team[0]);
        strbuf_format(out, " %.0f |", survey->points[s->point[last][i]].megabytes);
    }
    strbuf_add_char(out, '\n');
}

static void write_line(const Survey *survey, int sweep, StrBuf *out) {
    double megabytes[SWEEP_POINTS];
    const Sweep *s = &survey->sweep[sweep];
    if (s->count < 3) return; /* two points are on a line whatever they are */
    memory_of(survey, sweep, survey->teams - 1, megabytes);
    Line line = fit(s->x, megabytes, s->count);
    strbuf_format(out,
                  "\nPeak memory is %.0f MB and %.3g MB for each %s: no point is more than %.1f %% off.\n",
                  line.at_zero, line.slope, FACTS[sweep].each, 100 * line.off);
}

void scaling_report_tables(const Survey *survey, StrBuf *out) {
    const ScalingSize *b = &survey->base;
    char words[32];
    strbuf_format(
        out,
        "Training speed and peak memory of the default model (bidirectional GRU, additive attention, "
        "conditional GRU,\nembeddings of 256), medians (%s, %s). Where a table does not say otherwise: "
        "batches of %d sentences, hidden size %d,\n%s words in each language, %d words in every "
        "sentence. Memory: the process with %s, without validation.\n",
        gemm_kernel(), kern->name, b->batch, b->hidden, str_count(b->vocabulary, words), b->length,
        threads_text(b->threads, (char[32]){0}, 32));
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        write_table(survey, sweep, out);
        if (FACTS[sweep].each) write_line(survey, sweep, out);
    }
}

void scaling_report_json(const Survey *survey, StrBuf *out) {
    strbuf_add(out, SV("{\"measurements\": ["));
    for (int i = 0; i < survey->count; i++) {
        const ScalingPoint *p = &survey->points[i];
        strbuf_format(
            out,
            "%s\n  {\"threads\": %d, \"batch\": %d, \"hidden\": %d, \"vocabulary\": %d, \"length\": "
            "%d, \"updates\": %d, \"tokens_per_second\": ",
            i ? "," : "", p->size.threads, p->size.batch, p->size.hidden, p->size.vocabulary, p->size.length,
            p->updates);
        json_write_number(out, speed(p));
        strbuf_add(out, SV(", \"peak_megabytes\": "));
        json_write_number(out, p->megabytes);
        strbuf_add_char(out, '}');
    }
    strbuf_add(out, SV("\n]}\n"));
}

/* ---- the picture ------------------------------------------------------------------------------------------------------------- */

typedef struct {
    double y[SCALING_TEAMS][SWEEP_POINTS];
    PlotSeries series[SCALING_TEAMS];
    char name[SCALING_TEAMS][64], title[64];
} Panel;

static Plot draw_speed(const Survey *survey, int sweep, Panel *panel) {
    const Sweep *s = &survey->sweep[sweep];
    snprintf(panel->title, sizeof panel->title, "Speed of training against %s", FACTS[sweep].name);
    for (int team = 0; team < survey->teams; team++) {
        for (int i = 0; i < s->count; i++) panel->y[team][i] = speed(&survey->points[s->point[team][i]]);
        threads_text(survey->points[s->point[team][0]].size.threads, panel->name[team],
                     sizeof panel->name[team]);
        panel->series[team] = (PlotSeries){panel->name[team], s->x, panel->y[team], s->count, false};
    }
    return (Plot){.title = panel->title,
                  .x = {.title = FACTS[sweep].axis, .scale = AXIS_LOG2},
                  .left = {.title = "target tokens per second", .scale = AXIS_LOG10},
                  .series = panel->series,
                  .count = survey->teams};
}

/* Points and the straight line through them. */
static Plot draw_memory(const Survey *survey, int sweep, Panel *panel) {
    const Sweep *s = &survey->sweep[sweep];
    memory_of(survey, sweep, survey->teams - 1, panel->y[0]);
    Line line = fit(s->x, panel->y[0], s->count);
    for (int i = 0; i < s->count; i++) panel->y[1][i] = line.at_zero + line.slope * s->x[i];
    snprintf(panel->title, sizeof panel->title, "Peak memory against %s", FACTS[sweep].name);
    snprintf(panel->name[0], sizeof panel->name[0], "measured");
    snprintf(panel->name[1], sizeof panel->name[1], "%.0f MB + %.3g MB for each %s", line.at_zero, line.slope,
             FACTS[sweep].each);
    for (int i = 0; i < 2; i++)
        panel->series[i] = (PlotSeries){panel->name[i], s->x, panel->y[i], s->count, false};
    return (Plot){.title = panel->title,
                  .x = {.title = FACTS[sweep].axis},
                  .left = {.title = "megabytes"},
                  .series = panel->series,
                  .count = 2};
}

void scaling_report_picture(const Survey *survey, StrBuf *out) {
    Panel panels[2 * SWEEPS];
    Plot plots[2 * SWEEPS];
    int count = 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++, count++)
        plots[count] = draw_speed(survey, sweep, &panels[count]);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        if (!FACTS[sweep].each) continue;
        plots[count] = draw_memory(survey, sweep, &panels[count]);
        count++;
    }
    plot_sheet_write_svg(plots, count, 2, out);
}
