/* mem_scope.h - memory that runs out as a value: for programs that must outlive one piece of work.
 *
 * A scope owns every block that its work allocates through mem.h. Where memory runs out, or the scope's limit
 * is reached, the work is left at once and the scope releases all that it owned.
 *
 *     MemScope *scope = mem_scope_new(0);
 *     if (!scope || !mem_scope_run(scope, work, &context)) ...memory ran out
 *     mem_scope_free(scope);
 *
 * The work must leave behind nothing but memory and one file: no lock held, no thread started, no pointer to
 * its blocks in what outlives the scope. workers_new starts no threads in a scope.
 *
 * Owner   mem_scope_free releases the scope and every block of it that is still there
 * Threads a scope is one thread's at a time; a block is freed in its own scope or with it
 * Fails   mem_scope_new: NULL
 */
#ifndef BASE_MEM_SCOPE_H
#define BASE_MEM_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct MemScope MemScope;

MemScope *mem_scope_new(size_t limit); /* bytes of its blocks and of their list at a time; 0: no limit */
void mem_scope_free(MemScope *scope);
/* False: memory ran out, and the scope is empty. */
bool mem_scope_run(MemScope *scope, void (*work)(void *context), void *context);
bool mem_scope_active(void); /* does this thread work in a scope? */
/* The file that this thread has open while it allocates, closed if the work is left; -1: none any more. */
void mem_scope_file(int fd);

/* For mem.c alone. */
void mem_scope_admit(size_t bytes); /* leaves the work if these would be too many */
void mem_scope_add(void *block, size_t bytes);
void mem_scope_remove(uintptr_t address);
void mem_scope_exhausted(void); /* leaves the work; returns where there is none */

#endif
