/* line_window.h - input lines that are translated together: as many as are there without waiting, up to a
 * limit.
 *
 * Owner   views are valid until the next line_window_read
 */
#ifndef TRANSLATE_LINE_WINDOW_H
#define TRANSLATE_LINE_WINDOW_H

#include "base/arena.h"
#include "base/fileio.h"
#include "translate/translator.h"

typedef struct {
    /* Set by the caller. */
    int most_lines; /* 1: one line at a time */
    bool json;      /* lines are JSON objects: "text", and what is asked for by "prefix" and "constraints" */
    bool split; /* texts are paragraphs: words that only one of several sentences could have are refused */
    bool tags;  /* there is markup in them */
    bool quiet; /* no warnings */

    int count;
    StrView *lines;               /* [count] text to translate */
    StrView *raw;                 /* [count] lines as they were read */
    LineConstraints *constraints; /* [count] what lines of JSON ask for */
    const char **errors;          /* [count] what is wrong with a line of JSON, or NULL */
    bool constrained;             /* some line of JSON asks for something */

    long repaired, first_repaired; /* lines with invalid UTF-8 or NUL bytes, over all reads */
    long unreadable;               /* lines that are no JSON, or ask for what cannot be done */

    size_t lines_capacity, raw_capacity, errors_capacity, ends_capacity; /* the rest is for line_window.c */
    size_t constraints_capacity;
    Arena *arena; /* of the guides */
    struct WindowEnds *ends;
    StrBuf raw_bytes, text_bytes, error_bytes;
} LineWindow;

/* Wait for a line, then take all that can be had. *more is false at the end of the input; there may be lines
 * even then. */
Status line_window_read(LineWindow *window, LineReader *reader, bool *more);
void line_window_free(LineWindow *window);

#endif
