/* comm.h - the processes of one run, its ranks: how they start and end, and how bytes go from one to another.
 *
 * What starts and ends a run calls this; the training itself calls group.h. Only comm_mpi.c knows MPI;
 * comm_self.c is the one rank of a program that is built without it. Every rank makes the same calls in the
 * same order. A thread listens to all other ranks. If one of them is gone, stopped or out of reach, it ends
 * the process (comm_timeout), so comm_exchange returns no error.
 *
 *   Threads  one at a time, the one that called comm_start
 */
#ifndef DISTRIBUTED_COMM_H
#define DISTRIBUTED_COMM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"

/* Join the run. STATUS_USAGE if a launcher started more processes than found each other here. `stop` becomes
 * non-zero when a signal asks this rank to stop; within a second or two it is so on every rank. */
Status comm_start(volatile sig_atomic_t *stop);
/* Leave it: waits for the others. Without effect if comm_start was not called. */
void comm_finish(void);
/* End this process within `seconds` after the last sign of another one: the thread notices silence after four
 * fifths of them. 60 unless called. */
void comm_timeout(double seconds);
/* End all ranks at once with this exit code, after an error that one rank alone has met. One rank alone
 * exits. */
_Noreturn void comm_abort(int code);

int comm_rank(void); /* 0 .. size - 1 */
int comm_size(void); /* 1 before comm_start */
const char *comm_host(int rank);
/* From now on only rank 0 logs progress. The messages of every rank name the rank and its machine; the others
 * log errors alone. */
void comm_set_log_prefix(void);
const char *comm_library(void); /* name and version of the MPI library */

/* The bytes to send to one rank, and the buffer for those from it. Both may have 0 bytes. The other rank
 * gives the same numbers of bytes. */
typedef struct {
    const void *send;
    size_t send_bytes;
    void *receive;
    size_t receive_bytes;
} CommMessage;

/* Send and receive messages[r] to and from every rank r; the message to this rank itself is copied. */
void comm_exchange(const CommMessage *messages);

/* STATUS_USAGE if a launcher started more processes than comm_size(): for comm_start. */
Status comm_check_launch(bool has_mpi);

/* The machine and the cores of a rank. */
typedef struct {
    char host[64];
    int threads; /* of its training */
    int cores;   /* that the process may use */
    int machine; /* cores of the machine */
    int sharing; /* ranks that may use the same cores, this one included */
} CommRank;
/* All ranks, [size]; mem_free the array. `threads` of this rank, 0 = the cores that it may use, divided by
 * the number of ranks that share them. */
CommRank *comm_ranks(int threads);
int comm_threads(int threads); /* those of this rank: comm_ranks() of every rank returns the same */

#endif
