/* workers.h - a team of threads that run numbered tasks: a parallel for loop.
 *
 * The caller's thread runs tasks too. Any thread may run any task, so the result of a task must not depend on
 * its thread. The number of threads changes only the time.
 */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include <signal.h>
#include <stdbool.h>

typedef struct Workers Workers;
/* `thread` is 0..threads-1, for scratch memory. */
typedef void (*WorkerTask)(void *context, int task, int thread);

Workers *workers_new(int threads); /* 1, or in a scope (mem_scope.h): no extra thread */
void workers_free(Workers *workers);
int workers_count(const Workers *workers);
/* Runs tasks 0..count-1 and returns when all are done. */
void workers_run(Workers *workers, int count, WorkerTask task, void *context);
/* While *stop is not 0, tasks that have not begun are skipped; the caller must not use their results. NULL:
 * all tasks run. Must not be called while tasks run. */
void workers_stop_on(Workers *workers, const volatile sig_atomic_t *stop);
int workers_default_count(void); /* physical cores this process may use */

#endif
