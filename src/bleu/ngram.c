/* ngram.c - an open-addressing hash table. A new generation empties it in constant time. */
#include "bleu/ngram.h"

#include <assert.h>
#include <string.h>
#include "base/mem.h"

typedef struct {
    const uint32_t *symbols;
    uint64_t hash;
    uint32_t generation; /* the slot is empty if the table's generation is another */
    int reference;       /* number of the reference of `now` */
    int now, most;       /* occurrences in that reference; the maximum of all references */
    int matched;
} Slot;

struct NgramTable {
    Slot *slots;
    size_t capacity, used; /* capacity is a power of two, or 0 */
    uint32_t generation;
    size_t order;
    int references;
};

/* The hash of a window is a polynomial in this number, so that moving the window costs one step. */
static const uint64_t BASE = 0x9E3779B97F4A7C15u;

NgramTable *ngram_new(void) { return mem_alloc(1, sizeof(NgramTable)); }

void ngram_free(NgramTable *table) {
    if (!table) return;
    mem_free(table->slots);
    mem_free(table);
}

void ngram_begin(NgramTable *table, int order) {
    assert(order >= 1);
    table->order = (size_t)order;
    table->used = 0;
    table->references = 0;
    if (++table->generation == 0) { /* wrapped around: old slots would become valid */
        for (size_t i = 0; i < table->capacity; i++) table->slots[i].generation = 0;
        table->generation = 1;
    }
}

static size_t slot_of_hash(uint64_t hash, size_t capacity) {
    hash ^= hash >> 32;
    hash *= 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
    return (size_t)hash & (capacity - 1);
}

/* The slot of this n-gram, or the empty one where it belongs. */
static Slot *find_slot(NgramTable *table, const uint32_t *symbols, uint64_t hash) {
    size_t index = slot_of_hash(hash, table->capacity);
    for (;;) {
        Slot *slot = &table->slots[index];
        if (slot->generation != table->generation) return slot;
        if (slot->hash == hash && memcmp(slot->symbols, symbols, table->order * sizeof *symbols) == 0)
            return slot;
        index = (index + 1) & (table->capacity - 1);
    }
}

/* Grows the table so that half of its slots stay empty with `extra` more n-grams. */
static void reserve(NgramTable *table, size_t extra) {
    size_t need = (table->used + extra) * 2, capacity = table->capacity ? table->capacity : 64;
    while (capacity < need) capacity *= 2;
    if (capacity == table->capacity) return;
    Slot *old = table->slots;
    size_t old_capacity = table->capacity;
    table->slots = mem_alloc(capacity, sizeof(Slot));
    table->capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].generation == table->generation) *find_slot(table, old[i].symbols, old[i].hash) = old[i];
    mem_free(old);
}

/* A window of `order` symbols that moves along a sequence. */
typedef struct {
    uint64_t hash, oldest; /* oldest: factor of the symbol that leaves */
} Window;

static Window window_first(const uint32_t *symbols, size_t order) {
    Window window = {0, 1};
    for (size_t i = 0; i < order; i++) {
        window.hash = window.hash * BASE + symbols[i] + 1;
        if (i > 0) window.oldest *= BASE;
    }
    return window;
}

static void window_move(Window *window, uint32_t leaves, uint32_t enters) {
    window->hash = (window->hash - window->oldest * ((uint64_t)leaves + 1)) * BASE + enters + 1;
}

int ngram_total(size_t count, int order) {
    return count >= (size_t)order ? (int)(count - (size_t)order + 1) : 0;
}

void ngram_add_reference(NgramTable *table, Symbols text) {
    const uint32_t *symbols = text.items;
    size_t total = (size_t)ngram_total(text.count, (int)table->order);
    int reference = ++table->references;
    if (total == 0) return;
    reserve(table, total);
    Window window = window_first(symbols, table->order);
    for (size_t i = 0;; i++) {
        Slot *slot = find_slot(table, symbols + i, window.hash);
        if (slot->generation != table->generation) {
            *slot = (Slot){.symbols = symbols + i, .hash = window.hash, .generation = table->generation};
            table->used++;
        }
        if (slot->reference != reference) slot->reference = reference, slot->now = 0;
        if (++slot->now > slot->most) slot->most = slot->now;
        if (i + 1 == total) return;
        window_move(&window, symbols[i], symbols[i + table->order]);
    }
}

int ngram_match(NgramTable *table, Symbols text) {
    const uint32_t *symbols = text.items;
    size_t total = (size_t)ngram_total(text.count, (int)table->order);
    if (total == 0 || table->used == 0) return 0;
    int matches = 0;
    Window window = window_first(symbols, table->order);
    for (size_t i = 0;; i++) {
        Slot *slot = find_slot(table, symbols + i, window.hash);
        if (slot->generation == table->generation && slot->matched < slot->most) {
            slot->matched++;
            matches++;
        }
        if (i + 1 == total) return matches;
        window_move(&window, symbols[i], symbols[i + table->order]);
    }
}
