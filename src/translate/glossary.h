/* glossary.h - terms of the source, and their required translations.
 *
 * Files     lines of SOURCE TAB TARGET; further columns and empty lines are ignored. The first of several
 *           lines with the same source counts; a warning names lines with another target. A first line that
 *           names the two languages ("en TAB de", "English TAB German") is no term; with a third word
 *           "forms" the file's terms also match other forms of their words (text/whole_words.h). Accelerators
 *           (text/accelerators.h) of terms do not count
 * Matching  whole words in the model's normal form: case matters unless the model lowers it. A longer term
 *           hides the terms inside it
 */
#ifndef TRANSLATE_GLOSSARY_H
#define TRANSLATE_GLOSSARY_H

#include "base/status.h"
#include "base/strview.h"
#include "tokenizer/tokenizer.h"

typedef struct Glossary Glossary;

typedef struct {
    StrView source, target; /* words of the source; words that the translation must contain */
    bool forms;             /* or forms of them */
} GlossaryTerm;

/* `text`: the model's normal form; it must outlive the glossary. `source`, `target`: names of the
 * languages, or empty. STATUS_RUNTIME if a file cannot be read, STATUS_DATA if its contents are invalid. */
Status glossary_read(Glossary **glossary, const StrList *paths, const TextOptions *text, StrView source,
                     StrView target);
void glossary_free(Glossary *glossary); /* NULL is allowed */
/* Appends the terms in `text`, each target once, to terms [most], which has `count` already; returns the new
 * count. The views are the glossary's. */
int glossary_find(const Glossary *glossary, StrView text, GlossaryTerm *terms, int count, int most);

#endif
