/* json_lines.h - lines of JSON: {"en": "Go!", "de": "Los!"} or {"translation": {"en": "Go!", "de": "Los!"}}.
 *
 * Members with a string are variants; their keys are languages, or "source" and "target". Other members are
 * left out. "context" is the context of the unit.
 */
#ifndef FORMATS_JSON_LINES_H
#define FORMATS_JSON_LINES_H

#include "formats/unit.h"
#include "io/fileio.h"

extern const UnitFormat JSON_LINES_FORMAT;
Status json_lines_open(void **state, LineReader *bytes);

#endif
