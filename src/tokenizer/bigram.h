/* bigram.h - a hash table from two symbol ids to an int, for byte-pair encoding. Faster than base/hashmap.h,
 * whose keys are texts.
 *
 * Owner   a zeroed BigramMap is a valid empty one; bigram_free releases it
 */
#ifndef TOKENIZER_BIGRAM_H
#define TOKENIZER_BIGRAM_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t *keys; /* open addressing; capacity is a power of two */
    int *values;
    size_t count, capacity;
} BigramMap;

int bigram_get(const BigramMap *map, int left, int right, int missing); /* ids >= 0 */
/* A pointer to the value, which is `initial` if the key is new. Valid until the next insertion. */
int *bigram_slot(BigramMap *map, int left, int right, int initial);
void bigram_free(BigramMap *map);

#endif
