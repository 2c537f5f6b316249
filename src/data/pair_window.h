/* pair_window.h - given translations that are scored together: as many as are there without waiting, up to a
 * limit.
 *
 * They are pairs of one file with a TAB between source and target, of two files line by line, or candidates
 * of an n-best list in Moses format, whose numbers count the lines of the source from 0.
 *
 * Owner   views are valid until the next pair_window_read; errors are STATUS_DATA with file and line
 */
#ifndef DATA_PAIR_WINDOW_H
#define DATA_PAIR_WINDOW_H

#include "base/arena.h"
#include "base/fileio.h"
#include "data/columns.h"

typedef struct {
    StrView raw; /* the line it came from; of two files SOURCE TAB TARGET, if `filters` */
    StrView source, target;
    long id; /* of an n-best list */
} Pair;

typedef struct {
    /* Set by the caller. */
    int most;
    /* Pairs will be written again: of two files `raw` is SOURCE TAB TARGET; lines of one file that are no
     * pair are passed over and counted. */
    bool filters;
    StrView source_language, target_language; /* of the model; empty: not known */

    Pair *pairs; /* [count] */
    int count;
    bool n_best;
    StrBuf header;                       /* the first line of a file of pairs, if it names two languages */
    Columns columns;                     /* of the model's languages, or as the header has them */
    long repaired, first_repaired;       /* lines that are no text, over all reads */
    long passed_over, first_passed_over; /* lines that are no pair */

    LineReader *reader, *targets; /* the rest is for pair_window.c; targets: the second of two files */
    double bytes;                 /* of the file that `reader` reads; not positive: not known */
    Arena *arena;                 /* of the pairs' text */
    Arena *source_arena;          /* of an n-best list: the sentences that it numbers */
    StrView *sources;
    long source_count;
    size_t source_capacity;
} PairWindow;

/* "-" is standard input. */
Status pair_window_open(PairWindow *window, const char *pairs);
Status pair_window_open_two(PairWindow *window, const char *source, const char *target);
Status pair_window_open_n_best(PairWindow *window, const char *source, const char *list);
/* Wait for a pair, then take all that can be had; *more is false behind the last. */
Status pair_window_read(PairWindow *window, bool *more);
/* How much of the file is read, 0 to 1; 0 where its size is not known. */
double pair_window_share(const PairWindow *window);
void pair_window_free(PairWindow *window);

/* The text up to the next "|||" of a line of an n-best list, which is cut off. */
StrView n_best_next_field(StrView *rest);

#endif
