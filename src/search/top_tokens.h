/* top_tokens.h - the best tokens of a row of scores, without sorting the vocabulary.
 *
 * The scores are divided into blocks. At least k scores reach the k-th greatest maximum of a block, so a
 * second pass looks only into blocks whose maximum reaches it: about k of them.
 */
#ifndef SEARCH_TOP_TOKENS_H
#define SEARCH_TOP_TOKENS_H

#include <stddef.h>
#include "kern/tensor.h"
#include "tokenizer/vocab.h"

/* The size of top_tokens_find's scratch memory, in numbers. */
size_t top_tokens_scratch(int V, int k);
/* The k tokens with the highest scores x[0..V-1], best first, equal ones by id, <unk> and </s> before words.
 * <pad> and <s> are left out, and <unk> without allow_unk. Returns the number of tokens: less than k only if
 * no other score is a number. *greatest: the greatest of all V scores. */
int top_tokens_find(const real *x, int V, int k, bool allow_unk, real *scratch, int *tokens, real *greatest);

#endif
