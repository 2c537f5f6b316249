/* check_comm.c - prints a table of the ranks, the time of an exchange and sum of gradients, and the time of a
 * small message. */
#include "cli/check_comm.h"

#include <string.h>
#include "distributed/comm.h"
#include "distributed/group.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/command_io.h"
#include "kern/kern.h"

/* NUMBERS: the parameters of a medium model. */
enum { NUMBERS = 4 << 20, ROUNDS = 10, SMALL_ROUNDS = 200 };

/* Seconds of the fastest of several rounds, which do what an update does with the gradients: each rank gets
 * its slice of all gradients, adds them, and sends the sum to all. */
static double time_sum(void) {
    int size = comm_size(), me = comm_rank();
    size_t *first = mem_alloc((size_t)size + 1, sizeof *first);
    CommMessage *messages = mem_alloc((size_t)size, sizeof *messages);
    for (int r = 0, start; r < size; r++) {
        int length = group_range_of(NUMBERS, r, &start);
        first[r] = (size_t)start * sizeof(real);
        first[r + 1] = first[r] + (size_t)length * sizeof(real);
    }
    size_t mine = first[me + 1] - first[me], n = mine / sizeof(real);
    real *block = mem_aligned(NUMBERS, sizeof *block),
         *slices = mem_aligned((size_t)size * n, sizeof *slices);
    real *own = block + first[me] / sizeof(real);
    for (int r = 0; r < size; r++)
        messages[r] = (CommMessage){block + first[r] / sizeof(real), first[r + 1] - first[r],
                                    slices + (size_t)r * n, mine};
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        group_max(0);
        double started = clock_seconds();
        comm_exchange(messages);
        for (int r = 1; r < size; r++) kern->add(n, slices + (size_t)r * n, slices);
        memcpy(own, slices, mine);
        group_gather(block, first);
        double seconds = clock_seconds() - started;
        if (seconds < best) best = seconds;
    }
    mem_free(slices);
    mem_free(block);
    mem_free(messages);
    mem_free(first);
    return best;
}

/* Seconds to send a number from each rank to all. */
static double time_small(void) {
    group_max(0);
    double started = clock_seconds();
    for (int round = 0; round < SMALL_ROUNDS; round++) group_max(round);
    return (clock_seconds() - started) / SMALL_ROUNDS;
}

static void write_ranks(const CommRank *ranks, StrBuf *out) {
    strbuf_format(out, "MPI      %s\n\n rank  threads  cores  of  host\n", comm_library());
    for (int r = 0; r < comm_size(); r++)
        strbuf_format(out, "%5d  %7d  %5d %3d  %s\n", r, ranks[r].threads, ranks[r].cores, ranks[r].machine,
                      ranks[r].host);
}

Status check_comm(int threads) {
    CommRank *ranks = comm_ranks(threads);
    StrBuf out = {0};
    double seconds = time_sum(), small = time_small(), bytes = (double)NUMBERS * sizeof(real);
    int size = comm_size();
    write_ranks(ranks, &out);
    mem_free(ranks);
    strbuf_format(&out, "\nsum of %d numbers over %d rank%s: %.2f ms", NUMBERS, size, size == 1 ? "" : "s",
                  1e3 * seconds);
    if (size > 1)
        strbuf_format(&out, ", %.2f GB/s sent by each; a small message to all: %.3f ms",
                      2e-9 * bytes * (size - 1) / size / seconds, 1e3 * small);
    strbuf_add(&out, SV("\n"));
    Status status = group_is_root() ? command_print(strbuf_view(&out)) : STATUS_OK;
    strbuf_free(&out);
    return status;
}
