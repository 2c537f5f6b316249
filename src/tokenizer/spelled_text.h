/* spelled_text.h - a text with its marks in characters that a vocabulary knows.
 *
 * Around the marks and entities, which stay as they are, text in capitals becomes small letters
 * (text_choose_case), and characters that the vocabulary does not know are respelled (respell.h). What
 * it cannot spell even so becomes a mark, too (unknown_words.h). A text that would get other placeholders by
 * that stays as it is.
 *
 * Owner   `text` and the views of the marks are in the arena; mem_free(markup.items) releases the marks
 */
#ifndef TOKENIZER_SPELLED_TEXT_H
#define TOKENIZER_SPELLED_TEXT_H

#include "base/arena.h"
#include "text/markup.h"
#include "tokenizer/tokenizer.h"

typedef struct {
    StrView text;
    Markup markup; /* the marks of `text` alone: without masked text */
    bool capitals; /* the source is in capitals */
} SpelledText;

/* `source`: valid UTF-8, a part of markup->repaired; `markup` may be NULL: no marks, and entities are text.
 * `respell`: false: characters that the vocabulary does not know stay. */
SpelledText spelled_text_make(Tokenizer *tokenizer, const Markup *markup, StrView source, bool respell,
                              Arena *arena);

#endif
