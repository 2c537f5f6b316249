/* log.h - messages to people, on standard error only.
 *
 * Warnings and errors are lines "attn-mt: message"; information is plain text. The progress line is rewritten
 * in place on a terminal, and not written elsewhere; any other line first wipes it. Information that is wider
 * than the terminal is wrapped between words.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"

typedef enum { LOG_QUIET, LOG_WARN, LOG_INFO } LogLevel;

void log_set_level(LogLevel level); /* default LOG_INFO */
/* Is this thread silent from now on? Returns what it was. Only log_failure still writes. */
bool log_set_silent(bool silent);
/* From now on warnings and errors begin with "attn-mt: ORIGIN: ": the process, if there are several. */
void log_set_origin(const char *origin);
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes this thread's recorded failure (status.h) and its hint, at every level, unless the text is empty. */
void log_failure(void);

/* For text from outside (names of files, metadata of models), which must not control a terminal. Each byte of
 * a character for which utf8_is_control is true becomes '?', except line feed and TAB. */
void log_sanitize(char *text, size_t length);

bool log_is_terminal(void); /* is stderr a terminal on which a line can be rewritten? */
void log_progress(const char *format, ...) __attribute__((format(printf, 1, 2))); /* no newline */
/* Seconds between two progress lines: the environment variable ATTN_MT_PROGRESS. If it is not set: a quarter
 * of a second on a terminal, where the line is rewritten, and a minute elsewhere, where each is a new
 * line. */
double log_progress_interval(void);
void log_progress_end(void); /* wipes the progress line */

/* May colour be used on this file descriptor? It is a terminal, NO_COLOR unset or empty, TERM not "dumb". */
bool log_may_colour(int fd);
/* log_may_colour, and COLORTERM or TERM names a terminal with 24-bit colours. */
bool log_true_colour(int fd);
int log_terminal_width(int fd); /* columns, 80 if unknown */

double clock_seconds(void); /* monotonic */

#endif
