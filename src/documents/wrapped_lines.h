/* wrapped_lines.h - the texts of catalogues: lines, of which some only wrap a paragraph, with columns.
 *
 * A piece is a text that is translated by itself: what stands in a column of a line, with its wrapped lines.
 *   columns   begin after two spaces (after the end of a sentence three) or a TAB
 *   wraps     a line goes on with the piece before it if it begins below that piece, and with a lower-case
 *             letter, or the line before was full and ended no sentence. Not in scripts without spaces
 *   stay      marks of items ("-" "1."), and before a column single letters and options ("-a, --all")
 */
#ifndef DOCUMENTS_WRAPPED_LINES_H
#define DOCUMENTS_WRAPPED_LINES_H

#include "base/strview.h"

/* Appends the pieces, one a line. A text of white space is appended as it is. */
void lines_unwrap(StrView text, StrBuf *out);
/* Appends the text with the lines of `translation` as its pieces, wrapped at the width of its widest line.
 * Appends nothing and returns false if these are too many or too few. */
bool lines_rewrap(StrView text, StrView translation, StrBuf *out);

#endif
