/* pair_stats.h - what a file of sentence pairs holds: how much, how long, in which scripts, and which pairs
 * look wrong.
 *
 * Pairs are read as training reads them (pairs.h), twice. Memory grows by 32 to 64 bytes a pair, for the
 * hashes that tell repeated ones, and with the longest sentence.
 *
 *   swapped    both sides read more like the other column: trigrams of characters of both columns are
 *              counted, and the pair left out of them. Cavnar and Trenkle 1994 tell languages apart like this
 *   mojibake   UTF-8 that was once taken for Windows-1252, such as "Ã©" for "é"
 *   lengths    more than three times as long or as short, in characters, as the median ratio lets expect
 */
#ifndef DATA_PAIR_STATS_H
#define DATA_PAIR_STATS_H

#include "data/pairs.h"

enum { SIDE_SOURCE, SIDE_TARGET, SIDE_COUNT, FIRST_LINES = 5 };

/* How often each value occurred. */
typedef struct {
    long *counts; /* [capacity] */
    size_t capacity;
    long total;
    int greatest;
} Histogram;

/* The smallest value that a share of all reaches; 0 if there is none. */
int histogram_quantile(const Histogram *histogram, double share);

/* Pairs that something holds for, with the lines of the first few. */
typedef struct {
    long count, lines[FIRST_LINES];
} Finding;

typedef enum {
    FOUND_REPEATED,          /* the pair stands there before */
    FOUND_OTHER_TRANSLATION, /* the source does, with another target */
    FOUND_IN_VALID,          /* the pair is in the validation file */
    FOUND_SOURCE_IN_VALID,   /* only its source is */
    FOUND_SAME_TEXT,         /* on both sides */
    FOUND_SWAPPED,
    FOUND_MOJIBAKE,
    FOUND_LENGTHS,
    FINDINGS
} FindingKind;

typedef struct {
    long pairs;
    Histogram words[SIDE_COUNT],
        characters[SIDE_COUNT]; /* of a sentence; words as the textbook's tokenizer has them */
    Histogram ratio;            /* target / source characters, in hundredths */
    long *seen[SIDE_COUNT];     /* [code point] how often */
    Finding findings[FINDINGS];
    long valid_pairs, valid_swapped; /* of the validation file */
    StrBuf report;                   /* what was dropped or repaired (pair_reader_report) */
} PairStats;

/* `valid` may be NULL. On failure there is nothing to release. */
Status pair_stats_read(PairStats *stats, const char *file, const char *valid, const DataOptions *options);
void pair_stats_free(PairStats *stats);

typedef struct {
    const char *name; /* "Latin", ..., "other" */
    long letters;
} ScriptCount;

/* Letters of one side by script, most frequent first; returns how many, at most `most`. *different, *once: of
 * all characters but white space. */
int pair_stats_scripts(const PairStats *stats, int side, ScriptCount *scripts, int most, int *different,
                       int *once);
/* No-break spaces and those of other widths: byte-pair encoding takes them for characters of words
 * (unicode.h), unless text.normalize=nfkc makes them U+0020. */
long pair_stats_other_spaces(const PairStats *stats, int side);

#endif
