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

/* For decoders that write from right to left. */
static inline void tokens_turn(int *ids, int length) {
    for (int i = 0, j = length - 1; i < j; i++, j--) {
        int id = ids[i];
        ids[i] = ids[j];
        ids[j] = id;
    }
}

#endif
