/* hashmap.c - open addressing with linear probing over an array of entries in order of insertion. */
#include "base/hashmap.h"

#include <assert.h>
#include <string.h>
#include "base/mem.h"

typedef struct {
    const char *key;
    size_t length;
    uint32_t hash;
    int64_t value;
} Entry;

/* Keys live in pages that never move, so views of them stay valid as long as the map. */
typedef struct Page {
    struct Page *older;
    size_t size, used;
    char bytes[];
} Page;

enum { PAGE_BYTES = 16 * 1024, FIRST_SLOTS = 16 };

struct HashMap {
    Entry *entries;
    size_t count, capacity;
    uint32_t *slots;   /* [slot_count] index of the entry + 1, or 0 */
    size_t slot_count; /* a power of two */
    Page *page;
};

static uint32_t hash_bytes(const char *data, size_t length) {
    uint64_t hash = UINT64_C(0x9E3779B97F4A7C15) ^ length;
    for (; length >= 8; data += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, data, 8);
        hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
        hash ^= hash >> 32;
    }
    uint64_t tail = 0;
    if (length > 0) memcpy(&tail, data, length);
    hash = (hash ^ tail) * UINT64_C(0xD6E8FEB86659FD93);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xD6E8FEB86659FD93);
    return (uint32_t)(hash >> 32);
}

static const char *keep_key(HashMap *map, StrView key) {
    Page *page = map->page;
    if (!page || page->size - page->used < key.length) {
        size_t size = key.length > PAGE_BYTES ? key.length : PAGE_BYTES;
        page = mem_alloc(sizeof(Page) + size, 1);
        page->size = size;
        page->older = map->page;
        map->page = page;
    }
    char *copy = page->bytes + page->used;
    if (key.length > 0) memcpy(copy, key.data, key.length);
    page->used += key.length;
    return copy;
}

/* The slot of `key`, or the empty slot where it belongs. */
static size_t find_slot(const HashMap *map, StrView key, uint32_t hash) {
    size_t mask = map->slot_count - 1, slot = hash & mask;
    for (;; slot = (slot + 1) & mask) {
        if (map->slots[slot] == 0) return slot;
        const Entry *entry = &map->entries[map->slots[slot] - 1];
        if (entry->hash == hash && entry->length == key.length &&
            (key.length == 0 || memcmp(entry->key, key.data, key.length) == 0))
            return slot;
    }
}

static void enlarge(HashMap *map) {
    size_t slot_count = map->slot_count * 2;
    uint32_t *slots = mem_alloc(slot_count, sizeof *slots);
    for (size_t i = 0; i < map->count; i++) {
        size_t slot = map->entries[i].hash & (slot_count - 1);
        while (slots[slot] != 0) slot = (slot + 1) & (slot_count - 1);
        slots[slot] = (uint32_t)(i + 1);
    }
    mem_free(map->slots);
    map->slots = slots;
    map->slot_count = slot_count;
}

HashMap *hashmap_new(void) {
    HashMap *map = mem_alloc(1, sizeof *map);
    map->slot_count = FIRST_SLOTS;
    map->slots = mem_alloc(map->slot_count, sizeof *map->slots);
    return map;
}

void hashmap_free(HashMap *map) {
    if (!map) return;
    for (Page *page = map->page; page;) {
        Page *older = page->older;
        mem_free(page);
        page = older;
    }
    mem_free(map->entries);
    mem_free(map->slots);
    mem_free(map);
}

size_t hashmap_count(const HashMap *map) { return map->count; }

int64_t hashmap_get(const HashMap *map, StrView key, int64_t missing) {
    size_t slot = find_slot(map, key, hash_bytes(key.data, key.length));
    return map->slots[slot] ? map->entries[map->slots[slot] - 1].value : missing;
}

int64_t *hashmap_slot(HashMap *map, StrView key, int64_t initial) {
    uint32_t hash = hash_bytes(key.data, key.length);
    size_t slot = find_slot(map, key, hash);
    if (map->slots[slot] == 0) {
        if (4 * (map->count + 1) > 3 * map->slot_count) {
            enlarge(map);
            slot = find_slot(map, key, hash);
        }
        assert(map->count < UINT32_MAX - 1);
        MEM_GROW(map->entries, map->capacity, map->count + 1);
        map->entries[map->count] = (Entry){keep_key(map, key), key.length, hash, initial};
        map->slots[slot] = (uint32_t)++map->count;
    }
    return &map->entries[map->slots[slot] - 1].value;
}

void hashmap_set(HashMap *map, StrView key, int64_t value) { *hashmap_slot(map, key, value) = value; }

StrView hashmap_key(const HashMap *map, size_t index) {
    assert(index < map->count);
    return (StrView){map->entries[index].key, map->entries[index].length};
}

int64_t hashmap_value(const HashMap *map, size_t index) {
    assert(index < map->count);
    return map->entries[index].value;
}
