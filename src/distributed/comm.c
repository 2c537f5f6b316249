/* comm.c - where the ranks are, and how many processes the launcher started. */
#include "distributed/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif
#include "distributed/group.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/workers.h"

void comm_set_log_prefix(void) {
    char origin[80];
    if (comm_size() == 1) return;
    snprintf(origin, sizeof origin, "rank %d (%s)", comm_rank(), comm_host(comm_rank()));
    log_set_origin(origin);
    if (!group_is_root()) log_set_level(LOG_QUIET);
}

/* ---- ranks --------------------------------------------------------------------------------------------- */

typedef struct {
    char host[64];
    char mask[512]; /* of the CPUs that the process may use, in hexadecimal digits */
    int cores, machine, threads;
} RankFacts;

static RankFacts own_facts(int threads) {
    RankFacts own = {.cores = workers_default_count(), .threads = threads};
    own.machine = (int)sysconf(_SC_NPROCESSORS_ONLN);
    snprintf(own.host, sizeof own.host, "%s", comm_host(comm_rank()));
#ifdef __linux__
    cpu_set_t usable;
    CPU_ZERO(&usable);
    if (sched_getaffinity(0, sizeof usable, &usable) == 0)
        for (size_t digit = 0; digit < CPU_SETSIZE / 4; digit++) {
            int value = 0;
            for (size_t bit = 0; bit < 4; bit++)
                value |= (CPU_ISSET(4 * digit + bit, &usable) ? 1 : 0) << bit;
            own.mask[digit] = "0123456789abcdef"[value];
        }
#endif
    return own;
}

static bool same_cores(const RankFacts *a, const RankFacts *b) {
    return strcmp(a->host, b->host) == 0 && memcmp(a->mask, b->mask, sizeof a->mask) == 0;
}

CommRank *comm_ranks(int threads) {
    RankFacts mine = own_facts(threads), *facts = group_gather_values(&mine, sizeof mine);
    int size = comm_size();
    CommRank *ranks = mem_alloc((size_t)size, sizeof *ranks);
    for (int r = 0; r < size; r++) {
        CommRank *p = &ranks[r];
        *p = (CommRank){.cores = facts[r].cores, .machine = facts[r].machine};
        snprintf(p->host, sizeof p->host, "%s", facts[r].host);
        for (int other = 0; other < size; other++) p->sharing += same_cores(&facts[r], &facts[other]);
        p->threads = facts[r].threads ? facts[r].threads : p->cores / p->sharing;
        if (p->threads < 1) p->threads = 1;
    }
    mem_free(facts);
    return ranks;
}

int comm_threads(int threads) {
    CommRank *ranks = comm_ranks(threads);
    threads = ranks[comm_rank()].threads;
    mem_free(ranks);
    return threads;
}

/* ---- the launcher -------------------------------------------------------------------------------------- */

/* The number of processes in the launcher's environment. mpirun in a larger allocation of Slurm starts fewer
 * processes than Slurm's own variable says, so its variable comes first. */
static int launched(const char **variable) {
    static const char *const NAMES[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const char *text = getenv(NAMES[i]);
        *variable = NAMES[i];
        if (text && atoi(text) > 0) return atoi(text);
    }
    return 1;
}

Status comm_check_launch(bool has_mpi) {
    const char *variable;
    int started = launched(&variable);
    if (started <= comm_size()) return STATUS_OK;
    Status s = status_fail(STATUS_USAGE, "%d processes were started (%s), but %s", started, variable,
                           has_mpi ? "they do not find each other: each would do the whole work"
                                   : "this program is built without MPI: each would do the whole work");
    if (!has_mpi)
        return status_hint(s,
                           "build one with 'make MPI=1' and start build-mpi/attn-mt, under Slurm with "
                           "'srun --mpi=pmix'; or start one process alone (env -u %s)",
                           variable);
    return status_hint(s,
                       "under Slurm: 'srun --mpi=pmix' ('srun --mpi=list' names what there is); else the "
                       "mpirun of the library that the program was built with, which is %s",
                       comm_library());
}
