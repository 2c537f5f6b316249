/* sum_tree.c - sums in a fixed tree: the shape, ranges, and any order of completion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "base/workers.h"
#include "kern/kern.h"
#include "distributed/sum_tree.h"

enum { SIZE = 40000 /* more than a slice */, LEAVES_MAX = 37 };

static void fill(int leaf, real *block) {
    Rng rng = rng_new(rng_key(5, (uint64_t)leaf, 0, 0));
    for (size_t i = 0; i < SIZE; i++) block[i] = (real)(rng_uniform(&rng) - 0.5);
}

/* The definition: halves at the greatest power of two. */
static void sum_halves(int first, int count, real *out) {
    if (count == 1) {
        fill(first, out);
        return;
    }
    int half = 1;
    while (2 * half < count) half *= 2;
    real *right = mem_alloc(SIZE, sizeof *right);
    sum_halves(first, half, out);
    sum_halves(first + half, count - half, right);
    for (size_t i = 0; i < SIZE; i++) out[i] += right[i];
    mem_free(right);
}

typedef struct {
    SumTree *tree;
    const int *order; /* of the leaves; NULL: ascending */
} Run;

static void complete(void *context, int task, int thread) {
    const Run *run = context;
    int leaf = run->order ? run->order[task] : task;
    real *block = sum_tree_block(run->tree);
    (void)thread;
    for (size_t i = 0; i < SIZE; i += 999) assert_true(block[i] == 0);
    fill(leaf, block);
    sum_tree_complete(run->tree, leaf, block);
}

static void check_sum(SumTree *tree, const real *expected) {
    PartialSums rest = sum_tree_partial_sums(tree);
    assert_true(rest.count <= 4);
    for (size_t first = 0; first < SIZE; first += SIZE / 4) partial_sums_add(&rest, first, SIZE / 4);
    assert_memory_equal(rest.blocks[0], expected, SIZE * sizeof(real));
    for (int i = 0; i < rest.count; i++) memset(rest.blocks[i], 0, SIZE * sizeof(real));
}

static void test_order(void **state) {
    (void)state;
    SumTree *tree = sum_tree_new(SIZE);
    real *expected = mem_alloc(SIZE, sizeof *expected);
    Workers *workers = workers_new(4);
    Rng rng = rng_new(1);
    for (int leaves = 1; leaves <= LEAVES_MAX; leaves++) {
        int order[LEAVES_MAX];
        for (int i = 0; i < leaves; i++) order[i] = i;
        rng_shuffle(&rng, order, (size_t)leaves);
        sum_halves(0, leaves, expected);
        for (int shuffled = 0; shuffled < 2; shuffled++) {
            Run run = {tree, shuffled ? order : NULL};
            sum_tree_begin(tree, leaves);
            workers_run(workers, leaves, complete, &run);
            check_sum(tree, expected);
        }
    }
    workers_free(workers);
    mem_free(expected);
    sum_tree_free(tree);
}

/* Every range is covered by nodes without a gap, none of which could be joined to a larger one; and ranges
 * that are summed apart make the same sum. */
static void test_ranges(void **state) {
    (void)state;
    for (int leaves = 1; leaves <= LEAVES_MAX; leaves++)
        for (int first = 0; first < leaves; first++)
            for (int end = first; end <= leaves; end++) {
                SumNode nodes[SUM_NODES_MAX];
                real *blocks[SUM_NODES_MAX] = {0};
                int count = sum_nodes(leaves, first, end, nodes), at = first;
                for (int i = 0; i < count; i++) {
                    assert_int_equal(nodes[i].index << nodes[i].level, at);
                    at = (nodes[i].index + 1) << nodes[i].level;
                }
                assert_true(count ? at == end || (end == leaves && at > end) : first == end);
                assert_int_equal(sum_siblings(leaves, count, nodes, blocks, 0, 0), count);
            }
}

static void test_parts_of_the_sum(void **state) {
    (void)state;
    real *expected = mem_alloc(SIZE, sizeof *expected);
    for (int leaves = 2; leaves <= 19; leaves++)
        for (int cut = 1; cut < leaves; cut += 3) {
            SumNode nodes[SUM_NODES_MAX];
            real *blocks[SUM_NODES_MAX];
            SumTree *tree[2] = {sum_tree_new(SIZE), sum_tree_new(SIZE)};
            int count = 0;
            for (int half = 0; half < 2; half++) {
                sum_tree_begin(tree[half], leaves);
                for (int leaf = half ? cut : 0; leaf < (half ? leaves : cut); leaf++)
                    complete(&(Run){tree[half], NULL}, leaf, 0);
                PartialSums rest = sum_tree_partial_sums(tree[half]);
                memcpy(nodes + count, rest.nodes, (size_t)rest.count * sizeof *nodes);
                memcpy(blocks + count, rest.blocks, (size_t)rest.count * sizeof *blocks);
                int left = sum_siblings(leaves, rest.count, nodes + count, blocks + count, 0, SIZE);
                SumNode fewest[SUM_NODES_MAX];
                assert_int_equal(left, sum_nodes(leaves, half ? cut : 0, half ? leaves : cut, fewest));
                assert_memory_equal(nodes + count, fewest, (size_t)left * sizeof *fewest);
                count += left;
            }
            const PartialSums rest = {leaves, count, nodes, blocks};
            partial_sums_add(&rest, 0, SIZE);
            sum_halves(0, leaves, expected);
            assert_memory_equal(blocks[0], expected, SIZE * sizeof(real));
            sum_tree_free(tree[0]);
            sum_tree_free(tree[1]);
        }
    mem_free(expected);
}

/* Every rank can compute the nodes of another rank's leaves. */
static void test_nodes_of_shares(void **state) {
    (void)state;
    for (int leaves = 1; leaves <= 64; leaves++)
        for (int ranks = 1; ranks <= 9; ranks++)
            for (int r = 0; r < ranks; r++) {
                int first = leaves * r / ranks, end = leaves * (r + 1) / ranks;
                SumNode wanted[SUM_NODES_MAX], nodes[64];
                real none, *blocks[64];
                for (int i = first; i < end; i++)
                    nodes[i - first] = (SumNode){0, i}, blocks[i - first] = &none;
                int count = sum_siblings(leaves, end - first, nodes, blocks, 0, 0);
                assert_int_equal(sum_nodes(leaves, first, end, wanted), count);
                for (int i = 0; i < count; i++) {
                    assert_int_equal(wanted[i].level, nodes[i].level);
                    assert_int_equal(wanted[i].index, nodes[i].index);
                }
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_of_shares),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_parts_of_the_sum),
    };
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
