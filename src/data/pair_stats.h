/* pair_stats.h - statistics of files of sentence pairs: lengths, scripts, duplicates and suspicious pairs.
 *
 * Reads the pairs twice, as training reads them (pairs.h). Memory grows by 36 to 68 bytes per pair, for the
 * hashes that find duplicates, by 16 per finding, and with the longest sentence.
 *
 *   swapped    both sides look more like the other column, by the counts of character trigrams in both
 *              columns, without the pair itself (language identification as in Cavnar and Trenkle 1994)
 *   mojibake   UTF-8 that was read as Windows-1252, such as "Ã©" for "é"
 *   lengths    the target is more than three times longer or shorter, in characters, than the median ratio
 *              predicts from the source
 * The checks that need one pair alone are in pair_checks.h.
 */
#ifndef DATA_PAIR_STATS_H
#define DATA_PAIR_STATS_H

#include "data/pair_checks.h"
#include "data/pairs.h"

/* How often each value occurred. */
typedef struct {
    long *counts; /* [capacity] */
    size_t capacity;
    long total;
    int greatest;
} Histogram;

/* The smallest value with at least this fraction of the total at or below it; 0 if the histogram is empty. */
int histogram_quantile(const Histogram *histogram, double fraction);

/* The pairs with a finding. */
typedef struct {
    long count;
    PairLocation *locations; /* [count], in the order of the files */
    size_t capacity;
} Finding;

typedef struct {
    long pairs;
    long *file_pairs; /* [files] */
    Histogram words[PAIR_SIDES],
        characters[PAIR_SIDES]; /* per sentence; words of tokenize_words (tokenizer/pretokenize.h) */
    Histogram ratio;            /* target / source characters, in hundredths */
    long *seen[PAIR_SIDES];     /* [code point] its count */
    Finding findings[FINDING_KINDS];
    FindingSet *found_in_pair; /* [pairs] in the order of the files */
    size_t found_in_pair_capacity;
    long valid_pairs, valid_swapped; /* of the validation file */
    StrBuf report;                   /* pair_reader_report */
} PairStats;

/* `files`: an entry for each, as in pairs.h. `valid` may be NULL. On failure there is nothing to release. */
Status pair_stats_read(PairStats *stats, const StrList *files, const char *valid, const DataOptions *options);
void pair_stats_free(PairStats *stats);

typedef struct {
    const char *name; /* "Latin", ..., "other" */
    long letters;
} ScriptCount;

/* Letters of one side by script, most frequent first; returns the number of scripts, at most `most`.
 * *different, *once: distinct characters, and those seen once, without white space. */
int pair_stats_scripts(const PairStats *stats, int side, ScriptCount *scripts, int most, int *different,
                       int *once);
/* The number of no-break spaces and spaces of other widths. Byte-pair encoding treats them as characters of
 * words (unicode.h), unless text.normalize=nfkc turns them into U+0020. */
long pair_stats_other_spaces(const PairStats *stats, int side);

#endif
