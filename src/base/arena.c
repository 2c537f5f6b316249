/* arena.c - bump allocation in a chain of chunks that becomes a single chunk. */
#include "base/arena.h"

#include <stdint.h>
#include <string.h>
#include "base/mem.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISON 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ARENA_POISON 1
#endif

/* AddressSanitizer then reports writes past a block and uses of a block after a reset: unused memory is
 * poisoned, and there are gaps between blocks. New blocks are NaN, so that reading before writing shows. */
#ifdef ARENA_POISON
#include <sanitizer/asan_interface.h>
#define POISON(address, bytes)   ASAN_POISON_MEMORY_REGION(address, bytes)
#define UNPOISON(address, bytes) ASAN_UNPOISON_MEMORY_REGION(address, bytes)
enum { GAP = 64 };
#else
#define POISON(address, bytes)   ((void)(address), (void)(bytes))
#define UNPOISON(address, bytes) ((void)(address), (void)(bytes))
enum { GAP = 0 };
#endif

enum { FIRST_CHUNK = 64 * 1024 };

typedef struct Chunk {
    struct Chunk *older;
    unsigned char *data;
    size_t size, used;
} Chunk;

struct Arena {
    Chunk *newest;
    size_t used; /* by blocks, over all chunks */
};

static Chunk *chunk_new(size_t size, Chunk *older) {
    Chunk *chunk = mem_alloc(1, sizeof *chunk);
    *chunk = (Chunk){.older = older, .data = mem_aligned_uninitialized(size, 1), .size = size};
    POISON(chunk->data, size);
    return chunk;
}

static void chunks_free(Chunk *chunk) {
    while (chunk) {
        Chunk *older = chunk->older;
        UNPOISON(chunk->data, chunk->size);
        mem_free(chunk->data);
        mem_free(chunk);
        chunk = older;
    }
}

Arena *arena_new(void) { return mem_alloc(1, sizeof(Arena)); }

void arena_free(Arena *arena) {
    if (!arena) return;
    chunks_free(arena->newest);
    mem_free(arena);
}

void *arena_alloc(Arena *arena, size_t bytes) {
    /* mem.c ends the program for a size that is too large. */
    if (bytes > SIZE_MAX / 4) return mem_alloc(bytes, 4);
    size_t need = mem_round_up(bytes ? bytes : 1) + GAP;
    Chunk *chunk = arena->newest;
    if (!chunk || chunk->size - chunk->used < need) {
        size_t size = chunk ? 2 * chunk->size : FIRST_CHUNK;
        chunk = arena->newest = chunk_new(size > need ? size : need, chunk);
    }
    unsigned char *block = chunk->data + chunk->used;
    chunk->used += need;
    arena->used += need - GAP;
    UNPOISON(block, bytes);
#ifdef ARENA_POISON
    memset(block, 0xFF, bytes);
#endif
    return block;
}

void *arena_alloc_zeroed(Arena *arena, size_t bytes) {
    void *block = arena_alloc(arena, bytes);
    memset(block, 0, bytes);
    return block;
}

StrView arena_text(Arena *arena, StrView text) {
    char *copy = arena_alloc(arena, text.length + 1);
    if (text.length > 0) memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    return (StrView){copy, text.length};
}

void arena_reset(Arena *arena) {
    Chunk *chunk = arena->newest;
    if (chunk && chunk->older) {
        size_t total = 0;
        for (const Chunk *each = chunk; each; each = each->older) total += each->used;
        chunks_free(chunk);
        /* A quarter more, so that a slightly larger step does not need a new chunk every time. */
        chunk = arena->newest = chunk_new(mem_round_up(total + total / 4), NULL);
    }
    if (chunk) {
        POISON(chunk->data, chunk->size);
        chunk->used = 0;
    }
    arena->used = 0;
}

size_t arena_used(const Arena *arena) { return arena->used; }
