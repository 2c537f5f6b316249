/* group.h - the processes that train one model together: what a training run calls.
 *
 * The root process reads and writes the run directory, all of them compute. Every process calls the same
 * functions in the same order. In a group of one process they return at once, and each value stays as it is.
 *
 *   Exact   these functions move bytes and never add numbers. sum_tree.h fixes the order of additions; sums
 *           by MPI would depend on the number of processes
 *   Errors  none of these functions fails: comm.h ends the process if another one cannot be reached
 */
#ifndef DISTRIBUTED_GROUP_H
#define DISTRIBUTED_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"

bool group_is_root(void);
/* One status for all: that of the lowest rank that failed. Only that process keeps the message, so the
 * message appears once. */
Status group_agree(Status mine);
/* Evaluate `call` in the root process alone; its status is that of all. */
#define ROOT_ONLY(call) group_agree(group_is_root() ? (call) : STATUS_OK)

void group_broadcast(void *data, size_t bytes); /* the root's bytes to all */
long long group_max(long long value);           /* of all processes */

/* ---- work in ranges: each process has neighbouring items ----------------------------------------------- */

/* This process's range of `count` items: *first, and the number of them. */
int group_range(int count, int *first);
int group_range_of(int count, int rank, int *first); /* that of another process */
/* Range number r of `count` has the items start[r] .. start[r + 1] - 1, `bytes` each. Every process has the
 * items of its ranges, as group_range divides them; afterwards all have all items. */
void group_gather_ranges(void *items, size_t bytes, const size_t *start, int count);

/* ---- strided work: each process has every size-th item ------------------------------------------------ */

int group_strided_count(int count); /* the number of items of this process, of `count` */
int group_strided_item(int k);      /* the number of its k-th item */
/* Every process has its items, `bytes` each; afterwards all have all `count` items. */
void group_gather_strided(void *items, size_t bytes, int count);

/* ---- bytes by rank ------------------------------------------------------------------------------------- */

/* Rank r has the bytes first[r] .. first[r + 1] - 1 of `block`; afterwards all have all of them. */
void group_gather(void *block, const size_t *first);
/* The same, but only the root has them all afterwards. */
void group_gather_root(void *block, const size_t *first);
/* The `bytes` of `value` of every rank, [size]; mem_free the array. */
void *group_gather_values(const void *value, size_t bytes);

#endif
