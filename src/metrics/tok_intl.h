/* tok_intl.h - the tokenizer of mteval-v14.pl with its Unicode rules: used through tok13a.h.
 *
 * Punctuation is set apart unless a digit is on both sides; there is no padding, so a full stop after a final number
 * stays with it. Symbols are always set apart.
 */
#ifndef METRICS_TOK_INTL_H
#define METRICS_TOK_INTL_H

#include "base/strview.h"

/* Append the tokenized line to `out`, possibly with several spaces between words. */
void tok_intl_apply(StrView line, StrBuf *out);

#endif
