/* sum_tree.c - see sum_tree.h. */
#include "distributed/sum_tree.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include "base/mem.h"
#include "kern/kern.h"

enum {
    REST = 4,        /* nodes of one level for partial_sums_add */
    SLICE = 1 << 14, /* numbers: two streams of it fit into the second-level cache */
};

struct SumTree {
    size_t size;
    int leaves;
    int top; /* sum_tree_complete adds nodes below this level */
    pthread_mutex_t lock;
    SumNode *nodes; /* [count] complete, not added to a sibling yet */
    real **blocks;
    int count;
    size_t node_capacity, block_capacity;
    real **spare; /* [spares] blocks of zeros */
    size_t spares, spare_capacity;
};

/* ---- the shape ----------------------------------------------------------------------------------------- */

static long long first_leaf(SumNode node) { return (long long)node.index << node.level; }
static long long end_leaf(SumNode node) { return (long long)(node.index + 1) << node.level; }
static SumNode parent(SumNode node) { return (SumNode){node.level + 1, node.index / 2}; }

static bool are_siblings(SumNode left, SumNode right) {
    return left.level == right.level && left.index % 2 == 0 && right.index == left.index + 1;
}

/* The highest node with the same leaves: without a right sibling, a node and its parent are the same. */
static SumNode highest(int leaves, SumNode node) {
    while (node.index % 2 == 0 && node.index > 0 && end_leaf(node) >= leaves) node = parent(node);
    return node;
}

int sum_nodes(int leaves, int first, int end, SumNode nodes[SUM_NODES_MAX]) {
    int count = 0;
    assert(first >= 0 && end <= leaves);
    while (first < end) {
        SumNode node = {0, first};
        for (SumNode up = parent(node);
             end_leaf(node) < end && first_leaf(up) == first && (end_leaf(up) <= end || end == leaves);
             up = parent(up))
            node = up;
        node = highest(leaves, node);
        assert(count < SUM_NODES_MAX);
        nodes[count++] = node;
        first = end_leaf(node) < end ? (int)end_leaf(node) : end;
    }
    return count;
}

/* ---- the last nodes ------------------------------------------------------------------------------------ */

int sum_siblings(int leaves, int count, SumNode *nodes, real **blocks, size_t first, size_t n) {
    int depth = 0;
    for (int i = 0; i < count; i++) {
        nodes[depth] = highest(leaves, nodes[i]);
        blocks[depth++] = blocks[i];
        while (depth > 1 && are_siblings(nodes[depth - 2], nodes[depth - 1])) {
            depth--;
            kern->add(n, blocks[depth] + first, blocks[depth - 1] + first);
            nodes[depth - 1] = highest(leaves, parent(nodes[depth - 1]));
        }
    }
    return depth;
}

void partial_sums_add(const PartialSums *sums, size_t first, size_t n) {
    SumNode *nodes = mem_alloc((size_t)sums->count, sizeof *nodes);
    real **blocks = mem_alloc((size_t)sums->count, sizeof *blocks);
    memcpy(nodes, sums->nodes, (size_t)sums->count * sizeof *nodes);
    memcpy(blocks, sums->blocks, (size_t)sums->count * sizeof *blocks);
    int node_count = sum_siblings(sums->leaves, sums->count, nodes, blocks, first, n);
    assert(node_count == 1 && blocks[0] == sums->blocks[0]);
    (void)node_count;
    mem_free(nodes);
    mem_free(blocks);
}

/* ---- as leaves become complete ------------------------------------------------------------------------- */

SumTree *sum_tree_new(size_t size) {
    SumTree *tree = mem_alloc(1, sizeof *tree);
    *tree = (SumTree){.size = size ? size : 1};
    pthread_mutex_init(&tree->lock, NULL);
    return tree;
}

void sum_tree_free(SumTree *tree) {
    if (!tree) return;
    for (int i = 0; i < tree->count; i++) mem_free(tree->blocks[i]);
    for (size_t i = 0; i < tree->spares; i++) mem_free(tree->spare[i]);
    pthread_mutex_destroy(&tree->lock);
    mem_free(tree->nodes);
    mem_free(tree->blocks);
    mem_free(tree->spare);
    mem_free(tree);
}

static void spare(SumTree *tree, real *block) {
    MEM_GROW(tree->spare, tree->spare_capacity, tree->spares + 1);
    tree->spare[tree->spares++] = block;
}

void sum_tree_begin(SumTree *tree, int leaves) {
    for (int i = tree->count; i-- > 0;) spare(tree, tree->blocks[i]);
    tree->count = 0;
    tree->leaves = leaves;
    for (tree->top = 0; (leaves - 1) >> tree->top >= REST; tree->top++) {
    }
}

real *sum_tree_block(SumTree *tree) {
    pthread_mutex_lock(&tree->lock);
    real *block = tree->spares ? tree->spare[--tree->spares] : NULL;
    pthread_mutex_unlock(&tree->lock);
    return block ? block : mem_aligned(tree->size, sizeof *block);
}

/* Take the complete sibling of `node` out of the list; its block, or NULL if there is none yet. */
static real *take_sibling(SumTree *tree, SumNode node) {
    for (int i = 0; i < tree->count; i++) {
        SumNode other = tree->nodes[i];
        if (!are_siblings(other, node) && !are_siblings(node, other)) continue;
        real *block = tree->blocks[i];
        tree->nodes[i] = tree->nodes[--tree->count];
        tree->blocks[i] = tree->blocks[tree->count];
        return block;
    }
    return NULL;
}

static void add_node(SumTree *tree, SumNode node, real *block) {
    MEM_GROW(tree->nodes, tree->node_capacity, (size_t)tree->count + 1);
    MEM_GROW(tree->blocks, tree->block_capacity, (size_t)tree->count + 1);
    tree->nodes[tree->count] = node;
    tree->blocks[tree->count++] = block;
}

/* left += right, and right becomes zeros. */
static void add_and_clear(size_t size, real *left, real *right) {
    for (size_t first = 0; first < size; first += SLICE) {
        size_t n = size - first < SLICE ? size - first : SLICE;
        kern->add(n, right + first, left + first);
        memset(right + first, 0, n * sizeof *right);
    }
}

void sum_tree_complete(SumTree *tree, int leaf, real *block) {
    SumNode node = highest(tree->leaves, (SumNode){0, leaf});
    pthread_mutex_lock(&tree->lock);
    for (real *other; node.level < tree->top && (other = take_sibling(tree, node)) != NULL;) {
        pthread_mutex_unlock(&tree->lock);
        real *left = node.index % 2 ? other : block, *right = node.index % 2 ? block : other;
        add_and_clear(tree->size, left, right);
        pthread_mutex_lock(&tree->lock);
        spare(tree, right);
        block = left;
        node = highest(tree->leaves, parent(node));
    }
    add_node(tree, node, block);
    pthread_mutex_unlock(&tree->lock);
}

PartialSums sum_tree_partial_sums(SumTree *tree) {
    for (int i = 1; i < tree->count; i++) /* there are few */
        for (int j = i; j > 0 && first_leaf(tree->nodes[j]) < first_leaf(tree->nodes[j - 1]); j--) {
            SumNode node = tree->nodes[j];
            real *block = tree->blocks[j];
            tree->nodes[j] = tree->nodes[j - 1], tree->nodes[j - 1] = node;
            tree->blocks[j] = tree->blocks[j - 1], tree->blocks[j - 1] = block;
        }
    return (PartialSums){tree->leaves, tree->count, tree->nodes, tree->blocks};
}
