/* languages.h - the names of languages, as files of sentence pairs and command lines have them.
 *
 * Known names: the two-letter codes of ISO 639-1 in lower or upper case, also with a region or script
 * (en-US); the three-letter codes and English names of the larger languages in any case; and the neutral
 * names source (src) and target (tgt, trg).
 *
 * Fails   languages_split: STATUS_USAGE
 */
#ifndef TEXT_LANGUAGES_H
#define TEXT_LANGUAGES_H

#include "base/status.h"
#include "base/strview.h"

/* The code of a language: "en" for "en", "EN", "English"; empty if the name is unknown. Static memory. */
StrView language_code(StrView name);
/* "english" for "en"; the code itself if it has no name here. */
StrView language_name(StrView code);
/* Do both name the same language? Equal names do, known or not; en-US and en-GB do not. */
bool language_same(StrView a, StrView b);
/* Are the two directions, `source` to `target` and `a` to `b`, known to differ? False if `source` is empty or
 * "source". */
bool languages_differ(StrView source, StrView target, StrView a, StrView b);
/* The two names of "en-de", "en:de" or "en,de", the value of --languages; views into it. They must differ.
 * Names that contain "-" are separated by ":" or ",": "pt-BR:en". */
Status languages_split(const char *value, StrView *source, StrView *target);
#endif
