/* languages.h - the names of languages, as the first line of a table of sentence pairs has them.
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
/* Two columns of a TSV file, from 0, and the languages that its first line says they have. */
typedef struct {
    int first, second; /* first < second */
    StrView first_name, second_name;
} LanguageColumns;

/* Does this line name two languages in its first two columns, or anywhere if all columns have names? A column
 * called "id" among others that name two languages has numbers, not Indonesian. */
bool languages_header(StrView line, LanguageColumns *found);
/* Does it so name these two, or source and target? No if one of them is empty. */
bool languages_header_of(StrView line, StrView a, StrView b, LanguageColumns *found);
/* Log which columns of the file at `path` are read, because its first line names them. */
void languages_log_columns(const LanguageColumns *columns, const char *path);
/* As data.columns has them, appended: "-,en,fr", where columns before and between have no name. */
void languages_add_columns(const LanguageColumns *columns, StrBuf *names);
/* How many names there are in such a list, which may be NULL; the first two, views into it, replace those of
 * `two`. */
int languages_in_columns(const char *names, StrView two[2]);

#endif
