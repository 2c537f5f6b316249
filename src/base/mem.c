/* mem.c - checked allocation. */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include "base/mem_scope.h"

enum { HUGE_PAGE = 2 << 20, RETAIN_BLOCK = 32 << 20, RETAIN_TOTAL = 16 << 20 }; /* bytes */

static void exhausted_default(size_t bytes) {
    fprintf(stderr, "attn-mt: out of memory (%zu bytes)\n", bytes);
}

static void (*exhausted)(size_t bytes) = exhausted_default;

void mem_on_exhausted(void (*handler)(size_t bytes)) { exhausted = handler ? handler : exhausted_default; }

_Noreturn void mem_exhausted(size_t bytes) {
    mem_scope_exhausted();
    exhausted(bytes);
    exit(1);
}

/* Bytes of an array; never 0, so that every block has an address of its own. */
static size_t array_bytes(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX) mem_exhausted(SIZE_MAX);
    return bytes ? bytes : 1;
}

/* The end of every allocation; `block` is NULL if the allocation failed. */
static void *register_block(void *block, size_t bytes) {
    if (!block) mem_exhausted(bytes);
    mem_scope_add(block, bytes);
    return block;
}

void *mem_alloc(size_t count, size_t size) {
    size_t bytes = array_bytes(count, size);
    mem_scope_check_limit(bytes);
    return register_block(calloc(1, bytes), bytes);
}

void *mem_realloc(void *old, size_t count, size_t size) {
    size_t bytes = array_bytes(count, size);
    mem_scope_check_limit(bytes);
    uintptr_t address = (uintptr_t)old;
    void *block = realloc(old, bytes);
    if (block) mem_scope_remove(address);
    return register_block(block, bytes);
}

#ifdef M_MMAP_THRESHOLD
static atomic_bool configured; /* glibc's thresholds */

/* From now on freed large blocks go back to the system. By default glibc keeps more and more of them. */
static void return_large(void) {
    if (!atomic_exchange(&configured, true)) mallopt(M_MMAP_THRESHOLD, HUGE_PAGE);
}

void mem_retain(void) {
    atomic_store(&configured, true);
    mallopt(M_MMAP_THRESHOLD, RETAIN_BLOCK);
    mallopt(M_TRIM_THRESHOLD, RETAIN_TOTAL);
}

/* malloc_trim leaves the free end of each arena but the first. A thread that frees a block of this size cuts
 * the end of its own arena if that exceeds M_TRIM_THRESHOLD. */
enum { TRIMMING_BLOCK = 128 << 10 };
/* From the end of the arena: too large for the thread's cache of small blocks. */
enum { END_BLOCK = 4 << 10 };

void mem_trim(void) {
    mallopt(M_TRIM_THRESHOLD, 0);
    void *volatile block = malloc(TRIMMING_BLOCK); /* volatile: compilers remove free(malloc()) */
    free(block);
    mallopt(M_TRIM_THRESHOLD, RETAIN_TOTAL);
    malloc_trim(0);
}

void *mem_reserve(void) {
    void *volatile room = malloc(RETAIN_BLOCK - HUGE_PAGE); /* volatile: as above */
    void *end = malloc(END_BLOCK);
    free(room);
    return end;
}
#else
static void return_large(void) {}
void mem_retain(void) {}
void mem_trim(void) {}
void *mem_reserve(void) { return NULL; }
#endif

/* Large blocks are the weights and activations that matrix products walk through: on pages of 2 MB they cost
 * far fewer address translations. In a scope the process may belong to another
 * program, whose settings must not change. */
static void *huge_block(size_t bytes) {
    if (!mem_scope_active()) return_large();
#ifdef MADV_HUGEPAGE
    void *block = aligned_alloc(HUGE_PAGE, bytes);
    if (block) madvise(block, bytes, MADV_HUGEPAGE); /* advice: nothing depends on it */
    return block;
#else
    return aligned_alloc(MEM_ALIGNMENT, bytes);
#endif
}

void *mem_aligned_uninitialized(size_t count, size_t size) {
    size_t bytes = array_bytes(count, size);
    if (bytes > PTRDIFF_MAX - HUGE_PAGE) mem_exhausted(bytes);
    bool huge = bytes >= 2 * HUGE_PAGE;
    size_t unit = huge ? HUGE_PAGE : MEM_ALIGNMENT;
    bytes = (bytes + unit - 1) / unit * unit;
    mem_scope_check_limit(bytes);
    return register_block(huge ? huge_block(bytes) : aligned_alloc(MEM_ALIGNMENT, bytes), bytes);
}

void *mem_aligned(size_t count, size_t size) {
    void *block = mem_aligned_uninitialized(count, size);
    memset(block, 0, array_bytes(count, size));
    return block;
}

char *mem_strdup(const char *text) { return mem_strndup(text, strlen(text)); }

char *mem_strndup(const char *text, size_t length) {
    if (length == SIZE_MAX) mem_exhausted(length);
    char *copy = mem_alloc(length + 1, 1);
    if (length) memcpy(copy, text, length);
    return copy;
}

void mem_free(void *block) {
    mem_scope_remove((uintptr_t)block);
    free(block);
}

void *mem_grow(void *old, size_t *capacity, size_t need, size_t size) {
    if (need <= *capacity && old) return old;
    size_t bigger = *capacity < 8 ? 8 : *capacity;
    while (bigger < need) {
        size_t half = bigger / 2;
        if (bigger > SIZE_MAX - half) mem_exhausted(SIZE_MAX);
        bigger += half;
    }
    void *block = mem_realloc(old, bigger, size);
    *capacity = bigger;
    return block;
}
