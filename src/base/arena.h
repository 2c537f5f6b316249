/* arena.h - memory for everything that lives as long as one step of work.
 *
 * Blocks are handed out by advancing a pointer and taken back all at once. After the first few resets the
 * arena is one block of the largest size ever needed, so the loop that uses it does not allocate.
 *
 * Owner   the arena owns what it hands out, until arena_reset or arena_free
 * Fails   never; exhausted memory is mem.h's business
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
StrView arena_text(Arena *arena, StrView text); /* a copy with a 0 byte behind it */
void arena_reset(Arena *arena);
size_t arena_used(const Arena *arena); /* bytes handed out since the last reset */

#endif
