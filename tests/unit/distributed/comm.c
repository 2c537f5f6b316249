/* comm.c - parts of ranks, and communication of a single rank with itself. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "distributed/comm.h"
#include "distributed/group.h"
#include "base/mem.h"

static void alone(void **state) {
    volatile sig_atomic_t stop = 0;
    char from[] = "abc", to[] = "xyz";
    CommMessage message = {from, 4, to, 4};
    (void)state;
    unsetenv("SLURM_NTASKS");
    unsetenv("PMI_SIZE");
    unsetenv("OMPI_COMM_WORLD_SIZE");
    assert_int_equal(comm_start(&stop), STATUS_OK);
    assert_int_equal(comm_size(), 1);
    assert_int_equal(comm_rank(), 0);
    assert_true(comm_host(0)[0] != '\0');
    comm_exchange(&message);
    assert_string_equal(to, "abc");
    group_broadcast(to, 4);
    group_gather(to, (size_t[]){0, 4});
    group_gather_root(to, (size_t[]){0, 4});
    assert_string_equal(to, "abc");
    int first = -1;
    assert_int_equal(group_range(7, &first), 7);
    assert_int_equal(first, 0);
    assert_int_equal(group_strided_count(7), 7);
    assert_int_equal(group_strided_item(3), 3);
    group_gather_ranges(to, 1, (size_t[]){0, 1, 4}, 2);
    group_gather_strided(to, 1, 4);
    assert_string_equal(to, "abc");
    assert_int_equal(group_max(-5), -5);
    assert_int_equal(ROOT_ONLY(status_fail(STATUS_USAGE, "root")), STATUS_USAGE);
    assert_int_equal(group_agree(status_fail(STATUS_DATA, "line %d", 7)), STATUS_DATA);
    assert_string_equal(status_message(), "line 7");
    comm_finish();
}

static void refuses_singletons(void **state) {
    static const char *const NAMES[] = {"SLURM_NTASKS", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        setenv(NAMES[i], "4", 1);
        assert_int_equal(comm_start(NULL), STATUS_USAGE);
        assert_non_null(strstr(status_message(), NAMES[i]));
        assert_non_null(strstr(status_hint_text(), "--mpi=pmix"));
        setenv(NAMES[i], "1", 1);
        assert_int_equal(comm_start(NULL), STATUS_OK);
        setenv(NAMES[i], "many", 1);
        assert_int_equal(comm_start(NULL), STATUS_OK);
        unsetenv(NAMES[i]);
    }
    setenv("SLURM_NTASKS", "8", 1); /* mpirun inside of a larger allocation */
    setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
    assert_int_equal(comm_start(NULL), STATUS_OK);
    unsetenv("SLURM_NTASKS");
    unsetenv("OMPI_COMM_WORLD_SIZE");
}

static void ranks(void **state) {
    (void)state;
    CommRank *rank = comm_ranks(0);
    assert_int_equal(rank->sharing, 1);
    assert_int_equal(rank->threads, rank->cores);
    assert_true(rank->cores >= 1 && rank->machine >= 1);
    mem_free(rank);
    rank = comm_ranks(7);
    assert_int_equal(rank->threads, 7);
    mem_free(rank);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),
        cmocka_unit_test(refuses_singletons),
        cmocka_unit_test(ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
