/* input_lines.h - input lines that are translated together, with the constraints of each line, from its JSON
 * or from the options of `attn-mt translate`.
 *
 * Owner   a zeroed InputLines is empty; views are valid until the next input_lines_read
 * Fails   STATUS_USAGE, STATUS_RUNTIME if a file cannot be read, STATUS_DATA for the contents of the prefix
 *         file
 */
#ifndef TRANSLATE_INPUT_LINES_H
#define TRANSLATE_INPUT_LINES_H

#include "io/line_window.h"
#include "translate/translator.h"

typedef struct {
    /* Set by the caller. */
    bool json;  /* lines are JSON objects: "text", and perhaps "prefix" and "constraints" */
    bool split; /* lines are paragraphs: constraints of a line with several sentences are an error */
    bool tags;  /* lines contain markup, which is removed from prefixes */
    bool quiet; /* no warnings */

    LineWindow window; /* the lines as they were read; the caller sets max_lines */
    int count;
    StrView *texts;               /* [count] to translate */
    LineConstraints *constraints; /* [count] */
    const char **errors;          /* [count] the error in a line of JSON, or NULL */
    bool constrained;             /* does any line have constraints? */
    long rejected;                /* lines with an error, over all reads */

    /* Private. */
    const char *prefix;   /* of all lines, or NULL */
    LineReader *prefixes; /* a prefix for each line, or NULL */
} InputLines;

/* The prefix of all lines, or the file with a prefix for each; both may be NULL. A line of JSON that has its
 * own prefix keeps it. */
Status input_lines_set_prefix(InputLines *lines, const char *prefix, const char *prefix_file);
/* Waits for a line, then takes all lines that are there (io/line_window.h). */
Status input_lines_read(InputLines *lines, LineReader *reader, bool *more);
/* After the last line: STATUS_DATA if there are more prefixes than lines. */
Status input_lines_end(InputLines *lines);
void input_lines_free(InputLines *lines);

#endif
