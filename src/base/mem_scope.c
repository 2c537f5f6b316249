/* mem_scope.c - a hash table of a scope's blocks, and the long jump out of the work. */
#include "base/mem_scope.h"

#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 256 };

typedef struct {
    void *address; /* NULL: an empty slot */
    size_t bytes;
} Block;

struct MemScope {
    Block *blocks; /* [capacity] linear probing, at most half full */
    size_t capacity, count;
    size_t bytes, limit; /* bytes: of the blocks and of the table beyond its first size */
    int fd;              /* of the file that a long jump closes, or -1 */
    jmp_buf escape;
};

static _Thread_local MemScope *current;

MemScope *mem_scope_new(size_t limit) {
    MemScope *scope = calloc(1, sizeof *scope);
    Block *blocks = calloc(FIRST_CAPACITY, sizeof *blocks);
    if (!scope || !blocks) {
        free(scope);
        free(blocks);
        return NULL;
    }
    scope->blocks = blocks;
    scope->capacity = FIRST_CAPACITY;
    scope->limit = limit;
    scope->fd = -1;
    return scope;
}

/* Bytes of a table beyond the first. */
static size_t table_growth(size_t capacity) { return (capacity - FIRST_CAPACITY) * sizeof(Block); }

static void release_blocks(MemScope *scope) {
    for (size_t i = 0; i < scope->capacity; i++) {
        free(scope->blocks[i].address);
        scope->blocks[i] = (Block){0};
    }
    scope->count = 0;
    scope->bytes = table_growth(scope->capacity);
}

void mem_scope_free(MemScope *scope) {
    if (!scope) return;
    release_blocks(scope);
    free(scope->blocks);
    free(scope);
}

size_t mem_scope_bytes(const MemScope *scope) { return scope->bytes; }

bool mem_scope_active(void) { return current; }

bool mem_scope_run(MemScope *scope, void (*work)(void *context), void *context) {
    MemScope *const outer = current;
    if (setjmp(scope->escape)) {
        current = outer;
        if (scope->fd >= 0) close(scope->fd);
        scope->fd = -1;
        release_blocks(scope);
        return false;
    }
    current = scope;
    work(context);
    current = outer;
    return true;
}

void mem_scope_set_file(int fd) {
    if (current) current->fd = fd;
}

void mem_scope_exhausted(void) {
    if (current) longjmp(current->escape, 1);
}

void mem_scope_check_limit(size_t bytes) {
    if (current && current->limit > 0 && bytes > current->limit - current->bytes) mem_scope_exhausted();
}

/* ---- the table ---- */

static size_t home_of(const MemScope *scope, uintptr_t address) {
    uint64_t mixed = (uint64_t)address * 0x9E3779B97F4A7C15u;
    return (size_t)(mixed >> 32) & (scope->capacity - 1);
}

static size_t next_slot(const MemScope *scope, size_t slot) { return (slot + 1) & (scope->capacity - 1); }

/* The slot of the block, or the empty slot where it belongs. */
static size_t find(const MemScope *scope, uintptr_t address) {
    size_t slot = home_of(scope, address);
    while (scope->blocks[slot].address && (uintptr_t)scope->blocks[slot].address != address)
        slot = next_slot(scope, slot);
    return slot;
}

/* Doubles the table. False if memory or the limit does not allow the table and a block of `bytes`. */
static bool grow(MemScope *scope, size_t bytes) {
    size_t old_capacity = scope->capacity, more = old_capacity * sizeof(Block);
    if (scope->limit > 0 && more + bytes > scope->limit - scope->bytes) return false;
    Block *old = scope->blocks, *blocks = calloc(2 * old_capacity, sizeof *blocks);
    if (!blocks) return false;
    scope->bytes += more;
    scope->blocks = blocks;
    scope->capacity *= 2;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].address) blocks[find(scope, (uintptr_t)old[i].address)] = old[i];
    free(old);
    return true;
}

void mem_scope_add(void *block, size_t bytes) {
    MemScope *scope = current;
    if (!scope) return;
    if (2 * (scope->count + 1) > scope->capacity && !grow(scope, bytes)) {
        free(block);
        mem_scope_exhausted();
    }
    scope->blocks[find(scope, (uintptr_t)block)] = (Block){block, bytes};
    scope->count++;
    scope->bytes += bytes;
}

void mem_scope_remove(uintptr_t address) {
    MemScope *scope = current;
    if (!scope || !address) return;
    size_t hole = find(scope, address);
    if (!scope->blocks[hole].address) return; /* from before the scope */
    scope->bytes -= scope->blocks[hole].bytes;
    scope->count--;
    /* Close the gap: later blocks move into it, unless that would put them before their home slot. */
    for (size_t next = next_slot(scope, hole); scope->blocks[next].address; next = next_slot(scope, next)) {
        size_t home = home_of(scope, (uintptr_t)scope->blocks[next].address);
        size_t from_home = (next - home) & (scope->capacity - 1);
        size_t from_hole = (next - hole) & (scope->capacity - 1);
        if (from_home < from_hole) continue;
        scope->blocks[hole] = scope->blocks[next];
        hole = next;
    }
    scope->blocks[hole] = (Block){0};
}
