/* pairs.h - sentence pairs from files, with a policy for every problem that they can have.
 *
 * An entry of a file list is a file of any format (formats/table.h), plain or gzip, or a pattern with {}
 * for the language ("train.{}": train.en and train.fr). `columns` names the columns of tables ("en,fr"),
 * unless the first line of a file names them; further columns are ignored.
 *   dropped    pairs with an empty side (blank: base/unicode.h) or one over PAIR_MAX_BYTES, lines with no
 *              TAB; units that are fuzzy or have no text in both languages
 *   repaired   invalid UTF-8 and NUL (U+FFFD), CRLF, byte-order mark; NBSP and narrow NBSP are kept
 *   left out   a header of the two languages in a table (columns.h)
 *   fatal      a missing file; two files with different line counts (the message has both); no usable pair; a
 *              file of whose lines most lack the columns, or of a kind that is not read; invalid UTF-8 in
 *              more than a tenth of all pairs; a column of ids as the source
 *   reported   fields in the quotes of a spreadsheet, which are kept if other lines show that it wrote none
 * All of these, and empty files, are counted (pair_issues.h). corpus.h applies the limits of length and
 * ratio.
 *
 * Fails   STATUS_USAGE for invalid lists and columns, STATUS_RUNTIME for unreadable files, STATUS_DATA for
 *         invalid content
 */
#ifndef DATA_PAIRS_H
#define DATA_PAIRS_H

#include "io/fileio.h"
#include "io/options.h"
#include "base/status.h"
#include "base/strview.h"
#include "data/pair_issues.h"

enum { PAIR_MAX_BYTES = 1 << 20 };
enum { PAIR_SOURCE, PAIR_TARGET, PAIR_SIDES };

typedef struct {
    StrList train, valid, general; /* file lists */
    char *source, *target;         /* language names, e.g. "en" and "fr" */
    char *columns;                 /* names of the TSV columns in order, e.g. "en,fr"; NULL: source, target */
    int max_length;                /* tokens per side; longer training pairs are left out; 0 = no limit */
    double max_ratio;              /* longer side / shorter side in tokens; 0 = no limit */
    double held_out;   /* fraction of the training pairs used for validation if `valid` is empty */
    bool placeholders; /* models learn to carry them as reserved tokens (tokenizer/reserved_tokens.h) */
    int limit;         /* read only the first N training pairs, including those held out; 0 = all */
} DataOptions;

/* A hash of the source decides whether a pair is held out for validation, so that no source is in both
 * splits. */
typedef enum { PAIRS_ALL, PAIRS_NOT_HELD_OUT, PAIRS_HELD_OUT } PairSplit;

typedef struct PairReader PairReader;

Status pair_reader_open(PairReader **reader, const StrList *entries, const DataOptions *options);
/* Other encodings and columns of ids become part of the report instead of an error: for `inspect`. */
void pair_reader_allow_other_encodings(PairReader *reader);
/* Called for each line with an empty side, without the columns or with a text that is too large. A line
 * without the columns is a source. Units without a pair are not among them: the report has their number. */
typedef void (*PairDropHandler)(void *context, PairIssueKind kind, StrView source, StrView target);
void pair_reader_on_drop(PairReader *reader, PairDropHandler dropped, void *context);
/* Restricts pair_reader_next to a split of the first `limit` usable pairs (0 = all). Default: all pairs. */
void pair_reader_set_range(PairReader *reader, PairSplit split, int limit);
/* The next usable pair, valid UTF-8 without NUL. Texts of tables with escapes and of other formats may have
 * line ends and TABs. Views are valid until the next call. */
Status pair_reader_next(PairReader *reader, StrView *source, StrView *target, bool *more);
void pair_reader_rewind(PairReader *reader); /* resets all counts */
/* Can the texts have line ends and TABs? Looks at the first lines of all files. */
bool pair_reader_has_escapes(const PairReader *reader);
long pair_reader_count(const PairReader *reader);            /* usable pairs of the split so far */
PairLocation pair_reader_location(const PairReader *reader); /* of the last pair */
/* Progress, 0 to 1: the fraction of the bytes or of the limit. */
double pair_reader_fraction(const PairReader *reader);
/* One line per kind of issue: "dropped 2 pairs with an empty side (train.tsv: lines 7, 19)". */
void pair_reader_report(const PairReader *reader, StrBuf *out);
void pair_reader_close(PairReader *reader);

/* The name of the file that a pattern with {} stands for; other names as they are. The caller frees it. */
char *pair_pattern_fill(const char *pattern, const char *language);
/* A hash of the source, without the spaces around it. Splits with different salts are independent. */
uint64_t pair_source_hash(StrView source, uint64_t salt);

/* "source TAB target", appended; TABs in the texts become spaces. */
void pair_join(StrBuf *line, StrView source, StrView target);
/* The same with escapes (formats/escapes.h). */
void pair_join_escaped(StrBuf *line, StrView source, StrView target);

#endif
