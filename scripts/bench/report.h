/* report.h - results: printed as Markdown tables, one per section, and written as JSON.
 *
 * A result has a section, an item (a row of the section's table) and a metric (a column). Of several runs
 * the median is the value, and the least and greatest tell how much to believe it.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "io/fileio.h"
#include "bench/measure.h"

/* The direction of an improvement. */
typedef enum { MORE_IS_BETTER, LESS_IS_BETTER, NOT_JUDGED } Better;

typedef struct {
    const char *section; /* not copied */
    char item[96], metric[48], unit[24];
    char text[48]; /* instead of a number, if `runs` is 0 */
    double median, low, high;
    int runs;
    Better better;
} Result;

typedef struct {
    const char *section; /* section of the next results; not copied */
    Result *items;
    int count;
    size_t capacity;
    int shown; /* the number of printed results */
} Report;

/* Seconds as a rate, amount / seconds, if more is better, and as a time, amount * seconds, if less is. */
void report_seconds(Report *report, const char *item, const char *metric, const char *unit, Better better,
                    double amount, const Sample *seconds);
/* A single measurement or a count. */
void report_value(Report *report, const char *item, const char *metric, const char *unit, Better better,
                  double value);
void report_text(Report *report, const char *item, const char *metric, const char *text);
/* Prints the results since the last call as a table, with `title` and `note` (or NULL) above it. */
Status report_show(Report *report, const char *title, const char *note);
/* `facts`: members of a JSON object about machine and program. One result a line. */
void report_write_json(const Report *report, StrView facts, StrBuf *out);
void report_free(Report *report);

/* Write the text and commit the file, which is closed in any case. */
Status report_finish(OutFile *file, StrView text);
/* A file with this text; "-" is standard output. */
Status report_write(const char *path, StrView text);

#endif
