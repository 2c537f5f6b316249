/* survey.h - time and memory against a number that grows, a line for each of several things.
 *
 * All points are measured several times over, so that a minute in which the machine was busy does not hit
 * one of them alone.
 */
#ifndef BENCH_SURVEY_H
#define BENCH_SURVEY_H

#include "bench/bench.h"

enum { SURVEY_LINES = 8, SURVEY_POINTS = 8 };

typedef struct {
    Sample seconds;
    double megabytes;
    double work; /* operations that it cannot do without, if somebody counts them */
} Point;

typedef struct {
    const char *axis; /* what grows */
    int count, lines;
    double x[SURVEY_POINTS];
    const char *line[SURVEY_LINES]; /* names */
    Point point[SURVEY_LINES][SURVEY_POINTS];
} Sweep;

/* Adds to the point's sample, and gives its memory. `context` is that of survey_measure. */
typedef Status (*MeasurePoint)(void *context, int sweep, int line, int x, double seconds, Point *point);

/* In the time that the options give. */
Status survey_measure(Bench *bench, Sweep *sweeps, int count, MeasurePoint point, void *context);
void survey_free(Sweep *sweeps, int count);

typedef enum {
    SURVEY_MILLISECONDS,
    SURVEY_RATE /* 1 / seconds */,
    SURVEY_MEGABYTES,
    SURVEY_WORK
} SurveyValue;
/* One line of a sweep; y has SURVEY_POINTS. */
void survey_values(Sweep *sweep, int line, SurveyValue value, double *y);
/* As which power of x it grows, from that x on: the slope of log y over log x. */
double survey_exponent(Sweep *sweep, int line, SurveyValue value, double from);

/* A sweep on logarithmic scales; the panel holds what the plot refers to. */
typedef struct {
    double y[SURVEY_LINES][SURVEY_POINTS];
    PlotSeries series[SURVEY_LINES];
    char title[96], name[64];
} Panel;
Plot survey_plot(Sweep *sweep, SurveyValue value, const char *unit, Panel *panel);

#endif
