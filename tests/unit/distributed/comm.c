/* comm.c - shares of ranks, and one rank alone: what it gives itself arrives, and what it meets
 * stays. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "distributed/comm.h"
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
    comm_broadcast(to, 4);
    comm_gather(to, (size_t[]){0, 4});
    comm_gather_root(to, (size_t[]){0, 4});
    assert_string_equal(to, "abc");
    assert_int_equal(comm_largest(-5), -5);
    assert_int_equal(comm_agree_status(status_fail(STATUS_DATA, "line %d", 7)), STATUS_DATA);
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

static void places(void **state) {
    (void)state;
    CommRank *place = comm_places(0);
    assert_int_equal(place->sharing, 1);
    assert_int_equal(place->threads, place->cores);
    assert_true(place->cores >= 1 && place->machine >= 1);
    mem_free(place);
    place = comm_places(7);
    assert_int_equal(place->threads, 7);
    mem_free(place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),
        cmocka_unit_test(refuses_singletons),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
