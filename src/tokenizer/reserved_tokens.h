/* reserved_tokens.h - tokens that stand for the placeholders of a text.
 *
 * A vocabulary that has them has RESERVED_TOKENS characters of the last private use plane. No other text has
 * these, so each is always a token of its own. In a pair of texts whose placeholders agree, token k stands
 * for the k-th placeholder of the source, and for the same one in the target: "%s of %d" and "%d von %s" are
 * "K0 of K1" and "K1 von K0".
 */
#ifndef TOKENIZER_RESERVED_TOKENS_H
#define TOKENIZER_RESERVED_TOKENS_H

#include "text/placeholders.h"
#include "tokenizer/vocab.h"

enum { RESERVED_TOKENS = 8 };

/* Appends the character of token k. */
void reserved_add(int k, StrBuf *text);
/* The token that a character is, or -1. */
int reserved_index(int c);
/* Does the vocabulary have all of them? */
bool reserved_in_vocab(const Vocab *vocab);
/* Appends the text with a token for each of its placeholders; false, and nothing appended, if it has none,
 * too many, or such a character. */
bool reserved_replace(StrView text, const PlaceholderList *placeholders, StrBuf *out);
/* The same for both texts of a pair; false, too, if they do not agree. */
bool reserved_replace_pair(StrView source, StrView target, StrBuf *source_out, StrBuf *target_out);
/* Appends the text with the placeholders that its tokens stand for; false if there is none for a token. */
bool reserved_restore(StrView text, const PlaceholderList *placeholders, StrBuf *out);

#endif
