/* survey.h - what was measured of each layer at each size, and how it is shown. */
#ifndef ENCODERS_SURVEY_H
#define ENCODERS_SURVEY_H

#include "base/strview.h"
#include "layer_kinds.h"

enum {
    SURVEY_POINTS = 12,
    SURVEY_FIT_FROM = 128
}; /* exponents are those of the range from here up, in n and in d */

/* One layer with one size. */
typedef struct {
    LayerKind kind;
    int n, d;
    double seconds; /* median of the runs */
    size_t bytes;
    int runs;
    double *samples; /* seconds of each run */
} Measurement;

/* One layer with growing n or d. */
typedef struct {
    int count;
    double x[SURVEY_POINTS], milliseconds[SURVEY_POINTS], megabytes[SURVEY_POINTS];
} Series;

typedef struct {
    int width, length; /* d while n varies, n while d varies */
    int lengths, widths, count;
    Measurement *points; /* [LAYER_KINDS][lengths], then [LAYER_KINDS][widths] */
    Series by_length[LAYER_KINDS], by_width[LAYER_KINDS];
} Survey;

void survey_collect(Survey *survey);                         /* the series from the points */
void survey_write_tables(const Survey *survey, StrBuf *out); /* Markdown */
void survey_write_json(const Survey *survey, StrBuf *out);
void survey_write_picture(const Survey *survey, StrBuf *out); /* SVG: time and memory against n */

#endif
