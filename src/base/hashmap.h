/* hashmap.h - a map from byte strings to integers, which are counts or ids.
 *
 * Open addressing, no deletion; iteration is in order of insertion.
 *
 * Owner   the map copies its keys
 */
#ifndef BASE_HASHMAP_H
#define BASE_HASHMAP_H

#include <stdint.h>
#include "base/strview.h"

typedef struct HashMap HashMap;

HashMap *hashmap_new(void);
void hashmap_free(HashMap *map);
size_t hashmap_count(const HashMap *map);
int64_t hashmap_get(const HashMap *map, StrView key, int64_t missing);
void hashmap_set(HashMap *map, StrView key, int64_t value);
/* Pointer to the value of `key`; a new key gets the value `initial`. Valid until the next insertion. */
int64_t *hashmap_slot(HashMap *map, StrView key, int64_t initial);
/* Entry `index` in order of insertion, 0 <= index < count. */
StrView hashmap_key(const HashMap *map, size_t index);
int64_t hashmap_value(const HashMap *map, size_t index);

#endif
