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
 * index << level up to (index + 1) << level, without that one, as far as there are so many: its left half
 * plus its right half, or the left half alone where the right one has no leaf. So the order of additions,
 * and every bit of the sum, follows from the number of leaves, whichever thread completes which leaf and
 * when; and any range of leaves can be summed elsewhere and brought together as a few nodes.
 *
 * Two nodes are added as soon as both are complete, and the block of the right one is used again: there are
 * about as many blocks as threads and levels, not one a leaf. The last few nodes are left to be added slice
 * by slice, by all threads at once.
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

/* Nodes that are complete, from left to right, and still to be added to each other. */
typedef struct {
    int leaves; /* of the whole tree */
    int count;
    const SumNode *nodes;
    real *const *blocks;
} SumRest;

enum { SUM_NODES_MOST = 64 }; /* that sum_nodes finds */

/* The fewest nodes that are leaves first .. end - 1 together, from left to right; returns how many. */
int sum_nodes(int leaves, int first, int end, SumNode nodes[SUM_NODES_MOST]);
/* Add numbers first .. first + n - 1 of siblings among nodes that are sorted, and of their parents, in place:
 * the left one's block becomes the sum, the right one's holds a part of it. Returns how many nodes are left;
 * which ones does not depend on the slice. */
int sum_siblings(int leaves, int count, SumNode *nodes, real **blocks, size_t first, size_t n);
/* Add numbers first .. first + n - 1 of all nodes: the sum is in the first node's block then, and the others
 * hold parts of it. Slices may be added in parallel. All leaves must be there. */
void sum_rest(const SumRest *rest, size_t first, size_t n);

typedef struct SumTree SumTree;

SumTree *sum_tree_new(size_t size); /* numbers in a block */
void sum_tree_free(SumTree *tree);
/* Begin a sum of so many leaves. Every block that the last rest had must be zeros again. */
void sum_tree_begin(SumTree *tree, int leaves);
real *sum_tree_block(SumTree *tree); /* zeros, to make a leaf of; goes back with sum_tree_complete */
void sum_tree_complete(SumTree *tree, int leaf, real *block);
/* The nodes that all completed leaves became. Valid until sum_tree_begin. */
SumRest sum_tree_rest(SumTree *tree);

#endif
