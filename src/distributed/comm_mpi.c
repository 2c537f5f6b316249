/* comm_mpi.c - comm.h with MPI.
 *
 * There are two communicators: one for the exchanges of the main thread, one for the heartbeats of a listener
 * thread. Every rank sends a beat to every other rank each second or more often; the beat carries the signal
 * that the rank has received. A rank that computes or saves for minutes still beats. A rank that is stopped,
 * killed or cut off does not.
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "distributed/comm.h"
#include "distributed/group.h"
#include "io/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/signals.h"

static const size_t LARGEST = (size_t)1 << 30; /* bytes of a message: MPI counts them with an int */
enum { TAG = 1, BYE = -1 };

/* One other rank, as the listener sees it. */
typedef struct {
    double last_beat;          /* the clock then */
    int in_signal, out_signal; /* the buffers of `in` and `out`: a signal, BYE, or 0 */
    MPI_Request in, out;
    bool left;     /* it has sent BYE */
    bool bye_sent; /* by this rank */
    bool sending;  /* `out` is not complete */
} Peer;

static struct {
    bool started;
    int rank, size;
    MPI_Comm data, beats;
    char (*hosts)[64];
    volatile sig_atomic_t *stop;
    pthread_t thread;
    atomic_bool leaving;
    _Atomic double timeout;
} comm = {.size = 1, .timeout = 60};

int comm_rank(void) { return comm.rank; }
int comm_size(void) { return comm.size; }
void comm_timeout(double seconds) { comm.timeout = seconds; }

const char *comm_host(int rank) { return comm.hosts ? comm.hosts[rank] : "here"; }

const char *comm_library(void) {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = '\0';
    for (char *c = text; *c; c++)
        if (*c == '\t') *c = ' ';
    return text;
}

/* ---- abort --------------------------------------------------------------------------------------------- */

static int exit_code;

static void on_alarm(int number) {
    (void)number;
    _exit(exit_code);
}

/* A launcher ends as soon as a process fails, and messages that it has not read by then are lost. */
static void let_launcher_read(void) { nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL); }

/* The alarm ends the process if MPI_Abort waits for a machine that does not answer. */
_Noreturn void comm_abort(int code) {
    file_discard_all();
    exit_code = code;
    signal(SIGALRM, on_alarm);
    alarm(2);
    let_launcher_read();
    if (comm.started) MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}

/* Names all ranks without a beat for half the limit, which is 10 beats: the ranks of a machine fall silent
 * together, but not at the same moment. */
static _Noreturn void abort_for_silence(const Peer *peers, double now, double limit) {
    char names[512] = "";
    size_t length = 0;
    int missing = 0;
    for (int r = 0; r < comm.size; r++) {
        double silence = now - peers[r].last_beat;
        if (r == comm.rank || peers[r].left || silence <= limit / 2) continue;
        int added = snprintf(names + length, sizeof names - length, "%srank %d on %s for %.1f seconds",
                             missing++ ? ", " : "", r, comm_host(r), silence);
        if (added > 0 && length + (size_t)added < sizeof names) length += (size_t)added;
    }
    names[length] = '\0';
    status_fail(STATUS_LOST, "no message arrived from %s", names);
    status_hint(STATUS_LOST,
                "killed, stopped or cut off; the same command with --resume continues from the last "
                "save, with any number of ranks");
    log_failure();
    comm_abort(STATUS_LOST);
}

/* ---- the listener -------------------------------------------------------------------------------------- */

static void receive_beat(Peer *p, int rank) {
    MPI_Irecv(&p->in_signal, 1, MPI_INT, rank, TAG, comm.beats, &p->in);
}

static bool is_done(MPI_Request *request) {
    int done = 0;
    return MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done;
}

static void take_beats(Peer *p, int rank, double now) {
    while (!p->left && is_done(&p->in)) {
        p->last_beat = now;
        p->left = p->in_signal == BYE;
        if (p->in_signal > 0 && comm.stop && !*comm.stop) *comm.stop = p->in_signal;
        if (!p->left) receive_beat(p, rank);
    }
}

static void send_beat(Peer *p, int rank, bool leaving) {
    if (p->sending && !is_done(&p->out)) return;
    p->sending = false;
    if (p->bye_sent) return;
    p->out_signal = leaving ? BYE : comm.stop ? (int)*comm.stop : 0;
    p->bye_sent = leaving;
    p->sending = MPI_Isend(&p->out_signal, 1, MPI_INT, rank, TAG, comm.beats, &p->out) == MPI_SUCCESS;
}

/* Sends and receives beats. Returns whether this rank leaves and every BYE has arrived. */
static bool exchange_beats(Peer *peers, double now, bool time_to_beat) {
    bool leaving = atomic_load(&comm.leaving), over = leaving;
    for (int r = 0; r < comm.size; r++) {
        if (r == comm.rank) continue;
        Peer *p = &peers[r];
        if (time_to_beat || leaving) send_beat(p, r, leaving);
        take_beats(p, r, now);
        over = over && p->left && p->bye_sent && !p->sending;
    }
    return over;
}

/* A process that was itself stopped for `seconds` could not receive beats: the others were not silent. */
static void forgive(Peer *peers, double seconds) {
    for (int r = 0; r < comm.size; r++) peers[r].last_beat += seconds;
}

