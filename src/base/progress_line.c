/* progress_line.c - progress lines at intervals, with the time left. */
#include "base/progress_line.h"

#include <stdarg.h>
#include <stdio.h>
#include "base/log.h"
#include "base/strview.h"

ProgressLine progress_line_begin(const char *what) {
    double now = clock_seconds();
    return (ProgressLine){.what = what, .begin = now, .last = now};
}

/* Is another line due? If so, *elapsed is the time since the beginning in seconds. */
static bool is_due(ProgressLine *line, double *elapsed) {
    double now = clock_seconds();
    if (!line || line->silent || now - line->last < log_progress_interval()) return false;
    line->last = now;
    *elapsed = now - line->begin;
    return true;
}

static const char *time_left(double elapsed, double fraction, char eta[32]) {
    return fraction > 0 ? str_duration(elapsed * (1 - fraction) / fraction, eta) : "?";
}

void progress_line_fraction(ProgressLine *line, double fraction) {
    double elapsed;
    char eta[32];
    if (!is_due(line, &elapsed)) return;
    progress_line_write("%-8s %3.0f%%  ETA %s", line->what, 100 * fraction,
                        time_left(elapsed, fraction, eta));
}

void progress_line_count(ProgressLine *line, double count, double fraction) {
    double elapsed;
    char left[64] = "", number[32], eta[32];
    if (!is_due(line, &elapsed)) return;
    if (fraction > 0)
        snprintf(left, sizeof left, "  %.0f%%  ETA %s", 100 * fraction, time_left(elapsed, fraction, eta));
    progress_line_write("%s %s%s  %.1f %s/s", str_count((long long)count, number), line->what, left,
                        count / elapsed, line->what);
}

void progress_line_write(const char *format, ...) {
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (log_is_terminal() ? log_progress : log_info)("%s", text);
}
