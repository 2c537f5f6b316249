/* respell.h - writes a text in characters that a vocabulary knows.
 *
 * Only characters that the vocabulary does not know change (of a word vocabulary: words):
 *   - default-ignorable characters (soft hyphen, zero-width space, word joiner, byte-order mark ...) go,
 *     except next to a symbol: they join emoji
 *   - typographic quotes, dashes and ellipses become plain ones, spaces of other widths become U+0020
 *   - capitals become small letters
 *
 * Owner   the caller passes and frees the buffers
 */
#ifndef TOKENIZER_RESPELL_H
#define TOKENIZER_RESPELL_H

#include "tokenizer/tokenizer.h"

/* Appends `text`, which is valid UTF-8, to `out`. */
void text_respell(Tokenizer *tokenizer, StrView text, StrBuf *out);

/* To a vocabulary without subwords of it, a no-break space between two letters is a rare letter in one long
 * word. Appends the text with plain spaces there to `out`, and returns true if that has fewer tokens. */
bool text_part_words(Tokenizer *tokenizer, StrView text, StrBuf *out);

/* A text in capitals that costs the vocabulary at least 3/2 of the tokens of the same text in small letters:
 * its words were learned in small letters. A token that is unknown counts as three. Appends the text in small
 * letters to `out`, with a capital at its start if that has no more tokens, and returns true. */
bool text_lower_capitals(Tokenizer *tokenizer, StrView text, StrBuf *out);

#endif
