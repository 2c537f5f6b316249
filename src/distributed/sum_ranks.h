/* sum_ranks.h - the sum of a tree (sum_tree.h) whose leaves are dealt over ranks (comm.h).
 *
 * Each rank has made its share of the leaves, in order (comm_share), into the fewest nodes. It gives every
 * other rank that one's slice of them, and finishes the tree for its own slice with the nodes of all: which
 * numbers are added in which order is as on one rank alone. That is all that travels: size - 1 parts of a
 * block from each rank, whatever the number of ranks.
 *
 * Owner   a SumRanks owns what it receives
 */
#ifndef DISTRIBUTED_SUM_RANKS_H
#define DISTRIBUTED_SUM_RANKS_H

#include "base/workers.h"
#include "distributed/sum_tree.h"

typedef struct SumRanks SumRanks;

/* `slices` [ranks + 1]: rank r finishes numbers slices[r] .. slices[r + 1] - 1; must live as long. */
SumRanks *sum_ranks_new(const size_t *slices);
void sum_ranks_free(SumRanks *ranks);
/* Every rank calls it with the nodes of its leaves, which are reduced in place. Returns the nodes of all
 * leaves, whose blocks begin with the first number of the own slice; on one rank that is `own`. Valid until
 * the next call. */
SumRest sum_ranks_exchange(SumRanks *ranks, const SumRest *own, Workers *workers);

#endif
