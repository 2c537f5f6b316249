/* accelerators.h - the marks before the letters that choose an entry of a menu: "&File" of Qt and Windows,
 * "_File" of GTK.
 *
 * A mark stands before a letter or digit. No marks are "&&", the & of an entity ("&amp;"), a mark before a
 * capital inside a word ("R&D"), a _ inside a word that begins with a small letter ("snake_case"; but
 * "E_xit" has one), and a mark in the name of something ("Krb5_ap", "Foo_bar()", "_init_x", "?x=1&y=2"). A
 * text with several marks has no accelerator.
 */
#ifndef TEXT_ACCELERATORS_H
#define TEXT_ACCELERATORS_H

#include "base/strview.h"

/* Which marks there are. */
typedef enum { ACCELERATOR_NONE, ACCELERATOR_AND, ACCELERATOR_UNDERSCORE, ACCELERATOR_AUTO } AcceleratorKind;
#define ACCELERATOR_CHOICES "none|&|_|auto"

typedef struct {
    char mark;       /* '&' or '_' */
    int letter;      /* the code point after it */
    size_t position; /* of the letter in the text without the mark */
} Accelerator;

/* Finds the accelerator of a text, which is valid UTF-8, and appends the text without it; if there is none,
 * returns false and appends nothing. */
bool accelerator_take(StrView text, AcceleratorKind kind, StrBuf *out, Accelerator *accelerator);

/* Appends the translation with the mark before a letter of text[at..at+length), a word of it: before the
 * same letter if the word has it, else before its first letter or digit. If that is Chinese, Japanese or
 * Korean, or if there is none, the original letter comes in brackets at the end of the text, as is usual:
 * "(&F)". */
void accelerator_put(const Accelerator *accelerator, StrView text, size_t at, size_t length, StrBuf *out);

#endif
