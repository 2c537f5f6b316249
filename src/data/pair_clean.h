/* pair_clean.h - writes the pairs of files without those with certain findings, in up to PAIR_PARTS parts
 * without a source in common.
 *
 * Files are tables with the names of the languages in the first line, and with escapes (formats/escapes.h) if
 * the texts can have line ends; a name that ends in ".gz" is compressed. The pairs keep their order. What is
 * dropped goes to a table of its own, which has the columns of the languages, "reason" (names of findings, or
 * of the problems empty_side, no_tab and too_big, separated by commas), "line" and, if several files are
 * read, "file". All files appear together, at the end.
 *
 * Parts     A part gets the pairs with the smallest hashes of their sources, without case and with single
 *           spaces; so all pairs of a source are in one part. Which sources these are does not depend on the
 *           order of the pairs, and a part can be split again. The hash has another salt than that of
 *           data.held_out. The size is the one asked for, or differs because a source has several pairs;
 *           less than half is an error.
 * Memory    16 bytes per pair with parts
 * Fails     STATUS_DATA if no pair is left or if parts are too large; STATUS_RUNTIME if a file cannot be
 *           written
 */
#ifndef DATA_PAIR_CLEAN_H
#define DATA_PAIR_CLEAN_H

#include "data/pair_issues.h"
#include "data/pair_stats.h"

enum { PAIR_PARTS = 8 };

typedef struct {
    FindingSet drop;
    const char *output, *dropped; /* files */
    StrList parts;                /* files, at most PAIR_PARTS */
    long sizes[PAIR_PARTS];       /* pairs */
} PairCleanOptions;

typedef struct {
    long kept, dropped, part[PAIR_PARTS];
    long reasons[FINDING_KINDS];     /* dropped pairs with this finding; one can have several */
    long unusable[PAIR_ISSUE_KINDS]; /* dropped, because training does not use them either */
} PairCleanCounts;

/* `stats`: of pair_stats_read for the same files and options. */
Status pair_clean(const PairStats *stats, const StrList *files, const DataOptions *data,
                  const PairCleanOptions *options, PairCleanCounts *counts);

#endif
