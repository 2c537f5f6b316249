/* group.c - collective operations, made of exchanges (comm.h). */
#include "distributed/group.h"

#include <string.h>
#include "distributed/comm.h"
#include "base/mem.h"

bool group_is_root(void) { return comm_rank() == 0; }

/* ---- bytes by rank ------------------------------------------------------------------------------------- */

static CommMessage *messages_new(void) { return mem_alloc((size_t)comm_size(), sizeof(CommMessage)); }

static void gather(void *block, const size_t *first, bool to_all) {
    CommMessage *messages = messages_new();
    int me = comm_rank();
    char *bytes = block;
    for (int r = 0; r < comm_size(); r++) {
        if (r == me) continue;
        if (to_all || r == 0)
            messages[r].send = bytes + first[me], messages[r].send_bytes = first[me + 1] - first[me];
        if (to_all || me == 0)
            messages[r].receive = bytes + first[r], messages[r].receive_bytes = first[r + 1] - first[r];
    }
    comm_exchange(messages);
    mem_free(messages);
}

void group_gather(void *block, const size_t *first) { gather(block, first, true); }
void group_gather_root(void *block, const size_t *first) { gather(block, first, false); }

/* A slice to each, and then all slices to all: the root sends everything once and not size - 1 times. */
void group_broadcast(void *data, size_t bytes) {
    int size = comm_size();
    if (size == 1 || bytes == 0) return;
    size_t *first = mem_alloc((size_t)size + 1, sizeof *first);
    CommMessage *messages = messages_new();
    for (int r = 0; r <= size; r++) first[r] = bytes / (size_t)size * (size_t)r;
    first[size] = bytes;
    for (int r = 1; r < size; r++) {
        size_t length = first[r + 1] - first[r];
        if (group_is_root()) messages[r] = (CommMessage){(char *)data + first[r], length, NULL, 0};
        if (comm_rank() == r) messages[0] = (CommMessage){NULL, 0, (char *)data + first[r], length};
    }
    comm_exchange(messages);
    group_gather(data, first);
    mem_free(messages);
    mem_free(first);
}

void *group_gather_values(const void *value, size_t bytes) {
    size_t *first = mem_alloc((size_t)comm_size() + 1, sizeof *first);
    char *all = mem_alloc((size_t)comm_size(), bytes);
    for (int r = 0; r <= comm_size(); r++) first[r] = bytes * (size_t)r;
    memcpy(all + first[comm_rank()], value, bytes);
    group_gather(all, first);
    mem_free(first);
    return all;
}

/* ---- agreement ----------------------------------------------------------------------------------------- */

long long group_max(long long value) {
    if (comm_size() == 1) return value;
    long long *all = group_gather_values(&value, sizeof value), largest = value;
    for (int r = 0; r < comm_size(); r++)
        if (all[r] > largest) largest = all[r];
    mem_free(all);
    return largest;
}

Status group_agree(Status mine) {
    if (comm_size() == 1) return mine;
    int status = (int)mine, first = 0;
    int *all = group_gather_values(&status, sizeof status);
    while (first + 1 < comm_size() && all[first] == STATUS_OK) first++;
    status = all[first];
    mem_free(all);
    return status == STATUS_OK || first == comm_rank() ? (Status)status
                                                       : status_fail((Status)status, "%s", "");
}

/* ---- ranges -------------------------------------------------------------------------------------------- */

int group_range_of(int count, int rank, int *first) {
    long long size = comm_size(), n = count;
    *first = (int)(n * rank / size);
    return (int)(n * (rank + 1) / size) - *first;
}

int group_range(int count, int *first) { return group_range_of(count, comm_rank(), first); }

void group_gather_ranges(void *items, size_t bytes, const size_t *start, int count) {
    int size = comm_size();
    if (size == 1) return;
    size_t *first = mem_alloc((size_t)size + 1, sizeof *first);
    for (int r = 0, range; r < size; r++) {
        group_range_of(count, r, &range);
        first[r] = start[range] * bytes;
    }
    first[size] = start[count] * bytes;
    group_gather(items, first);
    mem_free(first);
}

/* ---- strided work -------------------------------------------------------------------------------------- */

static int strided_count_of(int count, int rank) { return (count - rank + comm_size() - 1) / comm_size(); }
static int strided_item_of(int k, int rank) { return rank + k * comm_size(); }

int group_strided_count(int count) { return strided_count_of(count, comm_rank()); }
int group_strided_item(int k) { return strided_item_of(k, comm_rank()); }

/* Items travel rank by rank, those of one rank side by side. */
void group_gather_strided(void *items, size_t bytes, int count) {
    int size = comm_size(), me = comm_rank();
    if (size == 1) return;
    size_t *first = mem_alloc((size_t)size + 1, sizeof *first);
    char *all = mem_alloc((size_t)count + 1, bytes), *numbered = items;
    for (int r = 0; r < size; r++) first[r + 1] = first[r] + (size_t)strided_count_of(count, r) * bytes;
    for (int k = 0; k < strided_count_of(count, me); k++)
        memcpy(all + first[me] + (size_t)k * bytes, numbered + (size_t)strided_item_of(k, me) * bytes, bytes);
    group_gather(all, first);
    for (int r = 0; r < size; r++)
        for (int k = 0; k < strided_count_of(count, r); k++)
            memcpy(numbered + (size_t)strided_item_of(k, r) * bytes, all + first[r] + (size_t)k * bytes,
                   bytes);
    mem_free(all);
    mem_free(first);
}
