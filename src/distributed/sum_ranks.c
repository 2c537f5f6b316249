/* sum_ranks.c - nodes to the ranks that finish them. */
#include "distributed/sum_ranks.h"

#include <assert.h>
#include <string.h>
#include "distributed/comm.h"
#include "base/mem.h"

enum { PART = 1 << 15 }; /* numbers that a thread reduces at once */

struct SumRanks {
    const size_t *slices;
    SumNode *nodes; /* of all ranks, from left to right */
    real **blocks;
    size_t node_capacity, block_capacity;
    real *received; /* [capacity]: slices of the other ranks' nodes */
    size_t capacity;
};

SumRanks *sum_ranks_new(const size_t *slices) {
    SumRanks *ranks = mem_alloc(1, sizeof *ranks);
    ranks->slices = slices;
    return ranks;
}

void sum_ranks_free(SumRanks *ranks) {
    if (!ranks) return;
    mem_free(ranks->nodes);
    mem_free(ranks->blocks);
    mem_free(ranks->received);
    mem_free(ranks);
}

/* ---- the own leaves to as few nodes as there can be ---------------------------------------------------- */

typedef struct {
    const SumRest *rest;
    size_t size; /* numbers of a block */
} Reduction;

static int reduce(const SumRest *rest, SumNode *nodes, real **blocks, size_t first, size_t n) {
    assert(rest->count <= SUM_NODES_MOST);
    memcpy(nodes, rest->nodes, (size_t)rest->count * sizeof *nodes);
    memcpy(blocks, rest->blocks, (size_t)rest->count * sizeof *blocks);
    return sum_siblings(rest->leaves, rest->count, nodes, blocks, first, n);
}

static void reduce_part(void *context, int task, int thread) {
    const Reduction *reduction = context;
    SumNode nodes[SUM_NODES_MOST];
    real *blocks[SUM_NODES_MOST];
    size_t first = (size_t)task * PART, left = reduction->size - first;
    (void)thread;
    reduce(reduction->rest, nodes, blocks, first, left < PART ? left : PART);
}

/* ---- the exchange -------------------------------------------------------------------------------------- */

static int nodes_of(int leaves, int rank, SumNode nodes[SUM_NODES_MOST]) {
    int first, count = comm_share(leaves, rank, &first);
    return sum_nodes(leaves, first, first + count, nodes);
}

/* List the nodes of all ranks. start[r] is the number of rank r's first one. Own blocks are where they are,
 * and the others get room. */
static void list_nodes(SumRanks *ranks, int leaves, real *const *own, int start[]) {
    SumNode nodes[SUM_NODES_MOST];
    int me = comm_rank();
    size_t n = ranks->slices[me + 1] - ranks->slices[me], used = 0;
    start[0] = 0;
    for (int r = 0; r < comm_size(); r++) {
        int count = nodes_of(leaves, r, nodes);
        MEM_GROW(ranks->nodes, ranks->node_capacity, (size_t)(start[r] + count));
        MEM_GROW(ranks->blocks, ranks->block_capacity, (size_t)(start[r] + count));
        memcpy(ranks->nodes + start[r], nodes, (size_t)count * sizeof *nodes);
        start[r + 1] = start[r] + count;
    }
    size_t foreign = (size_t)(start[comm_size()] - (start[me + 1] - start[me])) * n;
    if (foreign > ranks->capacity) {
        mem_free(ranks->received);
        ranks->received = mem_aligned_uninitialized(foreign, sizeof *ranks->received);
        ranks->capacity = foreign;
    }
    for (int r = 0; r < comm_size(); r++)
        for (int i = start[r]; i < start[r + 1]; i++) {
            bool here = r == me;
            ranks->blocks[i] = here ? own[i - start[r]] + ranks->slices[me] : ranks->received + used;
            if (!here) used += n;
        }
}

SumRest sum_ranks_exchange(SumRanks *ranks, const SumRest *own, Workers *workers) {
    int size = comm_size(), me = comm_rank(), most = 0;
    if (size == 1) return *own;
    const size_t *slices = ranks->slices;
    SumNode nodes[SUM_NODES_MOST];
    real *blocks[SUM_NODES_MOST];
    Reduction reduction = {own, slices[size]};
    workers_run(workers, (int)((slices[size] + PART - 1) / PART), reduce_part, &reduction);
    int count = reduce(own, nodes, blocks, 0, 0);
    int *start = mem_alloc((size_t)size + 1, sizeof *start);
    list_nodes(ranks, own->leaves, blocks, start);
    assert(count == start[me + 1] - start[me] &&
           memcmp(nodes, ranks->nodes + start[me], (size_t)count * sizeof *nodes) == 0);
    for (int r = 0; r < size; r++)
        if (start[r + 1] - start[r] > most) most = start[r + 1] - start[r];
    CommMessage *messages = mem_alloc((size_t)size, sizeof *messages);
    for (int k = 0; k < most; k++) {
        for (int r = 0; r < size; r++) {
            messages[r] = (CommMessage){0};
            if (r == me) continue;
            if (k < count)
                messages[r].give = blocks[k] + slices[r],
                messages[r].give_bytes = (slices[r + 1] - slices[r]) * sizeof(real);
            if (start[r] + k < start[r + 1])
                messages[r].take = ranks->blocks[start[r] + k],
                messages[r].take_bytes = (slices[me + 1] - slices[me]) * sizeof(real);
        }
        comm_exchange(messages);
    }
    SumRest rest = {own->leaves, start[size], ranks->nodes, ranks->blocks};
    mem_free(messages);
    mem_free(start);
    return rest;
}
