/* texts.h - texts as sequences of integers, for words or characters, so that n-grams compare fast.
 *
 * Equal words have equal ids. texts_clear removes the texts, but words keep their ids.
 */
#ifndef BLEU_TEXTS_H
#define BLEU_TEXTS_H

#include <stdint.h>
#include "base/strview.h"

typedef struct Texts Texts;

/* Ids of words, or code points. */
typedef struct {
    const uint32_t *items; /* valid until the next symbol is added */
    size_t count;
} Symbols;

Texts *texts_new(void);
void texts_free(Texts *texts);
void texts_clear(Texts *texts);
void texts_begin(Texts *texts); /* starts a new text */
void texts_add_word(Texts *texts, StrView word);
void texts_add_words(Texts *texts, StrView text);                       /* words between white space */
void texts_add_characters(Texts *texts, StrView text, bool whitespace); /* with or without white space */
Symbols texts_get(const Texts *texts, size_t index);                    /* in order of texts_begin */

#endif
