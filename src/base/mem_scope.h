/* mem_scope.h - exhausted memory as a result: for programs that must outlive the work that needed too much.
 *
 * A scope owns every block that its work allocates through mem.h. If memory runs out, or the scope's limit is
 * reached, a long jump leaves the work, and the scope releases all its blocks.
 *
 *     MemScope *scope = mem_scope_new(0);
 *     if (!scope || !mem_scope_run(scope, work, &context)) ...memory is exhausted
 *     mem_scope_free(scope);
 *
 * At the long jump the work may own only blocks of mem.h and one file (mem_scope_set_file): no lock, no
 * thread, no block of malloc. Nothing that outlives the scope may point to its blocks. workers_new starts no
 * threads in a scope.
 *
 * Owner   mem_scope_free releases the scope and its remaining blocks
 * Threads one thread at a time uses a scope; a block is freed in its own scope or together with it
 * Fails   mem_scope_new: NULL
 */
#ifndef BASE_MEM_SCOPE_H
#define BASE_MEM_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct MemScope MemScope;

MemScope *mem_scope_new(size_t limit); /* greatest sum of its blocks and their table in bytes; 0: no limit */
void mem_scope_free(MemScope *scope);
/* False: memory ran out; the scope is now empty. */
bool mem_scope_run(MemScope *scope, void (*work)(void *context), void *context);
size_t mem_scope_bytes(const MemScope *scope); /* of its blocks and their table now */
bool mem_scope_active(void);                   /* does this thread run in a scope? */
/* The file descriptor that the work has open while it allocates; a long jump closes it. -1: none any more. */
void mem_scope_set_file(int fd);

/* For mem.c alone. */
void mem_scope_check_limit(size_t bytes); /* leaves the work if `bytes` more would exceed the limit */
void mem_scope_add(void *block, size_t bytes);
void mem_scope_remove(uintptr_t address);
void mem_scope_exhausted(void); /* leaves the work; returns if this thread runs in no scope */

#endif
