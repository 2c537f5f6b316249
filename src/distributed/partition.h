/* partition.h - one block of numbers of which each process of the group updates a slice.
 *
 * Gradients come as the nodes of a sum tree (sum_tree.h), whose leaves the processes have computed in ranges
 * (group_range). Reduce-scatter: each process gets the nodes of all others for its own slice and completes
 * the tree there, so the same numbers are added in the same order as in one process. All-gather: each process
 * gets the slices of all others. Each process sends size - 1 slices, whatever the number of processes.
 *
 * Owner   a Partition owns the nodes that it receives
 */
#ifndef DISTRIBUTED_PARTITION_H
#define DISTRIBUTED_PARTITION_H

#include "base/workers.h"
#include "distributed/sum_tree.h"

typedef struct Partition Partition;

/* Of `size` numbers; slices begin at multiples of `chunk`. */
Partition *partition_new(size_t size, size_t chunk);
void partition_free(Partition *partition);
/* This process's slice: numbers *first .. *end - 1. */
void partition_slice(const Partition *partition, size_t *first, size_t *end);
/* `own`: the nodes of the leaves of this process, which are reduced in place. Returns the nodes of all
 * leaves, whose blocks begin with the first number of the slice; in a group of one process that is `own`.
 * Valid until the next call. */
PartialSums partition_reduce_scatter(Partition *partition, const PartialSums *own, Workers *workers);
/* Every process has its slice of `block`; afterwards all have all of it. */
void partition_all_gather(const Partition *partition, real *block);
/* The same for an array with one number for each chunk. */
void partition_all_gather_chunks(const Partition *partition, double *values);
/* The same as partition_all_gather, but only the root has the whole block afterwards. */
void partition_gather_root(const Partition *partition, real *block);

#endif
