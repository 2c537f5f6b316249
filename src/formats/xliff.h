/* xliff.h - units of XLIFF 1.2 and 2.0, one after the other: memory does not grow with the file.
 *
 * A unit is a <trans-unit>, or a <segment> of version 2. One with a target in a state of "new" or
 * "needs-..." is UNIT_FUZZY. Alternatives (alt-trans, matches), notes and ignorable segments are left out.
 * Inline elements: inline_tags.h.
 */
#ifndef FORMATS_XLIFF_H
#define FORMATS_XLIFF_H

#include "formats/unit.h"
#include "io/fileio.h"

extern const UnitFormat XLIFF_FORMAT;
Status xliff_open(void **state, LineReader *bytes);

#endif
