/* tok13a.h - how a line is cut into words before BLEU counts them.
 * mteval-v13a.pl and mteval-v14.pl (NIST), as sacreBLEU 2.x has them
 *
 *   13a   spaces around ASCII punctuation, except around ' and -, and around . and , between digits; the default
 *   intl  spaces around all Unicode symbols, and around punctuation that is not next to a digit
 *   char  every code point is a word
 *   none  the line is tokenized already
 *
 * Fails   never; text should be valid UTF-8
 */
#ifndef METRICS_TOK13A_H
#define METRICS_TOK13A_H

#include "base/strview.h"

typedef enum { BLEU_TOKENIZE_13A, BLEU_TOKENIZE_INTL, BLEU_TOKENIZE_CHAR, BLEU_TOKENIZE_NONE } BleuTokenizer;
#define BLEU_TOKENIZER_CHOICES "13a|intl|char|none"

/* Replace the content of `out` by the tokenized line: words joined by one space for 13a and intl; char and none leave
 * white space in, which splitting at white space makes disappear. */
void tok13a_tokenize(StrView line, BleuTokenizer tokenizer, StrBuf *out);

const char *tok13a_name(BleuTokenizer tokenizer); /* as in signatures: "13a" */

#endif
