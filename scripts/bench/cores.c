/* cores.c - the updates of a configuration with several numbers of threads, the hash of the model beside
 * each; and with numbers of threads that this machine may not have, by simulation.
 *
 * The simulation takes the processor time of every task of some updates, one after the other on one thread,
 * and of what is done between them. Then it deals the tasks of each round of work to N threads as workers.c
 * does, the next task to the thread that is free first. Rounds of the optimizer go over memory and do little
 * with it: they gain from MEMORY_THREADS threads at most.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "bench/bench.h"

enum { MEMORY_THREADS = 8, NUMBERS = 16 };
static const double ROUND_SECONDS = 8e-6; /* to begin a round of work and to wait for its end */

/* ---- numbers of threads -------------------------------------------------------------------------------- */

static int parse_numbers(const char *text, int numbers[NUMBERS]) {
    int count = 0;
    while (text && *text && count < NUMBERS) {
        char *end;
        long n = strtol(text, &end, 10);
        if (end == text) {
            text++;
        } else {
            if (n > 0 && n <= 1024) numbers[count++] = (int)n;
            text = end;
        }
    }
    return count;
}

/* ---- speed --------------------------------------------------------------------------------------------- */

static void hash_model(const Seq2Seq *model, char hex[65]) {
    const ParamSet *params = seq2seq_params(model);
    Sha256 hash;
    sha256_begin(&hash);
    sha256_add(&hash, params->data, params->size * sizeof(real));
    sha256_end(&hash, hex);
}

static Status run_updates(TrainLoop *loop, int count) {
    for (int i = 0; i < count; i++) TRY(train_loop_update(loop));
    return STATUS_OK;
}

/* So many that memory for batches of long sentences is there. */
static Status warm_up(const Bench *bench, TrainLoop *loop) {
    return run_updates(loop, bench->options.quick ? 2 : 12);
}

static TrainLoop *loop_new(const Bench *bench, Workers *workers) {
    return train_loop_new(bench->config, &bench->train, bench->source, bench->target, workers);
}

/* Seconds of an update on the wall; the model after all updates goes into `hex`. */
static Status measure_threads(const Bench *bench, int threads, int updates, double *seconds, char hex[65]) {
    Workers *workers = workers_new(threads);
    TrainLoop *loop = loop_new(bench, workers);
    Status status = warm_up(bench, loop);
    double begin = clock_seconds();
    if (status == STATUS_OK) status = run_updates(loop, updates);
    *seconds = (clock_seconds() - begin) / updates;
    Seq2Seq *model = train_loop_end(loop);
    hash_model(model, hex);
    seq2seq_free(model);
    workers_free(workers);
    return status;
}

/* ---- the tasks of an update ---------------------------------------------------------------------------- */

typedef struct {
    double serial; /* before it, on one thread */
    bool memory;   /* bound by it */
    double *tasks; /* seconds */
    size_t count, capacity;
} Round;

typedef struct {
    TrainLoop *loop;
    Round *rounds;
    size_t count, capacity;
    double since, serial;
    bool in_task, in_round;
} Trace;

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void begin_round(Trace *t, double now) {
    MEM_GROW(t->rounds, t->capacity, t->count + 1);
    t->rounds[t->count++] = (Round){.serial = t->serial + now - t->since};
    t->serial = 0;
    t->in_round = true;
}

/* Of one thread: busy and not for each task, then not, and busy again for what follows the round. */
static void on_task(void *context, int thread, bool busy) {
    Trace *t = context;
    double now = processor_seconds();
    (void)thread;
    if (busy && !t->in_task && t->in_round && t->since < 0) { /* the round is over */
        t->in_round = false;
        t->since = now;
        return;
    }
    if (busy) {
        if (!t->in_round) begin_round(t, now);
        t->in_task = true;
    } else if (t->in_task) {
        Round *round = &t->rounds[t->count - 1];
        MEM_GROW(round->tasks, round->capacity, round->count + 1);
        round->tasks[round->count++] = now - t->since;
        t->in_task = false;
    } else {
        t->since = -1;
        return;
    }
    t->since = now;
}

static void trace_free(Trace *t) {
    for (size_t i = 0; i < t->count; i++) mem_free(t->rounds[i].tasks);
    mem_free(t->rounds);
}

/* The last three rounds of an update are the optimizer's: sum and norm, update, packed copies. */
static void mark_memory(Trace *t, size_t first) {
    for (size_t i = t->count >= first + 3 ? t->count - 3 : first; i < t->count; i++)
        t->rounds[i].memory = true;
}

