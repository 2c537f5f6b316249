/* glossary.h - words of the source, and what they must be in the translation.
 *
 * Files     lines of SOURCE TAB TARGET; more columns are ignored, empty lines skipped. Of lines with the same
 *           source the first counts, and a warning says where targets differ
 * Matching  whole words in the form that the model takes text in: case counts unless the model lowers it. A
 *           longer term hides those inside it
 */
#ifndef TRANSLATE_GLOSSARY_H
#define TRANSLATE_GLOSSARY_H

#include "base/status.h"
#include "base/strview.h"
#include "text/tokenizer.h"

typedef struct Glossary Glossary;

typedef struct {
    StrView source, target; /* what is in a text, and what it must become */
} GlossaryTerm;

/* `text`: how the model takes text, which must outlive the glossary. STATUS_RUNTIME if a file cannot be
 * read, STATUS_DATA for what is in it. */
Status glossary_read(Glossary **glossary, const StrList *paths, const TextOptions *text);
void glossary_free(Glossary *glossary); /* NULL is allowed */
/* The terms in `text`, each target once, behind the `count` that terms [most] already holds; returns how many
 * it holds then. The views are the glossary's. */
int glossary_find(const Glossary *glossary, StrView text, GlossaryTerm *terms, int count, int most);

#endif
