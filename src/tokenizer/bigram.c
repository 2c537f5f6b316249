/* bigram.c - see bigram.h. */
#include "tokenizer/bigram.h"

#include "base/mem.h"

#define VACANT UINT64_MAX

static uint64_t bigram_key(int left, int right) { return (uint64_t)(uint32_t)left << 32 | (uint32_t)right; }

/* The slot of `key`, or the free slot for it. Multiplying and using the high bits spreads small ids well. */
static size_t find(const BigramMap *map, uint64_t key) {
    uint64_t mixed = key * 0x9E3779B97F4A7C15u;
    size_t at = (size_t)(mixed ^ mixed >> 32) & (map->capacity - 1);
    while (map->keys[at] != key && map->keys[at] != VACANT) at = (at + 1) & (map->capacity - 1);
    return at;
}

static void grow(BigramMap *map) {
    BigramMap old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 64;
    map->keys = mem_alloc(map->capacity, sizeof *map->keys);
    map->values = mem_alloc(map->capacity, sizeof *map->values);
    for (size_t i = 0; i < map->capacity; i++) map->keys[i] = VACANT;
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.keys[i] == VACANT) continue;
        size_t at = find(map, old.keys[i]);
        map->keys[at] = old.keys[i];
        map->values[at] = old.values[i];
    }
    bigram_free(&old);
}

int bigram_get(const BigramMap *map, int left, int right, int missing) {
    if (map->count == 0) return missing;
    uint64_t key = bigram_key(left, right);
    size_t at = find(map, key);
    return map->keys[at] == key ? map->values[at] : missing;
}

int *bigram_slot(BigramMap *map, int left, int right, int initial) {
    if (map->count * 2 >= map->capacity) grow(map);
    uint64_t key = bigram_key(left, right);
    size_t at = find(map, key);
    if (map->keys[at] == VACANT) {
        map->keys[at] = key;
        map->values[at] = initial;
        map->count++;
    }
    return &map->values[at];
}

void bigram_free(BigramMap *map) {
    mem_free(map->keys);
    mem_free(map->values);
    map->keys = NULL, map->values = NULL;
    map->count = map->capacity = 0;
}
