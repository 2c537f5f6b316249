/* compute.c - random numbers, SHA-256, arena and workers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "io/sha256.h"
#include "io/sha256_blocks.h"
#include "base/workers.h"

/* The known answers that come with the authors' library Random123. */
static void philox_known_answers(void **state) {
    (void)state;
    static const struct {
        uint64_t key, high, low;
        uint32_t out[4];
    } CASES[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {UINT64_C(0x299f31d0a4093822),
         UINT64_C(0x0370734413198a2e),
         UINT64_C(0x85a308d3243f6a88),
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        uint32_t out[4];
        rng_philox(CASES[i].key, CASES[i].high, CASES[i].low, out);
        for (int j = 0; j < 4; j++) assert_int_equal(out[j], CASES[i].out[j]);
    }
}

static void rng_is_a_function_of_key_and_counter(void **state) {
    (void)state;
    Rng rng = rng_new(42);
    uint32_t numbers[40], block[4];
    for (int i = 0; i < 40; i++) numbers[i] = rng_u32(&rng);
    for (uint64_t i = 0; i < 40; i++) {
        rng_philox(42, 0, i / 4, block);
        assert_int_equal(numbers[i], block[i % 4]);
        Rng jump = {.key = 42, .counter = i};
        assert_int_equal(rng_u32(&jump), numbers[i]);
    }
    assert_true(rng_key(1, 2, 3, 4) != rng_key(1, 2, 4, 3));
    assert_true(rng_key(1, 2, 3, 4) != rng_key(2, 1, 3, 4));
    assert_true(rng_key(0, 0, 0, 0) != rng_key(0, 0, 0, 1));
    assert_true(rng_key(0, 0, 0, 1) != rng_key(0, 0, 1, 0));
    assert_true(rng_key(7, 8, 9, 10) == rng_key(7, 8, 9, 10));
}

static void rng_distributions_have_their_moments(void **state) {
    (void)state;
    enum { COUNT = 200000 };
    Rng rng = rng_new(1);
    double sum = 0, squares = 0, low = 1, high = 0;
    for (int i = 0; i < COUNT; i++) {
        double u = rng_uniform(&rng);
        assert_true(u >= 0 && u < 1);
        sum += u, squares += u * u;
        low = fmin(low, u), high = fmax(high, u);
    }
    assert_true(fabs(sum / COUNT - 0.5) < 0.003);
    assert_true(fabs(squares / COUNT - 1.0 / 3) < 0.003);
    assert_true(low < 1e-4 && high > 1 - 1e-4);
    double moments[5] = {0};
    for (int i = 0; i < COUNT; i++) {
        double x = rng_normal(&rng);
        assert_true(isfinite(x));
        for (int k = 1; k <= 4; k++) moments[k] += pow(x, k) / COUNT;
    }
    assert_true(fabs(moments[1]) < 0.01);
    assert_true(fabs(moments[2] - 1) < 0.02);
    assert_true(fabs(moments[3]) < 0.05);
    assert_true(fabs(moments[4] - 3) < 0.1);
}

static void rng_below_is_even(void **state) {
    (void)state;
    Rng rng = rng_new(2);
    int counts[7] = {0};
    for (int i = 0; i < 70000; i++) {
        uint32_t n = rng_below(&rng, 7);
        assert_true(n < 7);
        counts[n]++;
    }
    double chi2 = 0;
    for (int i = 0; i < 7; i++) chi2 += (counts[i] - 10000.0) * (counts[i] - 10000.0) / 10000;
    assert_true(chi2 < 30);
    /* 2^32 numbers map to 3 * 2^30 values: without rejection every third value would be twice as frequent. */
    int thirds[3] = {0};
    for (int i = 0; i < 30000; i++) thirds[rng_below(&rng, 0xC0000000u) % 3]++;
    for (int i = 0; i < 3; i++) assert_true(abs(thirds[i] - 10000) < 500);
    assert_int_equal(rng_below(&rng, 1), 0);
}

static void rng_shuffle_permutes(void **state) {
    (void)state;
    int items[1000];
    bool seen[1000] = {false};
    for (int i = 0; i < 1000; i++) items[i] = i;
    Rng rng = rng_new(3);
    rng_shuffle(&rng, items, 1000);
    int fixed = 0;
    for (int i = 0; i < 1000; i++) {
        assert_false(seen[items[i]]);
        seen[items[i]] = true;
        fixed += items[i] == i;
    }
    assert_true(fixed < 10);
    /* Every order of three equally often. */
    int orders[6] = {0};
    for (int i = 0; i < 6000; i++) {
        int three[3] = {0, 1, 2};
        rng_shuffle(&rng, three, 3);
        orders[three[0] * 2 + (three[1] > three[2])]++;
    }
    for (int i = 0; i < 6; i++) assert_true(abs(orders[i] - 1000) < 150);
    rng_shuffle(&rng, items, 0);
}

static void assert_digest(const char *data, size_t bytes, const char *expected) {
    Sha256 hash;
    char hex[65];
    sha256_begin(&hash);
    sha256_add(&hash, data, bytes);
    sha256_end(&hash, hex);
    assert_string_equal(hex, expected);
}

static void sha256_known_answers(void **state) {
    (void)state;
    assert_digest("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_digest("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    assert_digest(two, 56, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *million = mem_alloc(1000000, 1);
    memset(million, 'a', 1000000);
    assert_digest(million, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    mem_free(million);
}

static void sha256_does_not_depend_on_the_pieces(void **state) {
    (void)state;
    unsigned char data[300];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 37);
    for (size_t length = 0; length <= sizeof data; length++) {
        char whole[65], pieces[65];
        Sha256 hash;
        sha256_begin(&hash);
        sha256_add(&hash, data, length);
        sha256_end(&hash, whole);
        sha256_begin(&hash);
        for (size_t at = 0, step = 1; at < length; at += step, step = step % 97 + 13) {
            if (step > length - at) step = length - at;
            sha256_add(&hash, data + at, step);
            sha256_add(&hash, NULL, 0);
        }
        sha256_end(&hash, pieces);
        assert_string_equal(whole, pieces);
    }
}

static void sha256_ways_agree(void **state) {
    (void)state;
    unsigned char data[64 * 20];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * i >> 3);
    for (size_t blocks = 0; blocks <= 20; blocks++) {
        uint32_t plain[8], x86[8];
        for (uint32_t i = 0; i < 8; i++) plain[i] = x86[i] = 0x9E3779B9u * (i + 1);
        if (!sha256_x86_compress(x86, data, blocks)) skip();
        sha256_plain_compress(plain, data, blocks);
        assert_memory_equal(plain, x86, sizeof plain);
    }
}

/* The known answers with the plain C code, on any processor. */
static void sha256_plain_known_answer(void **state) {
    (void)state;
    uint32_t words[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char block[64] = "abc\x80";
    block[63] = 24;
    sha256_plain_compress(words, block, 1);
    static const uint32_t ABC[8] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                    0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
    assert_memory_equal(words, ABC, sizeof ABC);
}

static void arena_blocks_do_not_overlap(void **state) {
    (void)state;
    Arena *arena = arena_new();
    for (int round = 0; round < 4; round++) {
        unsigned char *blocks[200];
        size_t total = 0;
        for (int i = 0; i < 200; i++) {
            size_t bytes = (size_t)i * 97;
            blocks[i] = arena_alloc(arena, bytes);
            assert_int_equal((uintptr_t)blocks[i] % 64, 0);
            memset(blocks[i], i, bytes);
            total += bytes;
            assert_true(arena_used(arena) >= total);
        }
        for (int i = 0; i < 200; i++)
            for (size_t j = 0; j < (size_t)i * 97; j++) assert_int_equal(blocks[i][j], (unsigned char)i);
        arena_reset(arena);
        assert_int_equal(arena_used(arena), 0);
    }
    float *zeros = arena_alloc_zeroed(arena, 4000);
    for (int i = 0; i < 1000; i++) assert_true(zeros[i] == 0);
    arena_free(arena);
    arena_free(NULL);
}

/* After a reset the same requests get the same single chunk: addresses rise without a jump. */
static void arena_becomes_one_chunk(void **state) {
    (void)state;
    Arena *arena = arena_new();
    char *first[3];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) {
            char *block = arena_alloc(arena, 50000);
            if (i == 0) first[round] = block;
            if (round > 0 && i == 99) assert_true(block > first[round] && block - first[round] < 100 * 51000);
        }
        arena_reset(arena);
    }
    assert_ptr_equal(first[1], first[2]);
    arena_free(arena);
}

typedef struct {
    atomic_int runs[500];
    atomic_int active[8];
    atomic_int bad, by_others;
    int threads;
    int pause_microseconds;
} Job;

static void count_task(void *context, int task, int thread) {
    Job *job = context;
    if (thread < 0 || thread >= job->threads) {
        atomic_fetch_add(&job->bad, 1);
        return;
    }
    if (atomic_fetch_add(&job->active[thread], 1) != 0)
        atomic_fetch_add(&job->bad, 1); /* two tasks with one thread number */
    if (job->pause_microseconds) usleep((useconds_t)job->pause_microseconds);
    atomic_fetch_add(&job->runs[task], 1);
    if (thread > 0) atomic_fetch_add(&job->by_others, 1);
    atomic_fetch_sub(&job->active[thread], 1);
}

static void workers_run_each_task_once(void **state) {
    (void)state;
    for (int threads = 0; threads <= 5; threads++) {
        Workers *workers = workers_new(threads);
        assert_int_equal(workers_count(workers), threads > 1 ? threads : 1);
        for (int count = 0; count <= 500; count += count < 8 ? 1 : 123) {
            Job job = {.threads = workers_count(workers)};
            for (int repeat = 1; repeat <= 20; repeat++) {
                workers_run(workers, count, count_task, &job);
                for (int i = 0; i < count; i++) assert_int_equal(atomic_load(&job.runs[i]), repeat);
            }
            assert_int_equal(atomic_load(&job.bad), 0);
        }
        workers_free(workers);
    }
    workers_free(NULL);
}

static void workers_wake_from_sleep(void **state) {
    (void)state;
    Workers *workers = workers_new(3);
    for (int round = 1; round <= 20; round++) {
        usleep(2000); /* longer than the workers spin */
        Job job = {.threads = 3, .pause_microseconds = 500};
        workers_run(workers, 6, count_task, &job);
        for (int i = 0; i < 6; i++) assert_int_equal(atomic_load(&job.runs[i]), 1);
        assert_int_equal(atomic_load(&job.bad), 0);
    }
    usleep(2000);
    Job job = {.threads = 3, .pause_microseconds = 20000};
    workers_run(workers, 20, count_task, &job);
    assert_true(atomic_load(&job.by_others) > 0);
    workers_free(workers);
}

static void add_task(void *context, int task, int thread) {
    (void)task;
    (void)thread;
    atomic_fetch_add((atomic_long *)context, 1);
}

/* Jobs on the stack, one after the other: a late thread must never touch the one before. */
static void workers_stand_many_short_jobs(void **state) {
    (void)state;
    Workers *workers = workers_new(4);
    for (int round = 0; round < 20000; round++) {
        atomic_long sum = 0;
        int count = 2 + round % 5;
        workers_run(workers, count, add_task, &sum);
        assert_int_equal(atomic_load(&sum), count);
    }
    workers_free(workers);
}

static void default_count_is_sensible(void **state) {
    (void)state;
    int count = workers_default_count();
    assert_true(count >= 1);
    assert_true(count <= sysconf(_SC_NPROCESSORS_CONF));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_known_answers),
        cmocka_unit_test(rng_is_a_function_of_key_and_counter),
        cmocka_unit_test(rng_distributions_have_their_moments),
        cmocka_unit_test(rng_below_is_even),
        cmocka_unit_test(rng_shuffle_permutes),
        cmocka_unit_test(sha256_known_answers),
        cmocka_unit_test(sha256_does_not_depend_on_the_pieces),
        cmocka_unit_test(sha256_ways_agree),
        cmocka_unit_test(sha256_plain_known_answer),
        cmocka_unit_test(arena_blocks_do_not_overlap),
        cmocka_unit_test(arena_becomes_one_chunk),
        cmocka_unit_test(workers_run_each_task_once),
        cmocka_unit_test(workers_wake_from_sleep),
        cmocka_unit_test(workers_stand_many_short_jobs),
        cmocka_unit_test(default_count_is_sensible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
