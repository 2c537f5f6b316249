/* line_window.h - a window of lines: all lines that can be read without waiting, up to a limit. They come
 * from one file, or from two files line by line.
 *
 * Owner   a zeroed LineWindow is empty; the views are valid until the next line_window_read
 * Fails   as line_reader_next. The lines before the error are in the window then, so that a caller that
 *         finds an error in one of them reports the first error of the file.
 */
#ifndef IO_LINE_WINDOW_H
#define IO_LINE_WINDOW_H

#include "base/arena.h"
#include "io/fileio.h"

enum { LINE_COLUMNS = 2 };

typedef struct {
    int max_lines; /* set by the caller */
    int count;
    StrView *lines[LINE_COLUMNS]; /* [count] of the first and of the second file */
    long first_number;            /* of the window's first line in its file, from 1 */
    Arena *arena;                 /* of the lines, and of what the caller makes of them */
    long repaired;                /* lines with invalid UTF-8 or NUL bytes, over all reads */
    long first_repaired;          /* the number of the first of them */

    size_t capacity[LINE_COLUMNS]; /* private */
} LineWindow;

/* Empties the window, waits for a line, then takes all lines that are there. `second` may be NULL; otherwise
 * the files have equally many lines (line_readers_next). *more is false at the end of the input; the window
 * may have lines even then. */
Status line_window_read(LineWindow *window, LineReader *first, LineReader *second, bool *more);
/* Adds all lines up to the end of the file. The reader limits them (line_reader_open_limited). */
Status line_window_read_all(LineWindow *window, LineReader *reader);
/* Adds a line to the first column. */
void line_window_add(LineWindow *window, StrView line);
/* For lines of another reader: empties the window, adds a line with its number in the file, and tells whether
 * the window has enough. */
void line_window_empty(LineWindow *window);
void line_window_add_numbered(LineWindow *window, StrView line, long number);
bool line_window_is_full(const LineWindow *window);
void line_window_free(LineWindow *window);

#endif
