/* csv.h - rows of cells as spreadsheets write them. RFC 4180
 *
 * A cell may stand in quotes; it then may contain separators, line ends and doubled quotes. The separator
 * is ',', ';' or TAB. Rows end with "\n", "\r\n" or "\r". Lenient where programs differ: a quote inside of
 * a plain cell is text, and so is text after a closing quote. Rows without anything are skipped.
 */
#ifndef FORMATS_CSV_H
#define FORMATS_CSV_H

#include "io/fileio.h"

/* The separator if the text that begins so is CSV, otherwise 0: most rows must have as many cells as the
 * first. Without languages in the first row, quotes or three rows are needed. A table with TABs is CSV
 * only if its quotes cannot be text: one cell at least has doubled quotes, a line end or a TAB in quotes,
 * no quote contradicts. `whole`: `sample` is the whole file. */
char csv_separator(StrView sample, bool whole);

typedef struct CsvReader CsvReader;
CsvReader *csv_open(LineReader *bytes, char separator);
/* The next row: cells with escapes (escapes.h) between TABs. *line: where it begins. STATUS_DATA for quotes
 * that do not end. */
Status csv_next(CsvReader *reader, StrBuf *row, long *line, bool *more);
void csv_close(CsvReader *reader);

#endif
