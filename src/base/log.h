/* log.h - what the program says to people: standard error only.
 *
 * Lines are "attn-mt: message" for warnings and errors, plain text for information. The progress line is
 * rewritten in place on a terminal and not shown elsewhere; any other line first wipes it. Information that
 * is wider than the terminal is broken between words.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"

typedef enum { LOG_QUIET, LOG_WARN, LOG_INFO } LogLevel;

void log_set_level(LogLevel level); /* default LOG_INFO */
/* Warnings and errors begin "attn-mt: ORIGIN: " from now on: which of several processes speaks. */
void log_set_origin(const char *origin);
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The recorded failure of this thread with its hint: shown at every level, unless its text is empty. */
void log_failure(void);

/* Text of others (names of files, metadata of models) must not command a terminal: each byte of a character
 * that utf8_is_control names, but line feed and TAB, becomes '?'. */
void log_sanitize(char *text, size_t length);

bool log_is_terminal(void); /* is stderr one on which a line can be rewritten */
void log_progress(const char *format, ...) __attribute__((format(printf, 1, 2))); /* no newline */
/* Seconds between two signs of life: what ATTN_MT_PROGRESS says or, where it is not set, a quarter on a
 * terminal, where the line is rewritten, and a minute elsewhere, where each is a line of a log. */
double log_progress_interval(void);
void log_progress_end(void); /* wipe the line */

/* May colour be used on this file descriptor: a terminal, NO_COLOR unset or empty, TERM not "dumb". */
bool log_may_colour(int fd);
/* The same, and COLORTERM or TERM says that the terminal has 24-bit colours. */
bool log_true_colour(int fd);
int log_terminal_width(int fd); /* columns, 80 if unknown */

double clock_seconds(void); /* monotonic */

#endif
