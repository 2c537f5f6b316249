/* profiler.h - where the threads of a training run spend their time: attn-mt train --profile.
 *
 * One Profile (num/profile.h) for each thread. The calling thread says what it is about to do; the tasks
 * that it starts on its workers begin in that phase, and a thread without a task is waiting. So the times
 * of all phases add up to the number of threads times the time on the wall.
 *
 * Owner   `workers` must outlive the profiler
 * Fails   never; every function takes NULL for "no profile is wanted" and then does nothing
 */
#ifndef TRAIN_PROFILER_H
#define TRAIN_PROFILER_H

#include "base/workers.h"
#include "num/profile.h"

typedef struct Profiler Profiler;

typedef struct {
    int threads;
    double wall;                                     /* seconds */
    double seconds[PHASE_COUNT], flops[PHASE_COUNT]; /* of all threads */
} ProfilerSum;

Profiler *profiler_new(Workers *workers); /* the clock runs from here */
void profiler_free(Profiler *profiler);
/* What the calling thread and the tasks that it starts do from now on; returns the phase before. Not inside
 * a task. */
Phase profiler_phase(Profiler *profiler, Phase phase);
Profile *profiler_thread(Profiler *profiler, int thread);
/* Everything so far. Not inside a task. */
ProfilerSum profiler_sum(Profiler *profiler);
/* The same as a table in the log. */
void profiler_report(Profiler *profiler);

#endif
