/* languages.h - the names of languages, as the first line of a table of sentence pairs has them.
 *
 * Known are the two-letter codes of ISO 639-1 in lower or upper case, the English names of the larger
 * languages in any case, and the neutral pair source (src) and target (tgt, trg).
 *
 * Fails   never
 */
#ifndef TEXT_LANGUAGES_H
#define TEXT_LANGUAGES_H

#include "base/strview.h"

/* "en" for "en", "EN", "English": one spelling of all names of a language; empty if it is none. The result
 * lives for ever. */
StrView language_code(StrView name);
/* "english" for "en"; a code without a name is its own. */
StrView language_name(StrView code);
/* Do both name one language? Equal names do, known or not. */
bool language_same(StrView a, StrView b);
/* Does this line of a TSV file name two languages in its first two columns? */
bool languages_header(StrView line, StrView *first, StrView *second);

#endif
