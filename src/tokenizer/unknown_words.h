/* unknown_words.h - the parts of a text that a vocabulary of subwords cannot spell.
 *
 * They are words with an unknown character, and runs of unknown symbols: names in another script, emoji,
 * signs. A translation has them as they are. U+2581 is one of them, because subwords use it as a marker.
 */
#ifndef TOKENIZER_UNKNOWN_WORDS_H
#define TOKENIZER_UNKNOWN_WORDS_H

#include "text/markup.h"
#include "tokenizer/tokenizer.h"

/* Adds them to `markup` as single marks: views into `text`, which is valid UTF-8. Entities are characters
 * unless `literal`. */
void unknown_words_find(Tokenizer *tokenizer, StrView text, bool literal, Markup *markup);

#endif
