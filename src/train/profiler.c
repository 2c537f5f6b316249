/* profiler.c - a profile for each worker, and their sum as a table. */
#include "train/profiler.h"

#include "base/comm.h"
#include "base/log.h"
#include "base/mem.h"

typedef struct {
    _Alignas(64) Profile profile; /* no two threads write to one cache line */
} Seat;

struct Profiler {
    Workers *workers;
    Seat *seat; /* [threads] */
    Phase phase;
    double start;
};

static void on_task(void *context, int thread, bool busy) {
    Profiler *p = context;
    bool alone = workers_count(p->workers) == 1; /* who never waits */
    profile_enter(&p->seat[thread].profile, busy || alone ? p->phase : PHASE_WAITING);
}

Profiler *profiler_new(Workers *workers) {
    Profiler *p = mem_alloc(1, sizeof *p);
    size_t threads = (size_t)workers_count(workers);
    *p = (Profiler){.workers = workers,
                    .seat = mem_aligned(threads, sizeof *p->seat),
                    .phase = PHASE_OTHER,
                    .start = clock_seconds()};
    for (size_t i = 0; i < threads; i++)
        profile_begin(&p->seat[i].profile, i ? PHASE_WAITING : p->phase, p->start);
    workers_watch(workers, on_task, p);
    return p;
}

void profiler_free(Profiler *p) {
    if (!p) return;
    workers_watch(p->workers, NULL, NULL);
    mem_free(p->seat);
    mem_free(p);
}

Phase profiler_phase(Profiler *p, Phase phase) {
    if (!p) return phase;
    p->phase = phase;
    return profile_enter(&p->seat[0].profile, phase);
}

Profile *profiler_thread(Profiler *p, int thread) { return p ? &p->seat[thread].profile : NULL; }

ProfilerSum profiler_sum(Profiler *p) {
    ProfilerSum sum = {0};
    if (!p) return sum;
    double now = clock_seconds();
    sum.threads = workers_count(p->workers);
    sum.wall = now - p->start;
    for (int i = 0; i < sum.threads; i++) {
        Profile *profile = &p->seat[i].profile;
        profile_settle(profile, now);
        for (int phase = 0; phase < PHASE_COUNT; phase++) {
            sum.seconds[phase] += profile->seconds[phase];
            sum.flops[phase] += profile->flops[phase];
        }
    }
    return sum;
}

/* From what the model does over what is done with its gradients to what is left. */
static const Phase ROWS[PHASE_COUNT] = {
    PHASE_DATA,
    PHASE_ENCODER,
    PHASE_ATTENTION,
    PHASE_DECODER,
    PHASE_OUTPUT,
    PHASE_OUTPUT_BACKWARD,
    PHASE_DECODER_BACKWARD,
    PHASE_ATTENTION_BACKWARD,
    PHASE_ENCODER_BACKWARD,
    PHASE_WEIGHT_GRADIENTS,
    PHASE_REDUCE,
    PHASE_UPDATE,
    PHASE_PACK,
    PHASE_EXCHANGE,
    PHASE_VALIDATION,
    PHASE_SAVING,
    PHASE_OTHER,
    PHASE_WAITING,
};

static void report_row(const char *name, double seconds, double all, double flops) {
    double share = all > 0 ? 100 * seconds / all : 0;
    if (flops > 0 && seconds > 0)
        log_info("  %-24s %10.3f %6.1f %% %9.1f", name, seconds, share, 1e-9 * flops / seconds);
    else
        log_info("  %-24s %10.3f %6.1f %%", name, seconds, share);
}

void profiler_report(Profiler *p) {
    if (!p) return;
    ProfilerSum sum = profiler_sum(p);
    double all = sum.threads * sum.wall, counted = 0, flops = 0;
    log_info("profile  %d thread%s, %.3f seconds each; GFLOP/s: matrix products of one thread", sum.threads,
             sum.threads == 1 ? "" : "s", sum.wall);
    log_info("  %-24s %10s %8s %9s", "phase", "seconds", "share", "GFLOP/s");
    for (int row = 0; row < PHASE_COUNT; row++) {
        Phase phase = ROWS[row];
        if (phase == PHASE_EXCHANGE && comm_size() == 1) continue;
        report_row(profile_name(phase), sum.seconds[phase], all, sum.flops[phase]);
        counted += sum.seconds[phase];
        flops += sum.flops[phase];
    }
    report_row("all", counted, all, flops);
}
