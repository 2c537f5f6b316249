/* comm.h - what the processes of one run, its ranks, say to each other.
 *
 * Only comm_mpi.c knows MPI; comm_self.c is the one rank of a program that is built without it. Every rank
 * makes the same calls in the same order. None of them returns an error: a rank that is gone, stopped or out
 * of reach is noticed by a thread that listens to all others, and ends the process (comm_timeout).
 *
 *   Exact    nothing is summed here: bytes go from rank to rank, and who adds them does so in an order of its
 *            own. MPI's own sums depend on the number of ranks
 *   Threads  one at a time, the one that called comm_start
 */
#ifndef DISTRIBUTED_COMM_H
#define DISTRIBUTED_COMM_H

#include <signal.h>
#include <stddef.h>
#include "base/status.h"

/* Join the run. STATUS_USAGE if a launcher started more processes than found each other here. `stop` becomes
 * non-zero when a signal asks this rank to stop; within a second or two it is so on every rank. */
Status comm_start(volatile sig_atomic_t *stop);
/* Leave it: waits for the others. Without effect if comm_start was not called. */
void comm_finish(void);
/* End this process within `seconds` when another has not been heard of: silence is noticed after four fifths
 * of them. 60 unless called. */
void comm_timeout(double seconds);
/* End all ranks at once with this exit code, for what one rank alone has met. Alone: exit. */
_Noreturn void comm_abort(int code);

int comm_rank(void); /* 0 .. size - 1 */
int comm_size(void); /* 1 before comm_start */
static inline int comm_is_root(void) { return comm_rank() == 0; }
const char *comm_host(int rank);
/* From now on only rank 0 tells what goes on; of the others one hears where they fail. */
void comm_set_log_prefix(void);
const char *comm_library(void); /* name and version of what carries the bytes */

/* What goes to one rank, and what comes from it. Both may be 0 bytes long, and the other side knows how many
 * there are. */
typedef struct {
    const void *give;
    size_t give_bytes;
    void *take;
    size_t take_bytes;
} CommMessage;

/* Give and take messages[r] to and from every rank r; that of this rank itself is copied. */
void comm_exchange(const CommMessage *messages);

/* ---- made of exchanges: comm.c ------------------------------------------------------------------------- */

/* Rank r has the bytes first[r] .. first[r + 1] - 1 of `block`; afterwards everyone has all of them. */
void comm_gather(void *block, const size_t *first);
/* The same, but only rank 0 has them all afterwards. */
void comm_gather_root(void *block, const size_t *first);
void comm_broadcast(void *data, size_t bytes); /* rank 0's bytes to all */
long long comm_largest(long long value);       /* of all ranks */
/* One status for all: that of the lowest rank that failed. It alone keeps its message, so that it is shown
 * once. */
Status comm_agree_status(Status mine);

/* Share `rank` of `count` things that are dealt in order: *first and the number of it. */
int comm_share(int count, int rank, int *first);

/* Where the ranks are. */
typedef struct {
    char host[64];
    int threads; /* that train uses */
    int cores;   /* that the process may use */
    int machine; /* cores of the machine */
    int sharing; /* ranks that may use the same cores, this one included */
} CommRank;
/* [size] places; `wanted` threads, 0 = the cores that the process may use, dealt among those that share
 * them. mem_free it. */
CommRank *comm_places(int wanted);

#endif
