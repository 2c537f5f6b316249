/* arena.h - memory for everything that lives as long as one step of work.
 *
 * An allocation advances a pointer; a reset frees all blocks at once. After the first few resets the arena is
 * one chunk of the largest size ever needed, so the loop that uses it does not call malloc.
 *
 * Owner   the arena owns its blocks, until arena_reset or arena_free
 * Fails   never; mem.h handles exhausted memory
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>
#include "base/strview.h"

typedef struct Arena Arena;

Arena *arena_new(void);
void arena_free(Arena *arena);
void *arena_alloc(Arena *arena, size_t bytes); /* 64-byte aligned, not zeroed */
void *arena_alloc_zeroed(Arena *arena, size_t bytes);
StrView arena_text(Arena *arena, StrView text); /* a copy that ends with NUL */
void arena_reset(Arena *arena);
size_t arena_used(const Arena *arena); /* bytes allocated since the last reset */

#endif
