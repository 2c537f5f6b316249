/* progress_line.h - how far a long command has come.
 *
 * A line is written once every log_progress_interval(). On a terminal it replaces the one before. Elsewhere
 * it is one more line of a log.
 */
#ifndef BASE_PROGRESS_LINE_H
#define BASE_PROGRESS_LINE_H

#include <stdbool.h>

typedef struct {
    const char *what; /* the work, "reading", or the things that are counted, "lines" */
    bool silent;
    double began, shown; /* clock_seconds() */
} ProgressLine;

ProgressLine progress_line_begin(const char *what);
/* "reading   45%  ETA 3s"; `share` is 0..1. A NULL `line` writes nothing. */
void progress_line_share(ProgressLine *line, double share);
/* "1,200 lines  45%  ETA 3s  310.2 lines/s"; with a share of 0, which is unknown, neither share nor ETA. */
void progress_line_count(ProgressLine *line, double count, double share);
/* A line in the caller's own words, now. */
void progress_line_write(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
