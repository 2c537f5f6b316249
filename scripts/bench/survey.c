/* survey.c - rounds over all points. */
#include "bench/survey.h"

#include <math.h>
#include "base/log.h"

static Status measure_round(Sweep *sweeps, int count, double seconds, MeasurePoint point, void *context) {
    for (int s = 0; s < count; s++)
        for (int line = 0; line < sweeps[s].lines; line++)
            for (int i = 0; i < sweeps[s].count; i++)
                TRY(point(context, s, line, (int)sweeps[s].x[i], seconds, &sweeps[s].point[line][i]));
    return STATUS_OK;
}

Status survey_measure(Bench *bench, Sweep *sweeps, int count, MeasurePoint point, void *context) {
    int points = 0, rounds = bench->options.quick ? 1 : bench->options.rounds;
    for (int s = 0; s < count; s++) points += sweeps[s].lines * sweeps[s].count;
    for (int round = 0; round < rounds; round++) {
        log_progress("%d points, round %d of %d", points, round + 1, rounds);
        TRY(measure_round(sweeps, count, bench_seconds(bench, 1, rounds * points), point, context));
    }
    log_progress_end();
    return STATUS_OK;
}

void survey_free(Sweep *sweeps, int count) {
    for (int s = 0; s < count; s++)
        for (int line = 0; line < sweeps[s].lines; line++)
            for (int i = 0; i < sweeps[s].count; i++) sample_free(&sweeps[s].point[line][i].seconds);
}

void survey_values(Sweep *sweep, int line, SurveyValue value, double *y) {
    for (int i = 0; i < sweep->count; i++) {
        Point *p = &sweep->point[line][i];
        double seconds = sample_median(&p->seconds);
        y[i] = value == SURVEY_MEGABYTES ? p->megabytes
               : value == SURVEY_WORK    ? p->work
               : value == SURVEY_RATE    ? 1 / seconds
                                         : 1e3 * seconds;
    }
}

double survey_exponent(Sweep *sweep, int line, SurveyValue value, double from) {
    double y[SURVEY_POINTS], u[SURVEY_POINTS], v[SURVEY_POINTS], weight[SURVEY_POINTS];
    survey_values(sweep, line, value, y);
    for (int i = 0; i < sweep->count; i++) {
        u[i] = log(sweep->x[i]);
        v[i] = log(y[i]);
        weight[i] = sweep->x[i] >= from;
    }
    return measure_line(u, v, weight, sweep->count).slope;
}

Plot survey_plot(Sweep *sweep, SurveyValue value, const char *unit, Panel *panel) {
    for (int line = 0; line < sweep->lines; line++) {
        survey_values(sweep, line, value, panel->y[line]);
        panel->series[line] = (PlotSeries){sweep->line[line], sweep->x, panel->y[line], sweep->count, false};
    }
    return (Plot){.title = panel->title,
                  .x = {.title = sweep->axis, .scale = AXIS_LOG2},
                  .left = {.title = unit, .scale = AXIS_LOG10},
                  .series = panel->series,
                  .count = sweep->lines};
}