static void *listener(void *unused) {
    const double PAUSE = 0.05;
    Peer *peers = mem_alloc((size_t)comm.size, sizeof *peers);
    double before = clock_seconds(), last_sent = 0;
    (void)unused;
    for (int r = 0; r < comm.size; r++) {
        peers[r].last_beat = before;
        if (r != comm.rank) receive_beat(&peers[r], r);
    }
    for (;;) {
        double now = clock_seconds(), limit = 0.8 * comm.timeout, interval = limit / 20 < 1 ? limit / 20 : 1;
        if (now - before > 0.2 * limit) forgive(peers, now - before);
        before = now;
        bool time_to_beat = now - last_sent >= interval;
        if (time_to_beat) last_sent = now;
        if (exchange_beats(peers, now, time_to_beat)) break;
        for (int r = 0; r < comm.size; r++)
            if (r != comm.rank && !peers[r].left && now - peers[r].last_beat > limit)
                abort_for_silence(peers, now, limit);
        nanosleep(&(struct timespec){.tv_nsec = (long)(PAUSE * 1e9)}, NULL);
    }
    mem_free(peers);
    return NULL;
}

/* ---- exchanges ----------------------------------------------------------------------------------------- */

/* An error here nearly always means that a rank is gone. The listener names it before this wait is over. */
static void check(int code) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length;
    sleep((unsigned)comm.timeout + 1);
    MPI_Error_string(code, text, &length);
    status_fail(STATUS_RUNTIME, "MPI failed: %s", text);
    log_failure();
    comm_abort(STATUS_RUNTIME);
}

/* Tests one request after the other; each test makes progress for all of them. */
static void wait_for(MPI_Request *requests, int count) {
    double started = clock_seconds();
    for (int i = 0, done = 0; i < count;) {
        check(MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE));
        if (done)
            i++;
        else if (clock_seconds() - started < 0.02)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
}

static int chunks(size_t bytes) { return (int)((bytes + LARGEST - 1) / LARGEST); }

void comm_exchange(const CommMessage *messages) {
    int count = 0, started = 0;
    for (int r = 0; r < comm.size; r++)
        count += chunks(messages[r].send_bytes) + chunks(messages[r].receive_bytes);
    MPI_Request *requests = mem_alloc((size_t)count + 1, sizeof(MPI_Request));
    for (int r = 0; r < comm.size; r++) {
        if (r == comm.rank) continue;
        char *receive = messages[r].receive;
        for (size_t remaining = messages[r].receive_bytes, n; remaining > 0; remaining -= n, receive += n) {
            n = remaining < LARGEST ? remaining : LARGEST;
            check(MPI_Irecv(receive, (int)n, MPI_BYTE, r, TAG, comm.data, &requests[started++]));
        }
    }
    for (int step = 1; step < comm.size; step++) { /* each rank begins with another one */
        int r = (comm.rank + step) % comm.size;
        const char *send = messages[r].send;
        for (size_t remaining = messages[r].send_bytes, n; remaining > 0; remaining -= n, send += n) {
            n = remaining < LARGEST ? remaining : LARGEST;
            check(MPI_Isend(send, (int)n, MPI_BYTE, r, TAG, comm.data, &requests[started++]));
        }
    }
    const CommMessage *own = &messages[comm.rank];
    if (own->receive && own->receive != own->send) memcpy(own->receive, own->send, own->receive_bytes);
    wait_for(requests, started);
    mem_free(requests);
}

/* ---- start and finish ---------------------------------------------------------------------------------- */

static void gather_hosts(void) {
    size_t *first = mem_alloc((size_t)comm.size + 1, sizeof *first);
    comm.hosts = mem_alloc((size_t)comm.size, sizeof *comm.hosts);
    gethostname(comm.hosts[comm.rank], sizeof *comm.hosts - 1);
    for (int r = 0; r <= comm.size; r++) first[r] = (size_t)r * sizeof *comm.hosts;
    group_gather(comm.hosts, first);
    mem_free(first);
}

static void start_listener(void) {
    sigset_t before = signals_block();
    if (pthread_create(&comm.thread, NULL, listener, NULL) != 0) comm_abort(STATUS_RUNTIME);
    signals_restore(before);
}

Status comm_start(volatile sig_atomic_t *stop) {
    int threads;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &threads) != MPI_SUCCESS)
        return status_fail(STATUS_RUNTIME, "MPI cannot be started");
    comm.started = true;
    comm.stop = stop;
    MPI_Comm_rank(MPI_COMM_WORLD, &comm.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm.size);
    TRY(comm_check_launch(true));
    if (threads != MPI_THREAD_MULTIPLE && comm.size > 1)
        return status_hint(
            status_fail(STATUS_RUNTIME, "%s was built without MPI_THREAD_MULTIPLE", comm_library()),
            "each rank has a thread that listens for the other ranks");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm.data);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm.beats);
    MPI_Comm_set_errhandler(comm.data, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm.beats, MPI_ERRORS_RETURN);
    gather_hosts();
    if (comm.size > 1) start_listener();
    if (comm.size > 1) atexit(let_launcher_read);
    return STATUS_OK;
}

void comm_finish(void) {
    if (!comm.started) return;
    if (comm.hosts && comm.size > 1) {
        group_max(0); /* no rank leaves before all are here */
        atomic_store(&comm.leaving, true);
        pthread_join(comm.thread, NULL);
    }
    mem_free(comm.hosts);
    comm.hosts = NULL;
    comm.started = false;
    comm.size = 1;
    comm.rank = 0;
    MPI_Finalize();
}
