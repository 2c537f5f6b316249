/* tokens.h - a tokenized sentence, the input of models.
 *
 * Owner   a view; the function that returns it documents the owner of the ids
 */
#ifndef TOKENIZER_TOKENS_H
#define TOKENIZER_TOKENS_H

typedef struct {
    const int *ids; /* [length] without <s> and </s> */
    int length;
} Tokens;

/* Reverses the order, for right-to-left decoders. */
static inline void tokens_reverse(int *ids, int length) {
    for (int i = 0, j = length - 1; i < j; i++, j--) {
        int id = ids[i];
        ids[i] = ids[j];
        ids[j] = id;
    }
}

#endif
