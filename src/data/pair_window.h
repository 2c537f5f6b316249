/* pair_window.h - windows of sentence pairs to score: as many as can be read without waiting, up to a limit.
 *
 * The input is a file of pairs in any format (formats/table.h), two files line by line, or an n-best list in
 * Moses format, whose numbers are lines of the source, from 0.
 *
 * Owner   views are valid until the next pair_window_read; errors are STATUS_DATA with file and line
 */
#ifndef DATA_PAIR_WINDOW_H
#define DATA_PAIR_WINDOW_H

#include "io/line_window.h"
#include "data/columns.h"
#include "formats/table.h"

typedef struct {
    StrView raw; /* the line of the table; with two files SOURCE TAB TARGET, if `filters` */
    StrView source, target;
    long id; /* line of the source, for n-best lists */
} Pair;

typedef struct {
    /* Set by the caller. */
    int max_pairs; /* of a window */
    /* The caller writes pairs again: `raw` is set for two files, too, and lines without a TAB are skipped and
     * counted. */
    bool filters;
    StrView source_language, target_language; /* of the model; empty: unknown */

    Pair *pairs; /* [count] */
    int count;
    bool n_best;
    /* The first line of a file of pairs if it is a header. If the lines have escapes, it says so; with
     * `filters` there is one then, even if the file has none. */
    StrBuf header;
    Columns columns;             /* of the model's languages, or as the header has them */
    LineWindow lines;            /* counts lines that are not text, those of `sources` included */
    long skipped, first_skipped; /* lines without a TAB */

    TableReader *table; /* a file of pairs; the rest is for pair_window.c */
    long rows;          /* lines of the table so far */
    long *numbers;      /* [lines.count] of the window's lines in the file of the table */
    size_t number_capacity;
    LineReader *reader, *targets; /* two files, or an n-best list */
    double bytes;                 /* size of the file; unknown if not positive */
    LineWindow sources;           /* all source lines of an n-best list */
} PairWindow;

/* "-" is standard input. */
Status pair_window_open(PairWindow *window, const char *pairs);
Status pair_window_open_two(PairWindow *window, const char *source, const char *target);
Status pair_window_open_n_best(PairWindow *window, const char *source, const char *list);
/* Waits for a pair, then reads all pairs that are available. *more is false after the last pair. */
Status pair_window_read(PairWindow *window, bool *more);
const char *pair_window_path(const PairWindow *window); /* of the pairs, for messages */
/* The fraction of the file that is read, 0 to 1; 0 if its size is unknown. */
double pair_window_fraction(const PairWindow *window);
void pair_window_free(PairWindow *window);

/* Cuts the text up to the next "|||" off a line of an n-best list. */
StrView n_best_next_field(StrView *rest);

#endif
