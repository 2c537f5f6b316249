/* bench_report.h - what was measured: kept for JSON, shown as tables, a section at a time.
 *
 * A result has a section, an item (a row of the section's table) and a metric (a column). Of several runs the median is the value, and
 * the least and greatest tell how much to believe it.
 */
#ifndef BENCH_BENCH_REPORT_H
#define BENCH_BENCH_REPORT_H

#include "base/status.h"
#include "base/strview.h"

/* What a change of the number means. */
typedef enum { MORE_IS_BETTER, LESS_IS_BETTER, NOT_JUDGED } Better;

enum { SAMPLE_MOST = 64 };

typedef struct {
    double values[SAMPLE_MOST];
    int count;
} Sample;

void sample_add(Sample *sample, double value); /* beyond SAMPLE_MOST: forgotten */

typedef struct {
    char *section, *item, *metric, *unit;
    double median, low, high;
    int runs;
    Better better;
} Result;

typedef struct {
    Result *items;
    int count;
    size_t capacity;
    int shown; /* those before it have been printed */
} BenchReport;

/* `sample` is sorted. Results of one section are added one after the other. */
void bench_report_add(BenchReport *report, const char *section, const char *item, const char *metric,
                      const char *unit, Better better, Sample *sample);
/* A number that was measured, or counted, once. */
void bench_report_add_one(BenchReport *report, const char *section, const char *item, const char *metric,
                          const char *unit, Better better, double value);
/* Print what was added since the last call as a table with `title` and `note` (or NULL) above it. */
Status bench_report_show(BenchReport *report, const char *title, const char *note);
/* `facts`: members of a JSON object about machine and program. One result a line. */
void bench_report_write_json(const BenchReport *report, StrView facts, StrBuf *out);
void bench_report_free(BenchReport *report);

#endif
