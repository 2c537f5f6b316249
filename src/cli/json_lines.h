/* json_lines.h - one JSON object per line: {"text": "..."} in, the same object with more fields out.
 *
 * Fields that this program does not know are passed through byte for byte.
 */
#ifndef CLI_JSON_LINES_H
#define CLI_JSON_LINES_H

#include "base/status.h"
#include "base/strview.h"

/* Append the value of "text" of the object in `line`. STATUS_DATA if it is no such object. */
Status json_line_text(StrView line, StrBuf *text);
/* Append the members of the object `line`, each followed by ", ", without those that this program writes itself.
 * `line` must have passed json_line_text. */
void json_line_members(StrView line, StrBuf *out);

#endif
