/* comm.c - what ranks do together, made of exchanges; and who was started with us. */
#include "distributed/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif
#include "distributed/comm_parts.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/workers.h"

void comm_set_log_prefix(void) {
    char origin[80];
    if (comm_size() == 1) return;
    snprintf(origin, sizeof origin, "rank %d (%s)", comm_rank(), comm_host(comm_rank()));
    log_set_origin(origin);
    if (!comm_is_root()) log_set_level(LOG_QUIET);
}

/* ---- collectives --------------------------------------------------------------------------------------- */

static CommMessage *messages_new(void) { return mem_alloc((size_t)comm_size(), sizeof(CommMessage)); }

static void gather(void *block, const size_t *first, bool to_all) {
    CommMessage *messages = messages_new();
    int me = comm_rank();
    char *bytes = block;
    for (int r = 0; r < comm_size(); r++) {
        if (r == me) continue;
        if (to_all || r == 0)
            messages[r].give = bytes + first[me], messages[r].give_bytes = first[me + 1] - first[me];
        if (to_all || me == 0)
            messages[r].take = bytes + first[r], messages[r].take_bytes = first[r + 1] - first[r];
    }
    comm_exchange(messages);
    mem_free(messages);
}

void comm_gather(void *block, const size_t *first) { gather(block, first, true); }
void comm_gather_root(void *block, const size_t *first) { gather(block, first, false); }

/* A slice to each, and then all slices to all: rank 0 sends everything once and not size - 1 times. */
void comm_broadcast(void *data, size_t bytes) {
    int size = comm_size();
    if (size == 1 || bytes == 0) return;
    size_t *first = mem_alloc((size_t)size + 1, sizeof *first);
    CommMessage *messages = messages_new();
    for (int r = 0; r <= size; r++) first[r] = bytes / (size_t)size * (size_t)r;
    first[size] = bytes;
    for (int r = 1; r < size; r++) {
        size_t length = first[r + 1] - first[r];
        if (comm_is_root()) messages[r] = (CommMessage){(char *)data + first[r], length, NULL, 0};
        if (comm_rank() == r) messages[0] = (CommMessage){NULL, 0, (char *)data + first[r], length};
    }
    comm_exchange(messages);
    comm_gather(data, first);
    mem_free(messages);
    mem_free(first);
}

/* Every rank's `value` of `bytes` bytes, [size]; mem_free it. */
static void *gather_values(const void *value, size_t bytes) {
    size_t *first = mem_alloc((size_t)comm_size() + 1, sizeof *first);
    char *all = mem_alloc((size_t)comm_size(), bytes);
    for (int r = 0; r <= comm_size(); r++) first[r] = bytes * (size_t)r;
    memcpy(all + first[comm_rank()], value, bytes);
    comm_gather(all, first);
    mem_free(first);
    return all;
}

long long comm_largest(long long value) {
    if (comm_size() == 1) return value;
    long long *all = gather_values(&value, sizeof value), largest = value;
    for (int r = 0; r < comm_size(); r++)
        if (all[r] > largest) largest = all[r];
    mem_free(all);
    return largest;
}

Status comm_agree_status(Status mine) {
    if (comm_size() == 1) return mine;
    int status = (int)mine, first = 0;
    int *all = gather_values(&status, sizeof status);
    while (first + 1 < comm_size() && all[first] == STATUS_OK) first++;
    status = all[first];
    mem_free(all);
    return status == STATUS_OK || first == comm_rank() ? (Status)status
                                                       : status_fail((Status)status, "%s", "");
}

int comm_share(int count, int rank, int *first) {
    long long size = comm_size(), n = count;
    *first = (int)(n * rank / size);
    return (int)(n * (rank + 1) / size) - *first;
}

/* ---- places -------------------------------------------------------------------------------------------- */

typedef struct {
    char host[64];
    char mask[512]; /* of the CPUs that the process may use, in hexadecimal digits */
    int cores, machine, wanted;
} RankFacts;

static RankFacts own_facts(int wanted) {
    RankFacts own = {.cores = workers_default_count(), .wanted = wanted};
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

CommRank *comm_places(int wanted) {
    RankFacts mine = own_facts(wanted), *facts = gather_values(&mine, sizeof mine);
    int size = comm_size();
    CommRank *places = mem_alloc((size_t)size, sizeof *places);
    for (int r = 0; r < size; r++) {
        CommRank *p = &places[r];
        *p = (CommRank){.cores = facts[r].cores, .machine = facts[r].machine};
        snprintf(p->host, sizeof p->host, "%s", facts[r].host);
        for (int other = 0; other < size; other++) p->sharing += same_cores(&facts[r], &facts[other]);
        p->threads = facts[r].wanted ? facts[r].wanted : p->cores / p->sharing;
        if (p->threads < 1) p->threads = 1;
    }
    mem_free(facts);
    return places;
}

/* ---- the launcher -------------------------------------------------------------------------------------- */

/* How many processes the launcher says that it started. mpirun inside of a larger allocation of Slurm starts
 * what it was told, so its own word comes first. */
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
    int wanted = launched(&variable);
    if (wanted <= comm_size()) return STATUS_OK;
    Status s = status_fail(STATUS_USAGE, "%d processes were started (%s), but %s", wanted, variable,
                           has_mpi ? "they do not find each other: each would do all by itself"
                                   : "this program is built without MPI: each would do all by itself");
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
