/* normalize.h - one spelling for equal text: Unicode normal forms and lower case. The only user of utf8proc.
 * Unicode Standard Annex 15
 *
 * Fails   never for valid UTF-8 (utf8_repair first); text that utf8proc refuses is passed through unchanged
 */
#ifndef TEXT_NORMALIZE_H
#define TEXT_NORMALIZE_H

#include "base/strview.h"

typedef enum { NORMALIZE_NONE, NORMALIZE_NFC, NORMALIZE_NFKC } NormalForm;
#define NORMALIZE_CHOICES "none|nfc|nfkc"

/* Append the normal form of `text` to `out`, lower-cased if asked for. */
void normalize_text(StrView text, NormalForm form, bool lowercase, StrBuf *out);

/* CHAR_SPACE: U+0020, TAB and other ASCII white space, U+0085, U+2028, U+2029. Spaces of other widths and no-break spaces
 * (U+00A0, U+202F, U+2009, U+3000 ...) are CHAR_OTHER: they belong to the text. */
typedef enum { CHAR_SPACE, CHAR_LETTER, CHAR_MARK, CHAR_DIGIT, CHAR_OTHER } CharClass;
CharClass normalize_class(int code_point);
bool normalize_is_blank(int code_point); /* a space of any kind: nothing to see */
int normalize_width(int code_point);     /* columns in a terminal: 0, 1 or 2 */

#endif
