/* pairs.h - sentence pairs from files, with a stated policy for everything that can be wrong with them.
 *
 * An entry of a file list is a TSV file, plain or gzip, whose columns are named by `columns` ("en,fr":
 * further ones are ignored), or a pattern with {} for the language ("train.{}": train.en and train.fr).
 *   dropped    pairs with an empty side (blank: base/unicode.h) or one over PAIR_MAX_BYTES, lines with no TAB
 *   repaired   invalid UTF-8 and NUL (U+FFFD), CRLF, byte-order mark; NBSP and narrow NBSP are kept
 *   left out   a first line of a TSV file that names the two languages (columns.h)
 *   fatal      a missing file, two files with different line counts (both numbers named), a first line that
 *              names the two languages elsewhere, no usable pair, a file with lines but none that has both
 *              columns, invalid UTF-8 in more than a tenth of all pairs, a first or second line that looks
 *              as if ids stand where the source is read
 *   told       fields in the quotes of a spreadsheet, which are kept
 * Everything dropped, repaired or told, and every empty file, is counted, with the first few line numbers.
 *
 * Fails   STATUS_USAGE for lists and columns that make no sense, STATUS_RUNTIME for files that cannot be
 *         read, STATUS_DATA for what is in them
 */
#ifndef DATA_PAIRS_H
#define DATA_PAIRS_H

#include "base/fileio.h"
#include "base/options.h"
#include "base/status.h"
#include "base/strview.h"

enum { PAIR_MAX_BYTES = 1 << 20 };

typedef struct {
    StrList train, valid;  /* file lists */
    char *source, *target; /* language names, e.g. "en" and "fr" */
    char *columns;         /* names of the TSV columns in order, e.g. "en,fr"; NULL: source, target */
    int max_length;        /* tokens a side; longer training pairs are left out; 0 = no limit */
    double max_ratio;      /* longer side / shorter side in tokens; 0 = no limit */
    double held_out;       /* share of the training pairs that validates if `valid` is empty */
    int limit;             /* use only the first N training pairs, some of which may be held out, and read no
                              further; 0 = all */
} DataOptions;

/* Whether a pair is held out for validation depends on its source alone, so that no source is in both. */
typedef enum { PAIRS_ALL, PAIRS_NOT_HELD_OUT, PAIRS_HELD_OUT } PairSplit;

typedef struct PairReader PairReader;

Status pair_reader_open(PairReader **reader, const StrList *entries, const DataOptions *options);
/* Report other encodings and ids instead of refusing them: for who wants to see what is there. */
void pair_reader_allow_other_encodings(PairReader *reader);
/* From now on, no further than `limit` pairs of all parts; 0 = to the end. Without this call: all pairs. */
void pair_reader_set_range(PairReader *reader, PairSplit part, int limit);
/* The next usable pair, valid UTF-8 without NUL; views are valid until the next call. */
Status pair_reader_next(PairReader *reader, StrView *source, StrView *target, bool *more);
void pair_reader_rewind(PairReader *reader);        /* counts start again */
long pair_reader_count(const PairReader *reader);   /* usable pairs so far */
long pair_reader_line(const PairReader *reader);    /* of the pair just read, in its file */
double pair_reader_share(const PairReader *reader); /* of all bytes, or of the limit, so much is read */
/* One line per kind of trouble: "dropped 2 pairs with an empty side (train.tsv: lines 7, 19)". */
void pair_reader_report(const PairReader *reader, StrBuf *out);
void pair_reader_close(PairReader *reader);

/* The next line of each of two files. STATUS_DATA, with both numbers of lines, if one file ends before the
 * other. */
Status pair_lines_next(LineReader *sources, LineReader *targets, StrView *source, StrView *target,
                       bool *more);
/* "source TAB target", appended; a TAB in a text would begin another column, and becomes a space. */
void pair_join(StrBuf *line, StrView source, StrView target);

#endif
