/* sum_tree.h - the sum of many blocks of numbers, in an order that does not depend on who adds.
 *
 * The tree of five leaves; node (level, index) is written level.index:
 *
 *     3.0 = 2.0 + 2.1
 *      |-- 2.0 = 1.0 + 1.1
 *      |    |-- 1.0 = leaf 0 + leaf 1
 *      |    '-- 1.1 = leaf 2 + leaf 3
 *      '-- 2.1 = 1.2 = leaf 4           a node without a right half is its left half
 *
 * The blocks are the leaves of a binary tree. Node (level, index) is the sum of the leaves from
 * index << level to ((index + 1) << level) - 1, if they exist: its left half plus its right half, or the left
 * half alone if the right one has no leaf. So the number of leaves determines the order of additions and
 * every bit of the sum, whichever thread completes which leaf and when. Another process can sum a range of
 * leaves to a few nodes.
 *
 * Two nodes are added as soon as both are complete, and the block of the right one is used again: there are
 * about as many blocks as threads and levels, not one per leaf. All threads together add the last few nodes,
 * slice by slice (partial_sums_add).
 *
 * Owner   a SumTree owns its blocks
 * Threads sum_tree_block and sum_tree_complete may be called by several at once
 */
#ifndef DISTRIBUTED_SUM_TREE_H
#define DISTRIBUTED_SUM_TREE_H

#include <stddef.h>
#include "kern/tensor.h"

typedef struct {
    int level, index;
} SumNode;

/* Complete nodes, from left to right, that are not added to each other yet. */
typedef struct {
    int leaves; /* of the whole tree */
    int count;
    const SumNode *nodes;
    real *const *blocks;
} PartialSums;

enum { SUM_NODES_MAX = 64 }; /* results of sum_nodes */

/* The smallest set of nodes that covers leaves first .. end - 1, from left to right; returns their number. */
int sum_nodes(int leaves, int first, int end, SumNode nodes[SUM_NODES_MAX]);
/* Add numbers first .. first + n - 1 of siblings among sorted nodes, and of their parents, in place: the left
 * one's block becomes the sum, the right one's holds a part of it. Returns the number of nodes that are left,
 * which are the same for every slice. */
int sum_siblings(int leaves, int count, SumNode *nodes, real **blocks, size_t first, size_t n);
/* Add numbers first .. first + n - 1 of all nodes: the first node's block becomes the sum, the others hold
 * parts of it. Threads may add slices in parallel. All leaves must be complete. */
void partial_sums_add(const PartialSums *sums, size_t first, size_t n);

typedef struct SumTree SumTree;

SumTree *sum_tree_new(size_t size); /* numbers in a block */
void sum_tree_free(SumTree *tree);
/* Begin a sum of `leaves` leaves. Every block of the last PartialSums must be zeros again. */
void sum_tree_begin(SumTree *tree, int leaves);
real *sum_tree_block(SumTree *tree); /* zeros, for a leaf; sum_tree_complete takes it back */
void sum_tree_complete(SumTree *tree, int leaf, real *block);
/* The nodes of all completed leaves. Valid until sum_tree_begin. */
PartialSums sum_tree_partial_sums(SumTree *tree);

#endif
