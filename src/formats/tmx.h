/* tmx.h - units of a translation memory (TMX 1.4), one after the other: memory does not grow with the file.
 *
 * Text comes from the <seg> of each <tuv>. Elements around text (hi, sub) become their text. The codes of
 * other programs (bpt, ept, it, ph, ut) become the native code that they contain, such as "<b>"; an empty
 * ph becomes a placeholder with its number, "{1}".
 */
#ifndef FORMATS_TMX_H
#define FORMATS_TMX_H

#include "formats/unit.h"
#include "io/fileio.h"

extern const UnitFormat TMX_FORMAT;
Status tmx_open(void **state, LineReader *bytes);

#endif
