/* bigram.h - from two symbol ids to an int: the table that byte-pair encoding looks things up in.
 *
 * Owner   a zeroed BigramMap is a valid empty one; bigram_free releases it
 */
#ifndef TEXT_BIGRAM_H
#define TEXT_BIGRAM_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t *keys; /* open addressing; capacity is a power of two */
    int *values;
    size_t count, capacity;
} BigramMap;

int bigram_get(const BigramMap *map, int left, int right, int missing); /* ids >= 0 */
/* Pointer to the value, inserted as `initial` when new. Valid until the next insertion. */
int *bigram_slot(BigramMap *map, int left, int right, int initial);
void bigram_free(BigramMap *map);

#endif
