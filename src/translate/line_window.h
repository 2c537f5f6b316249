/* line_window.h - input lines that are translated together: all lines that can be read without waiting, up
 * to a limit; with the constraints of each line, from its JSON or from the options of `attn-mt translate`.
 *
 * Owner   a zeroed LineWindow is empty; views are valid until the next line_window_read
 * Fails   STATUS_USAGE, STATUS_RUNTIME if a file cannot be read, STATUS_DATA for the contents of the prefix
 *         file
 */
#ifndef TRANSLATE_LINE_WINDOW_H
#define TRANSLATE_LINE_WINDOW_H

#include "base/arena.h"
#include "io/fileio.h"
#include "translate/translator.h"

typedef struct {
    /* Set by the caller. */
    int most_lines; /* 1: one line at a time */
    bool json;      /* lines are JSON objects: "text", and perhaps "prefix" and "constraints" */
    bool split;     /* lines are paragraphs: constraints of a line with several sentences are an error */
    bool tags;      /* lines contain markup, which is removed from prefixes */
    bool quiet;     /* no warnings */

    int count;
    StrView *lines;               /* [count] text to translate */
    StrView *raw;                 /* [count] lines as they were read */
    LineConstraints *constraints; /* [count] */
    const char **errors;          /* [count] the error in a line of JSON, or NULL */
    bool constrained;             /* does any line have constraints? */

    long repaired, first_repaired; /* lines with invalid UTF-8 or NUL bytes, over all reads */
    long rejected;                 /* lines with an error, over all reads */

    /* Private. */
    size_t lines_capacity, raw_capacity, errors_capacity, ends_capacity, constraints_capacity;
    Arena *arena; /* of the constraints */
    struct WindowEnds *ends;
    StrBuf raw_bytes, text_bytes, error_bytes;
    const char *prefix;   /* of all lines, or NULL */
    LineReader *prefixes; /* a prefix for each line, or NULL */
} LineWindow;

/* The prefix of all lines, or the file with a prefix for each; both may be NULL. A line of JSON that has its
 * own prefix keeps it. */
Status line_window_set_prefix(LineWindow *window, const char *prefix, const char *prefix_file);
/* Waits for a line, then takes all lines that are there. *more is false at the end of the input; the window
 * may have lines even then. */
Status line_window_read(LineWindow *window, LineReader *reader, bool *more);
/* After the last line: STATUS_DATA if there are more prefixes than lines. */
Status line_window_end(LineWindow *window);
void line_window_free(LineWindow *window);

#endif
