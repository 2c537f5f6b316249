/* workers.c - pthreads that spin for a moment before they sleep.
 *
 * `remaining` counts the tasks that no thread has taken; a thread that lowers it owns a task. All other
 * fields of the job are written before `remaining` is raised, and do not change before all taken tasks are
 * finished. So a late thread finds either no task or a task of the current job.
 */
#include "base/workers.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif
#include "base/mem.h"
#include "base/mem_scope.h"
#include "base/signals.h"

/* Waking a sleeping thread takes some 50 us; the jobs of one training step follow each other faster. */
static const long SPIN_NANOSECONDS = 30000;
static const size_t STACK_BYTES = 4u << 20;

typedef struct {
    Workers *team;
    int number;
    pthread_t id;
} Worker;

struct Workers {
    int threads; /* with the caller */
    Worker *extra;
    WorkerTask task;
    void *context;
    int count;
    atomic_int remaining;  /* tasks not yet taken */
    atomic_int unfinished; /* tasks not yet done */
    atomic_bool stop;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    const volatile sig_atomic_t *stop_on; /* or NULL */
};

static void cpu_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static long now_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec % 1000000 * 1000000000L + now.tv_nsec;
}

static bool has_work_or_stops(Workers *team) {
    return atomic_load_explicit(&team->remaining, memory_order_relaxed) > 0 || atomic_load(&team->stop);
}

static bool is_done(Workers *team) {
    return atomic_load_explicit(&team->unfinished, memory_order_acquire) == 0;
}

static bool spin_until(bool (*condition)(Workers *), Workers *team) {
    long start = now_nanoseconds();
    do {
        for (int i = 0; i < 16; i++) {
            if (condition(team)) return true;
            cpu_relax();
        }
    } while (now_nanoseconds() - start < SPIN_NANOSECONDS);
    return false;
}

static bool skips_tasks(const Workers *team) { return team->stop_on && *team->stop_on; }

/* Takes and runs tasks until none is left. */
static void run_tasks(Workers *team, int thread) {
    int left = atomic_load_explicit(&team->remaining, memory_order_acquire);
    while (left > 0) {
        if (!atomic_compare_exchange_weak_explicit(&team->remaining, &left, left - 1, memory_order_acq_rel,
                                                   memory_order_acquire))
            continue;
        if (!skips_tasks(team)) team->task(team->context, team->count - left, thread);
        if (atomic_fetch_sub_explicit(&team->unfinished, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&team->lock);
            pthread_cond_signal(&team->done);
            pthread_mutex_unlock(&team->lock);
        }
        left = atomic_load_explicit(&team->remaining, memory_order_acquire);
    }
}

static void *worker_main(void *argument) {
    Worker *worker = argument;
    Workers *team = worker->team;
    for (;;) {
        if (!spin_until(has_work_or_stops, team)) {
            pthread_mutex_lock(&team->lock);
            while (!has_work_or_stops(team)) pthread_cond_wait(&team->work, &team->lock);
            pthread_mutex_unlock(&team->lock);
        }
        if (atomic_load(&team->stop)) return NULL;
        run_tasks(team, worker->number);
    }
}

/* The threads block all signals, which go to the thread that called workers_new. If a thread cannot be
 * created, the team is smaller. */
static void start_threads(Workers *team, int threads) {
    sigset_t before = signals_block();
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (team->threads < threads) {
        Worker *worker = &team->extra[team->threads - 1];
        *worker = (Worker){.team = team, .number = team->threads};
        if (pthread_create(&worker->id, &attributes, worker_main, worker) != 0) break;
        team->threads++;
    }
    pthread_attr_destroy(&attributes);
    signals_restore(before);
}

Workers *workers_new(int threads) {
    Workers *team = mem_alloc(1, sizeof *team);
    team->threads = 1;
    atomic_init(&team->remaining, 0);
    atomic_init(&team->unfinished, 0);
    atomic_init(&team->stop, false);
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->work, NULL);
    pthread_cond_init(&team->done, NULL);
    if (threads > 1 && !mem_scope_active()) {
        team->extra = mem_alloc((size_t)threads - 1, sizeof *team->extra);
        start_threads(team, threads);
    }
    return team;
}

void workers_free(Workers *team) {
    if (!team) return;
    assert(is_done(team));
    pthread_mutex_lock(&team->lock);
    atomic_store(&team->stop, true);
    pthread_cond_broadcast(&team->work);
    pthread_mutex_unlock(&team->lock);
    for (int i = 0; i < team->threads - 1; i++) pthread_join(team->extra[i].id, NULL);
    pthread_cond_destroy(&team->work);
    pthread_cond_destroy(&team->done);
    pthread_mutex_destroy(&team->lock);
    mem_free(team->extra);
    mem_free(team);
}

int workers_count(const Workers *team) { return team->threads; }

void workers_stop_on(Workers *team, const volatile sig_atomic_t *stop) {
    assert(is_done(team));
    team->stop_on = stop;
}

void workers_run(Workers *team, int count, WorkerTask task, void *context) {
    if (team->threads == 1 || count <= 1) {
        for (int i = 0; i < count && !skips_tasks(team); i++) task(context, i, 0);
        return;
    }
    assert(is_done(team)); /* a task must not start tasks on its own team */
    pthread_mutex_lock(&team->lock);
    team->task = task;
    team->context = context;
    team->count = count;
    atomic_store_explicit(&team->unfinished, count, memory_order_relaxed);
    atomic_store_explicit(&team->remaining, count, memory_order_release);
    pthread_cond_broadcast(&team->work);
    pthread_mutex_unlock(&team->lock);
    run_tasks(team, 0);
    if (spin_until(is_done, team)) return;
    pthread_mutex_lock(&team->lock);
    while (!is_done(team)) pthread_cond_wait(&team->done, &team->lock);
    pthread_mutex_unlock(&team->lock);
}

#ifdef __linux__
/* The lowest CPU this process may use among the hardware threads of the core of `cpu`, or `cpu` itself. */
static int first_sibling(int cpu, const cpu_set_t *usable) {
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *file = fopen(path, "re");
    if (!file) return cpu;
    int first = cpu, low, high;
    /* Ranges and single numbers: "0-1" or "0,32". */
    while (fscanf(file, "%d", &low) == 1) {
        int separator = fgetc(file);
        high = low;
        if (separator == '-') {
            if (fscanf(file, "%d", &high) != 1) break;
            separator = fgetc(file);
        }
        for (int i = low; i <= high && i < first; i++)
            if (i >= 0 && CPU_ISSET((size_t)i, usable)) first = i;
        if (separator != ',') break;
    }
    fclose(file);
    return first;
}

/* The CPU quota of a container in cores, or 0 without one. */
static int quota_cores(void) {
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (!file) return 0;
    long quota = 0, period = 0;
    int cores = 0;
    if (fscanf(file, "%ld %ld", &quota, &period) == 2 && quota > 0 && period > 0)
        cores = (int)((quota + period - 1) / period);
    fclose(file);
    return cores;
}

int workers_default_count(void) {
    cpu_set_t usable;
    CPU_ZERO(&usable);
    int cores = 0;
    if (sched_getaffinity(0, sizeof usable, &usable) == 0) {
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET((size_t)cpu, &usable)) cores += first_sibling(cpu, &usable) == cpu;
    } else {
        cores = (int)sysconf(_SC_NPROCESSORS_ONLN); /* more CPUs than the mask can hold */
    }
    int quota = quota_cores();
    if (quota > 0 && quota < cores) cores = quota;
    return cores > 0 ? cores : 1;
}
#else
int workers_default_count(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (int)cores : 1;
}
#endif
