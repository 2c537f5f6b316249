/* workers.h - a fixed team of threads that run numbered tasks.
 *
 * The caller takes part in the work. Which thread runs which task is not fixed, so tasks must not depend on
 * it; the number of threads decides only the time.
 */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include <signal.h>
#include <stdbool.h>

typedef struct Workers Workers;
typedef void (*WorkerTask)(void *context, int task,
                           int thread); /* thread: 0..threads-1, for scratch memory */

Workers *workers_new(int threads); /* 1 = no extra thread; nor in a scope (mem_scope.h) */
void workers_free(Workers *workers);
int workers_count(const Workers *workers);
/* Run task 0..count-1, return when all are done. */
void workers_run(Workers *workers, int count, WorkerTask task, void *context);
/* While *stop is not 0, tasks that have not begun are left out: whoever asks for this must not use what they
 * would have made. NULL: all run. Not while tasks run. */
void workers_stop_on(Workers *workers, const volatile sig_atomic_t *stop);
int workers_default_count(void); /* physical cores this process may use */

#endif
