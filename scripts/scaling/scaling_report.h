/* scaling_report.h - all sizes that are measured, and how they are shown. */
#ifndef SCALING_SCALING_REPORT_H
#define SCALING_SCALING_REPORT_H

#include "base/strview.h"
#include "scaling_point.h"

typedef struct {
    ScalingSize size;
    double *seconds; /* of each update of all rounds */
    int updates;
    double megabytes; /* most of all rounds */
} ScalingPoint;

enum { SWEEP_HIDDEN, SWEEP_BATCH, SWEEP_VOCABULARY, SWEEP_LENGTH, SWEEPS };
enum { SWEEP_POINTS = 8, SCALING_TEAMS = 2 /* one thread, and as many as asked for */ };

/* One number varies, the others are those of the base; with each number of threads. */
typedef struct {
    int count;
    double x[SWEEP_POINTS];
    int point[SCALING_TEAMS][SWEEP_POINTS]; /* numbers of points */
} Sweep;

typedef struct {
    ScalingSize base; /* with the number of threads of the larger team */
    int teams;        /* 1 if the base has one thread */
    Sweep sweep[SWEEPS];
    ScalingPoint *points;
    int count;
} Survey;

void scaling_report_tables(const Survey *survey, StrBuf *out);  /* Markdown */
void scaling_report_json(const Survey *survey, StrBuf *out);    /* all numbers */
void scaling_report_picture(const Survey *survey, StrBuf *out); /* SVG */

#endif
