/* tokens.h - a tokenized sentence: what goes from corpora and translators down to models.
 *
 * Owner   a view: who made it says where the ids live
 */
#ifndef TEXT_TOKENS_H
#define TEXT_TOKENS_H

typedef struct {
    const int *ids; /* [length] without <s> and </s> */
    int length;
} Tokens;

#endif