/* As `threads` would have them. */
static Status trace_updates(const Bench *bench, int threads, int updates, Trace *t) {
    Workers *workers = workers_new(1);
    TrainLoop *loop = loop_new(bench, workers);
    shards_plan_for(loop->shards, threads);
    Status status = warm_up(bench, loop);
    workers_watch(workers, on_task, t);
    t->since = processor_seconds();
    for (int i = 0; i < updates && status == STATUS_OK; i++) {
        size_t first = t->count;
        status = run_updates(loop, 1);
        mark_memory(t, first);
    }
    t->serial += processor_seconds() - t->since;
    workers_watch(workers, NULL, NULL);
    seq2seq_free(train_loop_end(loop));
    workers_free(workers);
    return status;
}

/* ---- simulation ---------------------------------------------------------------------------------------- */

/* Each task goes to the thread that is free first. */
static double makespan(const Round *round, int threads) {
    double *busy = mem_alloc((size_t)threads, sizeof *busy), end = 0;
    for (size_t i = 0; i < round->count; i++) {
        int free = 0;
        for (int t = 1; t < threads; t++)
            if (busy[t] < busy[free]) free = t;
        busy[free] += round->tasks[i];
        end = fmax(end, busy[free]);
    }
    mem_free(busy);
    return end;
}

typedef struct {
    double total, serial, rounds, memory, idle; /* seconds of all updates on the wall */
} Simulation;

static Simulation simulate(const Trace *t, int threads) {
    Simulation s = {.serial = t->serial};
    for (size_t i = 0; i < t->count; i++) {
        const Round *round = &t->rounds[i];
        int team = round->memory && threads > MEMORY_THREADS ? MEMORY_THREADS : threads;
        double span = makespan(round, team), work = 0;
        for (size_t j = 0; j < round->count; j++) work += round->tasks[j];
        s.serial += round->serial;
        if (threads > 1) s.rounds += ROUND_SECONDS;
        if (round->memory)
            s.memory += span;
        else
            s.idle += span - work / team;
        s.total += span;
    }
    s.total += s.serial + s.rounds;
    return s;
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static Status show_speeds(Bench *bench, const int *numbers, int count, int updates, double *measured) {
    StrBuf text = {0};
    Status status = STATUS_OK;
    strbuf_format(&text, "\n%8s  %10s  %8s  %s\n", "threads", "ms/update", "speed-up", "model");
    for (int i = 0; i < count && status == STATUS_OK; i++) {
        char hex[65];
        status = measure_threads(bench, numbers[i], updates, &measured[i], hex);
        strbuf_format(&text, "%8d  %10.1f  %8.2f  %.16s\n", numbers[i], 1e3 * measured[i],
                      measured[0] / measured[i], hex);
    }
    if (status == STATUS_OK) status = bench_write("-", strbuf_view(&text));
    strbuf_free(&text);
    return status;
}

static Status show_simulation(const Bench *bench, const int *numbers, int count, int updates) {
    StrBuf text = {0};
    Status status = STATUS_OK;
    double one = 0, ms = 1e3 / updates;
    strbuf_format(&text, "\nSimulated, ms for an update\n%8s  %8s  %8s  %8s  %8s  %8s  %8s\n", "threads",
                  "all", "speed-up", "serial", "rounds", "memory", "uneven");
    for (int i = -1; i < count && status == STATUS_OK; i++) { /* first of all one thread */
        Trace trace = {0};
        int threads = i < 0 ? 1 : numbers[i];
        status = trace_updates(bench, threads, updates, &trace);
        Simulation s = simulate(&trace, threads);
        trace_free(&trace);
        if (i < 0) one = s.total;
        if (i < 0) continue;
        strbuf_format(&text, "%8d  %8.1f  %8.2f  %8.2f  %8.2f  %8.2f  %8.2f\n", threads, ms * s.total,
                      one / s.total, ms * s.serial, ms * s.rounds, ms * s.memory, ms * s.idle);
    }
    strbuf_format(&text,
                  "serial: between rounds of work. rounds: beginning and ending them. memory: passes of the\n"
                  "optimizer, %d threads at most. uneven: threads without a task at the end of a round.\n",
                  MEMORY_THREADS);
    if (status == STATUS_OK) status = bench_write("-", strbuf_view(&text));
    strbuf_free(&text);
    return status;
}

Status bench_cores(Bench *bench) {
    int numbers[NUMBERS], simulated[NUMBERS], updates = bench->options.quick ? 2 : 20;
    int count = parse_numbers(bench->options.thread_list, numbers);
    int more = parse_numbers(bench->options.simulate, simulated);
    double measured[NUMBERS];
    if (count + more == 0) return status_fail(STATUS_USAGE, "no numbers of threads");
    TRY(bench_subject(bench));
    if (count) TRY(show_speeds(bench, numbers, count, updates, measured));
    return more ? show_simulation(bench, simulated, more, updates) : STATUS_OK;
}
