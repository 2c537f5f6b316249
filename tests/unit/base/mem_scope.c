/* mem_scope.c - a scope owns the allocations of its work, and ends the work if memory runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/mem.h"
#include "base/mem_scope.h"
#include "base/rng.h"
#include "base/strview.h"
#include "base/workers.h"

enum { BLOCKS = 500, STEPS = 20000 };

/* Allocates, grows and frees in random order; the scope frees the remaining blocks. */
static void shuffle_blocks(void *context) {
    unsigned char *blocks[BLOCKS] = {0};
    Rng rng = rng_new(3);
    (void)context;
    for (int step = 0; step < STEPS; step++) {
        unsigned char **block = &blocks[(int)(rng_uniform(&rng) * BLOCKS)];
        size_t size = 1 + (size_t)(rng_uniform(&rng) * 300);
        if (!*block) {
            *block = rng_uniform(&rng) < 0.5 ? mem_alloc(size, 1) : mem_aligned(size, 1);
            (*block)[0] = 7;
        } else if (rng_uniform(&rng) < 0.5) {
            assert_int_equal((*block)[0], 7);
            *block = mem_realloc(*block, size, 1);
        } else {
            mem_free(*block);
            *block = NULL;
        }
    }
}

static void test_owner(void **state) {
    (void)state;
    MemScope *scope = mem_scope_new(0);
    assert_false(mem_scope_active());
    for (int i = 0; i < 3; i++)
        assert_true(mem_scope_run(scope, shuffle_blocks, NULL)); /* one scope, often */
    assert_false(mem_scope_active());
    mem_scope_free(scope);
    mem_scope_free(NULL);
}

static void take(void *context) {
    char *from_before = context;
    char *block = mem_alloc(600, 1);
    mem_free(block);
    block = mem_alloc(600, 1); /* freed blocks do not count */
    mem_free(from_before);     /* allocated outside the scope */
    mem_alloc(401, 1);
    fail_msg("there was more memory than the limit");
}

static void test_limit(void **state) {
    (void)state;
    MemScope *scope = mem_scope_new(1000);
    for (int i = 0; i < 3; i++) {
        char *from_before = mem_alloc(5000, 1);
        assert_false(mem_scope_run(scope, take, from_before));
        assert_false(mem_scope_active());
    }
    mem_scope_free(scope);
}

static void take_many(void *context) {
    int *taken = context;
    for (; *taken < 100000; ++*taken) mem_alloc(1, 1);
}

/* The list of the blocks counts too. */
static void test_small_blocks(void **state) {
    (void)state;
    int taken = 0;
    MemScope *scope = mem_scope_new(100000);
    assert_false(mem_scope_run(scope, take_many, &taken));
    assert_in_range(taken, 1000, 10000);
    mem_scope_free(scope);
}

static void take_absurd(void *context) {
    (void)context;
    mem_alloc(SIZE_MAX, 2);
}

static void inner_runs_out(void *context) {
    MemScope *inner = mem_scope_new(0);
    bool *went_on = context;
    char *kept = mem_alloc(100, 1);
    assert_false(mem_scope_run(inner, take_absurd, NULL));
    mem_scope_free(inner);
    kept[99] = 1;
    Workers *workers = workers_new(4);
    assert_int_equal(workers_count(workers), 1); /* the scope is this thread's */
    workers_free(workers);
    *went_on = true;
}

static void test_nested(void **state) {
    (void)state;
    bool went_on = false;
    MemScope *scope = mem_scope_new(0);
    assert_true(mem_scope_run(scope, inner_runs_out, &went_on));
    assert_true(went_on);
    mem_scope_free(scope);
}

static void open_and_run_out(void *context) {
    int *fd = context;
    *fd = dup(0);
    mem_scope_set_file(*fd);
    mem_alloc(SIZE_MAX, 2);
}

static void test_file(void **state) {
    (void)state;
    int fd = -1;
    MemScope *scope = mem_scope_new(0);
    assert_false(mem_scope_run(scope, open_and_run_out, &fd));
    assert_int_equal(close(fd), -1); /* already closed */
    mem_scope_free(scope);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_owner), cmocka_unit_test(test_limit),
                                       cmocka_unit_test(test_small_blocks), cmocka_unit_test(test_nested),
                                       cmocka_unit_test(test_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
