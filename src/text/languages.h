/* languages.h - the names of languages, in all spellings of files and command lines.
 *
 * Known names, with "-" or "_" between their parts:
 *   codes    of ISO 639-1, 639-2 and 639-3, in lower or upper case (de, deu, ger), old ones (iw), those of
 *            other programs (zt, pb), each with a script or region: BCP 47 (zh-Hans, pt-BR), FLORES
 *            (zho_Hans), locales (sr_RS.UTF-8@latin)
 *   names    in English, in any case: German, Chinese (Simplified)
 *   neutral  source (src) and target (tgt, trg)
 * language_table.h lists the languages.
 *
 * Fails   languages_split: STATUS_USAGE
 */
#ifndef TEXT_LANGUAGES_H
#define TEXT_LANGUAGES_H

#include "base/status.h"
#include "base/strview.h"

typedef struct {
    StrView code;   /* of ISO 639-1, otherwise 639-3; static memory */
    char script[5]; /* "Hans", also if only the region implies it (zh-CN); "" if unknown */
    char region[4]; /* "BR", "419"; "" if unknown */
} Language;

/* False if the name is unknown; *language is then undefined. */
bool language_read(StrView name, Language *language);
/* The code of a language: "en" for "en", "eng_Latn", "English"; empty if the name is unknown. Static
 * memory. */
StrView language_code(StrView name);
/* "english" for "en"; the code itself if it has no name here. */
StrView language_name(StrView code);
/* The English name that is nearest to an unknown one ("portuguese" for "portugese"); NULL: none is near, or
 * the name is known. Free it with mem_free. */
char *language_nearest(StrView name);
/* Do both name the same language? Equal names do, known or not. A script or region matters if both have one:
 * en-US is en and not en-GB; zho_Hans is zh-CN and not zh-TW. */
bool language_names_match(StrView a, StrView b);
/* The same for languages that language_read knows. */
bool languages_match(const Language *a, const Language *b);
/* Do both have one code, in scripts that do not differ? */
bool languages_match_but_region(const Language *a, const Language *b);
/* How well a text in `name` serves a caller that asks for `requested`: 3 equal, 2 language_names_match, 1 the
 * same language of another region, 0 not at all. */
int language_rank(StrView requested, StrView name);
/* Are the two directions, `source` to `target` and `a` to `b`, known to differ? False if `source` is empty or
 * "source". */
bool directions_differ(StrView source, StrView target, StrView a, StrView b);
/* The two names of "en-de", "en:de" or "en,de", the value of --languages; views into it. They must differ.
 * Names that contain "-" are separated by ":" or ",": "pt-BR:en". */
Status languages_split(const char *value, StrView *source, StrView *target);
#endif
