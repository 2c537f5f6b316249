/* inline_tags.h - the text of a segment of TMX or XLIFF, with its inline elements as text. */
#ifndef FORMATS_INLINE_TAGS_H
#define FORMATS_INLINE_TAGS_H

#include "io/xml.h"

typedef enum { INLINE_TMX, INLINE_XLIFF } InlineTags;

/* Reads from behind the start of an element to its end, and appends the text:
 *   elements around text         their text (hi, sub, g, mrk, pc)
 *   codes with a text of theirs  that text: content (bpt, ept, it, ph, ut), otherwise equiv-text or equiv
 *   other placeholders           {1}, with their x or id (ph, x)
 *   other codes                  nothing (bx, ex, sc, ec, sm, em)
 *   cp                           the character
 * STATUS_DATA, with file and line, if the text is larger than UNIT_MOST_BYTES. */
Status inline_tags_read(XmlReader *xml, InlineTags tags, const char *path, long line, StrBuf *text);

#endif
