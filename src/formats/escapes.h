/* escapes.h - line ends, TABs and backslashes in the cells of a table: \n, \t and \\.
 *
 * A table has escapes if its first line says so: it names the columns, and the last name is "escaped". In
 * other tables a backslash is a backslash. A backslash before another character, or at the end, stands for
 * itself.
 */
#ifndef FORMATS_ESCAPES_H
#define FORMATS_ESCAPES_H

#include "base/strview.h"

#define ESCAPES_COLUMN "escaped"

/* A cell with escapes, appended. "\r\n" and '\r' are line ends, too. */
void escapes_add(StrView text, StrBuf *cell);
/* The text of a cell with escapes, appended. */
void escapes_remove(StrView cell, StrBuf *text);
/* Does the first line of a table say that it has escapes? */
bool escapes_are_named(StrView first_line);

#endif
