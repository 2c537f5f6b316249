/* progress_line.h - the progress of a long command.
 *
 * A line is written once every log_progress_interval() seconds. On a terminal it replaces the last one;
 * elsewhere it is a new line.
 */
#ifndef BASE_PROGRESS_LINE_H
#define BASE_PROGRESS_LINE_H

#include <stdbool.h>

typedef struct {
    const char *what; /* the work, "reading", or the unit of the count, "lines" */
    bool silent;
    double begin, last; /* clock_seconds() of the beginning and of the last line */
} ProgressLine;

ProgressLine progress_line_begin(const char *what);
/* "reading   45%  ETA 3s"; `fraction` is 0..1. A NULL `line` writes nothing. */
void progress_line_fraction(ProgressLine *line, double fraction);
/* "1,200 lines  45%  ETA 3s  310.2 lines/s"; a fraction of 0 is unknown: the line has neither per cent nor
 * ETA. */
void progress_line_count(ProgressLine *line, double count, double fraction);
/* Writes a line of the caller at once. */
void progress_line_write(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
