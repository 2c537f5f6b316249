/* languages.h - the names of languages, as files of sentence pairs and command lines have them.
 *
 * Known are the two-letter codes of ISO 639-1 in lower or upper case, with a region or script too (en-US),
 * the three-letter codes and the English names of the larger languages in any case, and the neutral pair
 * source (src) and target (tgt, trg).
 *
 * Fails   languages_split: STATUS_USAGE
 */
#ifndef TEXT_LANGUAGES_H
#define TEXT_LANGUAGES_H

#include "base/status.h"
#include "base/strview.h"

/* "en" for "en", "EN", "English": one spelling of all names of a language; empty if it is none. The result
 * lives for ever. */
StrView language_code(StrView name);
/* "english" for "en"; a code without a name is its own. */
StrView language_name(StrView code);
/* Do both name one language? Equal names do, known or not; en-US and en-GB are two. */
bool language_same(StrView a, StrView b);
/* Is it known that `source` to `target` is not from `a` to `b`? Not of empty names, nor of "source". */
bool languages_differ(StrView source, StrView target, StrView a, StrView b);
/* The two names of "en-de", "en:de" or "en,de", the value of --languages; views into it. They must differ.
 * Names with "-" in them have another sign between them: "pt-BR:en". */
Status languages_split(const char *value, StrView *source, StrView *target);
#endif
