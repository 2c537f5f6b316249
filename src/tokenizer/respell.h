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
bool text_replace_no_break_spaces(Tokenizer *tokenizer, StrView text, StrBuf *out);

/* The letters that a model reads a text in: small ones, with a capital at its start or without. */
typedef enum { CASE_AS_IS, CASE_SMALL, CASE_SENTENCE } LetterCase;

/* A text in capitals that costs the vocabulary at least 3/2 of the tokens of the same text in small letters:
 * its words were learned in small letters. A token that is unknown counts as three. CASE_SENTENCE if that has
 * no more tokens than CASE_SMALL. Any other text stays as it is. */
LetterCase text_choose_case(Tokenizer *tokenizer, StrView text);
/* Appends a part of the text; *letters is what the rest of it needs. */
void text_set_case(StrView part, LetterCase *letters, StrBuf *out);

#endif
