/* unicode_props.h - what kind of character a code point is, and text cut and lower-cased as Python does it.
 * Unicode Standard Annex 44 (general categories); The Unicode Standard, 3.13 (final sigma); Python str methods
 *
 * The scores of src/metrics are those of a Python program, so its idea of white space and of lower case counts here.
 * Beside normalize.c this is the one user of utf8proc.
 *
 * Fails   never; ill-formed bytes count as U+FFFD
 */
#ifndef TEXT_UNICODE_PROPS_H
#define TEXT_UNICODE_PROPS_H

#include "base/strview.h"

typedef enum { UNICODE_OTHER, UNICODE_PUNCTUATION, UNICODE_NUMBER, UNICODE_SYMBOL } UnicodeKind;

/* By the first letter of the general category: P, N, S, or anything else. */
UnicodeKind unicode_kind(int code_point);

/* str.isspace of one character: NBSP, narrow NBSP and the separators 1C-1F too; not U+200B or U+FEFF. */
bool unicode_is_space(int code_point);
/* str.rstrip(): without the white space at the end. */
StrView unicode_trim_end(StrView text);
/* str.split(), one word per call: cut the next run of other than white space off `rest`; false at the end. */
bool unicode_next_word(StrView *rest, StrView *word);

/* str.lower(), appended to `out`: one code point may become two (U+0130), a sigma that ends a word is final. */
void unicode_lower(StrView text, StrBuf *out);

#endif
