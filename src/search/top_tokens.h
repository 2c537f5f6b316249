/* top_tokens.h - the best tokens of a row of scores, without sorting the vocabulary.
 *
 * The scores are cut into blocks. The k-th greatest of the blocks' maxima is a bound that at least k scores
 * reach, so only blocks whose maximum reaches it need a second look: about k of them.
 */
#ifndef SEARCH_TOP_TOKENS_H
#define SEARCH_TOP_TOKENS_H

#include <stddef.h>
#include "kern/tensor.h"
#include "text/vocab.h"

/* Numbers of scratch memory that top_tokens_find needs. */
size_t top_tokens_scratch(int V, int k);
/* The k highest of x[0..V-1] among the tokens that may be chosen, best first, ties by lower id (<unk> and
 * </s> count as lowest). Returns how many: fewer than k only if there are not so many or the others are not
 * numbers. *greatest: of all V scores. */
int top_tokens_find(const real *x, int V, int k, bool allow_unk, real *scratch, int *tokens, real *greatest);

#endif
