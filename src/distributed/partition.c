/* partition.c - slices of a block: reduce-scatter of gradients, all-gather of what was updated. */
#include "distributed/partition.h"

#include <assert.h>
#include <string.h>
#include "distributed/comm.h"
#include "distributed/group.h"
#include "base/mem.h"

enum { PART = 1 << 15 }; /* numbers that a thread reduces at once */

struct Partition {
    size_t chunk;
    size_t *slices; /* [ranks + 1]: rank r has numbers slices[r] .. slices[r + 1] - 1 */
    SumNode *nodes; /* of all ranks, from left to right */
    real **blocks;
    size_t node_capacity, block_capacity;
    real *received; /* [capacity]: slices of the other ranks' nodes */
    size_t capacity;
};

Partition *partition_new(size_t size, size_t chunk) {
    Partition *p = mem_alloc(1, sizeof *p);
    int ranks = comm_size(), chunks = (int)((size + chunk - 1) / chunk), first;
    *p = (Partition){.chunk = chunk, .slices = mem_alloc((size_t)ranks + 1, sizeof *p->slices)};
    for (int r = 0; r < ranks; r++) group_range_of(chunks, r, &first), p->slices[r] = (size_t)first * chunk;
    p->slices[ranks] = size;
    return p;
}

void partition_free(Partition *p) {
    if (!p) return;
    mem_free(p->slices);
    mem_free(p->nodes);
    mem_free(p->blocks);
    mem_free(p->received);
    mem_free(p);
}

void partition_slice(const Partition *p, size_t *first, size_t *end) {
    *first = p->slices[comm_rank()];
    *end = p->slices[comm_rank() + 1];
}

/* ---- all-gather ---------------------------------------------------------------------------------------- */

/* Of an array with one value of `bytes` bytes for each `numbers` numbers. */
static void gather(const Partition *p, void *values, size_t bytes, size_t numbers, bool to_all) {
    int ranks = comm_size();
    if (ranks == 1) return;
    size_t *first = mem_alloc((size_t)ranks + 1, sizeof *first);
    for (int r = 0; r <= ranks; r++) first[r] = (p->slices[r] + numbers - 1) / numbers * bytes;
    (to_all ? group_gather : group_gather_root)(values, first);
    mem_free(first);
}

void partition_all_gather(const Partition *p, real *block) { gather(p, block, sizeof *block, 1, true); }
void partition_gather_root(const Partition *p, real *block) { gather(p, block, sizeof *block, 1, false); }

void partition_all_gather_chunks(const Partition *p, double *values) {
    gather(p, values, sizeof *values, p->chunk, true);
}

/* ---- reduce: the leaves of this process become as few nodes as possible -------------------------------- */

typedef struct {
    const PartialSums *sums;
    size_t size; /* numbers of a block */
} Reduction;

static int reduce(const PartialSums *sums, SumNode *nodes, real **blocks, size_t first, size_t n) {
    assert(sums->count <= SUM_NODES_MAX);
    memcpy(nodes, sums->nodes, (size_t)sums->count * sizeof *nodes);
    memcpy(blocks, sums->blocks, (size_t)sums->count * sizeof *blocks);
    return sum_siblings(sums->leaves, sums->count, nodes, blocks, first, n);
}

static void reduce_part(void *context, int task, int thread) {
    const Reduction *reduction = context;
    SumNode nodes[SUM_NODES_MAX];
    real *blocks[SUM_NODES_MAX];
    size_t first = (size_t)task * PART, remaining = reduction->size - first;
    (void)thread;
    reduce(reduction->sums, nodes, blocks, first, remaining < PART ? remaining : PART);
}

/* ---- scatter: each process gets the nodes of its slice ------------------------------------------------- */

static int nodes_of(int leaves, int rank, SumNode nodes[SUM_NODES_MAX]) {
    int first, count = group_range_of(leaves, rank, &first);
    return sum_nodes(leaves, first, first + count, nodes);
}

/* List the nodes of all ranks. start[r] is the number of rank r's first one. The own blocks stay where they
 * are, the others get memory. */
static void list_nodes(Partition *p, int leaves, real *const *own, int start[]) {
    SumNode nodes[SUM_NODES_MAX];
    int me = comm_rank();
    size_t n = p->slices[me + 1] - p->slices[me], used = 0;
    start[0] = 0;
    for (int r = 0; r < comm_size(); r++) {
        int count = nodes_of(leaves, r, nodes);
        MEM_GROW(p->nodes, p->node_capacity, (size_t)(start[r] + count));
        MEM_GROW(p->blocks, p->block_capacity, (size_t)(start[r] + count));
        memcpy(p->nodes + start[r], nodes, (size_t)count * sizeof *nodes);
        start[r + 1] = start[r] + count;
    }
    size_t foreign = (size_t)(start[comm_size()] - (start[me + 1] - start[me])) * n;
    if (foreign > p->capacity) {
        mem_free(p->received);
        p->received = mem_aligned_uninitialized(foreign, sizeof *p->received);
        p->capacity = foreign;
    }
    for (int r = 0; r < comm_size(); r++)
        for (int i = start[r]; i < start[r + 1]; i++) {
            bool here = r == me;
            p->blocks[i] = here ? own[i - start[r]] + p->slices[me] : p->received + used;
            if (!here) used += n;
        }
}

/* Send node number k of this process to the others, a slice to each, and receive their nodes number k. */
static void exchange_nodes(const Partition *p, real *const *own, const int *start, int k,
                           CommMessage *messages) {
    int me = comm_rank();
    const size_t *slices = p->slices;
    for (int r = 0; r < comm_size(); r++) {
        CommMessage message = {0};
        if (r != me && start[me] + k < start[me + 1])
            message.send = own[k] + slices[r],
            message.send_bytes = (slices[r + 1] - slices[r]) * sizeof(real);
        if (r != me && start[r] + k < start[r + 1])
            message.receive = p->blocks[start[r] + k],
            message.receive_bytes = (slices[me + 1] - slices[me]) * sizeof(real);
        messages[r] = message;
    }
    comm_exchange(messages);
}

PartialSums partition_reduce_scatter(Partition *p, const PartialSums *own, Workers *workers) {
    int size = comm_size(), me = comm_rank(), most = 0;
    if (size == 1) return *own;
    SumNode nodes[SUM_NODES_MAX];
    real *blocks[SUM_NODES_MAX];
    Reduction reduction = {own, p->slices[size]};
    workers_run(workers, (int)((reduction.size + PART - 1) / PART), reduce_part, &reduction);
    int count = reduce(own, nodes, blocks, 0, 0);
    int *start = mem_alloc((size_t)size + 1, sizeof *start);
    list_nodes(p, own->leaves, blocks, start);
    assert(count == start[me + 1] - start[me] &&
           memcmp(nodes, p->nodes + start[me], (size_t)count * sizeof *nodes) == 0);
    (void)count;
    for (int r = 0; r < size; r++)
        if (start[r + 1] - start[r] > most) most = start[r + 1] - start[r];
    CommMessage *messages = mem_alloc((size_t)size, sizeof *messages);
    for (int k = 0; k < most; k++) exchange_nodes(p, blocks, start, k, messages);
    PartialSums sums = {own->leaves, start[size], p->nodes, p->blocks};
    mem_free(messages);
    mem_free(start);
    return sums;
}
