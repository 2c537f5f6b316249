/* signals.h - keeps signals away from helper threads.
 *
 * A thread begins with the mask of the thread that creates it. So threads that are created between
 * signals_block and signals_restore get no signals, and the handlers run on the program's first thread alone:
 * they and the code that reads their flags cannot run at the same time.
 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

#include <pthread.h>
#include <signal.h>

/* Blocks all signals for the calling thread and returns its mask. */
static inline sigset_t signals_block(void) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    return before;
}

static inline void signals_restore(sigset_t before) { pthread_sigmask(SIG_SETMASK, &before, NULL); }

#endif
