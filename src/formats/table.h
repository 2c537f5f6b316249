/* table.h - files of sentence pairs of every format, as lines of one table.
 *
 * Every command that reads pairs reads them here. The content decides about the format (format.h):
 *
 *   tables            their lines, as they are
 *   CSV               a line for each row
 *   TMX, XLIFF, PO,   a first line with the names of the two languages, "context" and "escaped"; then a
 *   JSON lines        line for each unit that has a text in both languages
 *
 * Cells are between TABs. If they have escapes (escapes.h), table_text gives the text of a cell. Cells of a
 * table have escapes if its first line says so; cells of other formats always have them.
 *
 * Two languages are chosen from units: those that the caller names, in its order. An exact name comes first,
 * then the language, then another region of it. Without names the languages are those of the first unit that
 * has two.
 *
 * Memory    bounded for all formats but PO (io/po.h)
 * Fails     STATUS_DATA with file and line for damaged files, for files of kinds that are not read, and for
 *           units of other languages than the ones named
 */
#ifndef FORMATS_TABLE_H
#define FORMATS_TABLE_H

#include "formats/format.h"
#include "io/fileio.h"

typedef struct TableReader TableReader;

/* `path` may be "-". The names may be empty, or "source" and "target": unknown. */
Status table_open(TableReader **table, const char *path, StrView source, StrView target);
/* The next line, valid until the next call. */
Status table_next(TableReader *table, StrView *line, bool *more);
/* As line_reader_ready, for tables and JSON lines; true for the others. */
bool table_ready(TableReader *table);
bool table_has_escapes(const TableReader *table); /* known after the first line */
/* The text of a cell: the cell itself, or `buffer` if there are escapes in it. */
StrView table_text(const TableReader *table, StrView cell, StrBuf *buffer);
/* Do the lines come from units? Then the first line names the columns, which are source and target. */
bool table_has_units(const TableReader *table);
long table_number(const TableReader *table); /* of the line, row or unit in its file, from 1 */
const char *table_path(const TableReader *table);
long table_carriage_returns(const TableReader *table); /* of tables: as of line_reader */
bool table_has_bom(const TableReader *table);
long table_untranslated(const TableReader *table); /* units left out because one text is missing */
long table_fuzzy(const TableReader *table);        /* units left out because they are fuzzy or obsolete */
long long table_consumed(const TableReader *table);
void table_close(TableReader *table); /* NULL is allowed */

#endif
