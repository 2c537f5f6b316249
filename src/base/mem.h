/* mem.h - heap memory that is either there or ends the program.
 *
 * Running out of memory is the one failure that is not returned as a Status: each call either succeeds or
 * runs the handler that the program installed (print, remove temporary files, exit 1), which never returns.
 * Work that must not end the program runs in a scope (mem_scope.h).
 * Sizes are products checked for overflow.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

enum { MEM_ALIGNMENT = 64 }; /* bytes: a cache line, and the widest vector */

void *mem_alloc(size_t count, size_t size);                 /* zeroed */
void *mem_realloc(void *old, size_t count, size_t size);    /* like realloc; new bytes are not zeroed */
void *mem_aligned(size_t count, size_t size);               /* zeroed, aligned, release with mem_free */
void *mem_aligned_uninitialized(size_t count, size_t size); /* the same, but nobody promises zeros */
/* So many bytes that something aligned can follow. */
static inline size_t mem_round_up(size_t bytes) {
    return (bytes + MEM_ALIGNMENT - 1) / MEM_ALIGNMENT * MEM_ALIGNMENT;
}
/* For programs that do the same work again and again: what is freed stays with the process from now on, up to
 * 64 MB of each thread, because memory that comes anew from the system has to be cleared. */
void mem_retain(void);
/* After mem_retain: give back to the system what was freed so far, except the free end of other threads'
 * arenas. For after something large and rare. */
void mem_trim(void);
char *mem_strdup(const char *text);
char *mem_strndup(const char *text, size_t length);
void mem_free(void *block);

/* Called with the number of bytes that could not be had; must not return. Default: message and exit(1). */
void mem_on_exhausted(void (*handler)(size_t bytes));
/* End the program as if `bytes` could not be had: for sizes that nothing could count or hold. */
_Noreturn void mem_exhausted(size_t bytes);

/* Grow an array geometrically so that it can hold `need` elements: MEM_GROW(list, capacity, need). */
void *mem_grow(void *old, size_t *capacity, size_t need, size_t size);
#define MEM_GROW(array, capacity, need) ((array) = mem_grow((array), &(capacity), (need), sizeof *(array)))

#endif
