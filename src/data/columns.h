/* columns.h - which column of a table of sentence pairs holds which language.
 *
 * A table is a text file with fields between TABs. Its columns are chosen, in this order, by
 *   data.columns   names of the columns, "-,en,fr", where "-" and "" are columns without a language
 *   first line     a header that names the languages (text/languages.h): those of --languages, those of a
 *                  model, or any two
 *   --languages    the first two columns, in the order of the option
 *   the model      the first two columns, in the direction of the model
 *   nothing        the first two columns, named "source" and "target"
 * Training, `inspect` and `score` choose with the functions below. In the reader of pairs (pairs.h) the first
 * line of each file comes before the choice if it names both languages.
 *
 * Owner   names are views into the arguments, or constants
 */
#ifndef DATA_COLUMNS_H
#define DATA_COLUMNS_H

#include "base/status.h"
#include "base/strview.h"

typedef enum {
    COLUMNS_DEFAULT,
    COLUMNS_MODEL,
    COLUMNS_LANGUAGES,
    COLUMNS_HEADER,
    COLUMNS_NAMES
} ColumnsReason;

typedef struct {
    int source, target; /* columns, from 0 */
    int count;          /* columns that have a name, if only "-"; lines may have more */
    StrView source_name, target_name;
    ColumnsReason reason;
} Columns;

/* ---- choosing ---- */

/* All that is known about a table; zeroed fields are unknown. */
typedef struct {
    const char *path;      /* a pattern with {} is two files without columns */
    StrView first_line;    /* columns_read_first_line */
    const char *languages; /* --languages, "en-de" */
    const char *names;     /* data.columns */
    StrView model_source, model_target;
} ColumnHints;

/* STATUS_USAGE for a wrong --languages, and if data.columns lacks one of the languages. */
Status columns_choose(const ColumnHints *hints, Columns *columns);
/* STATUS_USAGE if the first line is a header, and not of --languages. */
Status columns_check_languages(const ColumnHints *hints);
Columns columns_first_two(StrView source, StrView target);
/* The columns of these languages among the names of data.columns; without names (NULL or "") the first two. A
 * language named twice is the source the first time and the target the second. */
Status columns_locate(const char *names, StrView source, StrView target, Columns *columns);
/* The first line of the file at `path` (formats/table.h), appended; nothing for patterns, and for files that
 * are missing or no pairs, of which reading the pairs says more. `languages`: --languages or NULL; a file of
 * units (formats/unit.h) names these, or else its own. Fails with STATUS_RUNTIME if it cannot be read. */
Status columns_read_first_line(const char *path, const char *languages, StrBuf *line);
/* Log which columns the header of the file at `path` names; nothing if it was not the reason. */
void columns_log(const Columns *columns, const char *path);

/* ---- headers and names ---- */

/* Is this line a header with the languages `source` and `target` (or "source" and "target"), in either order?
 * The names become `source` and `target`, as they are written. False if one of them is empty. *columns is
 * undefined if the answer is false.
 *
 * A header has languages in its first two columns, or short names without digits in all of its columns. */
bool columns_from_header_of(StrView line, StrView source, StrView target, Columns *columns);
/* Or is it a header of any two languages? The first is the source, unless they are the two above in the other
 * order. A column called "id" next to two languages holds numbers, not Indonesian. */
bool columns_from_header(StrView line, StrView source, StrView target, Columns *columns);
/* As data.columns, appended: "-,en,fr". */
void columns_format(const Columns *columns, StrBuf *names);
/* The number of languages that data.columns (or NULL) names. The first two replace those of `two`. */
int columns_languages(const char *names, StrView two[2]);

/* ---- lines ---- */

/* The fields of a line; without the column they stay as they are. Returns the number of fields. */
int columns_cut(const Columns *columns, StrView line, StrView *source, StrView *target);
/* Is it digits, with white space around them at most? */
bool columns_is_number(StrView field);
/* Does the line have more columns than names, a number as its source, and no number as its target? Tables
 * whose first column is an id look like this. */
bool columns_look_like_ids(const Columns *columns, StrView line);
/* STATUS_DATA for such a line, with the data.columns that reads the table. */
Status columns_fail_ids(const Columns *columns, StrView line, const char *path, long number);

typedef enum { FIRST_LINE_PAIR, FIRST_LINE_HEADER, FIRST_LINE_OTHER_HEADER } FirstLine;
/* A first line is a pair, a header of these languages, whose columns become *columns, or a header of
 * others. */
FirstLine columns_check_first_line(Columns *columns, StrView line);

#endif
