/* words.c - one array of ids with the starts of the texts in it. */
#include "metrics/words.h"

#include <assert.h>
#include "base/hashmap.h"
#include "base/mem.h"

struct Words {
    HashMap *map;
    uint32_t *ids;
    size_t count, capacity;
    size_t *starts;
    size_t texts, starts_capacity;
};

Words *words_new(void) {
    Words *words = mem_alloc(1, sizeof *words);
    words->map = hashmap_new();
    return words;
}

void words_free(Words *words) {
    if (!words) return;
    hashmap_free(words->map);
    mem_free(words->ids);
    mem_free(words->starts);
    mem_free(words);
}

void words_clear(Words *words) { words->count = words->texts = 0; }

void words_begin_text(Words *words) {
    MEM_GROW(words->starts, words->starts_capacity, words->texts + 1);
    words->starts[words->texts++] = words->count;
}

void words_add(Words *words, StrView word) {
    MEM_GROW(words->ids, words->capacity, words->count + 1);
    words->ids[words->count++] = (uint32_t)*hashmap_slot(words->map, word, (int)hashmap_count(words->map));
}

WordIds words_text(const Words *words, size_t index) {
    assert(index < words->texts);
    size_t start = words->starts[index];
    size_t end = index + 1 < words->texts ? words->starts[index + 1] : words->count;
    return (WordIds){words->ids ? words->ids + start : NULL, end - start};
}
