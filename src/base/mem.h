/* mem.h - heap memory; a failed allocation ends the program.
 *
 * Exhausted memory is the one failure that is not returned as a Status: each call either succeeds or runs the
 * handler that the program installed (print, remove temporary files, exit 1), which never returns. Work that
 * must not end the program runs in a scope (mem_scope.h). Sizes are products checked for overflow.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

enum { MEM_ALIGNMENT = 64 }; /* bytes: a cache line, and the widest vector */

void *mem_alloc(size_t count, size_t size);                 /* zeroed */
void *mem_realloc(void *old, size_t count, size_t size);    /* like realloc; new bytes are not zeroed */
void *mem_aligned(size_t count, size_t size);               /* zeroed, aligned, release with mem_free */
void *mem_aligned_uninitialized(size_t count, size_t size); /* like mem_aligned, not zeroed */
/* The next multiple of MEM_ALIGNMENT. */
static inline size_t mem_round_up(size_t bytes) {
    return (bytes + MEM_ALIGNMENT - 1) / MEM_ALIGNMENT * MEM_ALIGNMENT;
}
/* For programs that repeat the same work, such as a server: from now on the process keeps freed memory, up to
 * 16 MB per thread, or what mem_reserve says. The system would have to clear new memory. */
void mem_retain(void);
/* After mem_retain: returns the freed memory to the system, except the free end of other threads' arenas. For
 * use after work that was large and is rare. */
void mem_trim(void);
/* For a thread that works after mem_retain: the next 30 MB that it frees stay in the process until mem_trim.
 * They are address space alone until they are used. Returns a block to free at the thread's end. */
void *mem_reserve(void);
char *mem_strdup(const char *text);
char *mem_strndup(const char *text, size_t length);
void mem_free(void *block);

/* The handler gets the number of bytes of the failed allocation and must not return. Default: message and
 * exit(1). */
void mem_on_exhausted(void (*handler)(size_t bytes));
/* Ends the program like a failed allocation of `bytes`: for sizes that overflow or are too large. */
_Noreturn void mem_exhausted(size_t bytes);

/* Grows an array geometrically so that it can hold `need` elements: MEM_GROW(list, capacity, need). */
void *mem_grow(void *old, size_t *capacity, size_t need, size_t size);
#define MEM_GROW(array, capacity, need) ((array) = mem_grow((array), &(capacity), (need), sizeof *(array)))

#endif
