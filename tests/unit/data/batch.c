/* batch.c - batches of an epoch: each pair once, the size, similar lengths, the same for the same seed and
 * epoch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "data/batch.h"

static Workers *workers;

/* A corpus of lengths only. */
static Corpus make_corpus(int count, int shortest, int longest, uint64_t seed) {
    Corpus corpus = {.count = count};
    corpus.source.start = mem_alloc((size_t)count + 1, sizeof *corpus.source.start);
    corpus.target.start = mem_alloc((size_t)count + 1, sizeof *corpus.target.start);
    Rng rng = rng_new(rng_key(seed, 0, 0, 0));
    uint32_t range = (uint32_t)(longest - shortest + 1);
    for (int i = 0; i < count; i++) {
        corpus.source.start[i + 1] = corpus.source.start[i] + (size_t)shortest + rng_below(&rng, range);
        corpus.target.start[i + 1] = corpus.target.start[i] + (size_t)shortest + rng_below(&rng, range);
    }
    return corpus;
}

static void check_each_once(const BatchPlan *plan, int count) {
    int *seen = mem_alloc((size_t)count + 1, sizeof *seen);
    assert_int_equal(plan->start[0], 0);
    assert_int_equal(plan->start[plan->count], count);
    for (int b = 0; b < plan->count; b++) assert_true(plan->start[b] < plan->start[b + 1]);
    for (int i = 0; i < count; i++) {
        assert_in_range(plan->pairs[i], 0, count - 1);
        seen[plan->pairs[i]]++;
    }
    for (int i = 0; i < count; i++) assert_int_equal(seen[i], 1);
    mem_free(seen);
}

static int batch_tokens(const BatchPlan *plan, const Corpus *corpus, int batch) {
    int tokens = 0;
    for (int i = plan->start[batch]; i < plan->start[batch + 1]; i++)
        tokens += corpus_target_length(corpus, plan->pairs[i]) + 1;
    return tokens;
}

static void test_sentences(void **state) {
    (void)state;
    static const int counts[] = {1, 2, 63, 64, 65, 1000};
    for (int c = 0; c < 6; c++) {
        Corpus corpus = make_corpus(counts[c], 1, 40, 1);
        BatchPlan *plan = batch_plan_new(&corpus, BATCH_SENTENCES, 64, 10, 5, 1, workers);
        check_each_once(plan, counts[c]);
        assert_int_equal(plan->count, (counts[c] + 63) / 64);
        int small = 0;
        for (int b = 0; b < plan->count; b++) {
            int size = plan->start[b + 1] - plan->start[b];
            assert_true(size <= 64);
            small += size < 64;
        }
        assert_int_equal(small, counts[c] % 64 != 0);
        batch_plan_free(plan);
        corpus_free(&corpus);
    }
}

static void test_tokens(void **state) {
    (void)state;
    for (int window = 1; window <= 100; window *= 10) {
        Corpus corpus = make_corpus(3000, 1, 60, 2);
        BatchPlan *plan = batch_plan_new(&corpus, BATCH_TOKENS, 500, window, 5, 1, workers);
        check_each_once(plan, 3000);
        int under = 0;
        for (int b = 0; b < plan->count; b++) {
            int tokens = batch_tokens(plan, &corpus, b);
            assert_true(tokens <= 500);
            under += tokens + 61 <= 500; /* any other pair would have fit */
        }
        assert_true(under <= 1); /* the last one */
        batch_plan_free(plan);
        corpus_free(&corpus);
    }
}

/* A pair longer than a batch is a batch of its own. */
static void test_oversized(void **state) {
    (void)state;
    Corpus corpus = make_corpus(50, 30, 60, 3);
    BatchPlan *plan = batch_plan_new(&corpus, BATCH_TOKENS, 10, 5, 5, 1, workers);
    check_each_once(plan, 50);
    assert_int_equal(plan->count, 50);
    batch_plan_free(plan);
    plan = batch_plan_new(&corpus, BATCH_SENTENCES, 1, 0, 5, 1, workers);
    check_each_once(plan, 50);
    assert_int_equal(plan->count, 50);
    batch_plan_free(plan);
    corpus_free(&corpus);
}

static void test_empty(void **state) {
    (void)state;
    Corpus corpus = make_corpus(0, 1, 1, 1);
    for (int unit = BATCH_SENTENCES; unit <= BATCH_TOKENS; unit++) {
        BatchPlan *plan = batch_plan_new(&corpus, (BatchUnit)unit, 64, 10, 5, 1, workers);
        assert_int_equal(plan->count, 0);
        assert_int_equal(plan->start[0], 0);
        batch_plan_free(plan);
    }
    batch_plan_free(NULL);
    corpus_free(&corpus);
}

static bool same_plan(const BatchPlan *a, const BatchPlan *b, int count) {
    return a->count == b->count &&
           memcmp(a->start, b->start, (size_t)(a->count + 1) * sizeof *a->start) == 0 &&
           memcmp(a->pairs, b->pairs, (size_t)count * sizeof *a->pairs) == 0;
}

static void test_order_is_decided(void **state) {
    (void)state;
    Corpus corpus = make_corpus(777, 1, 3, 4); /* many ties */
    for (int unit = BATCH_SENTENCES; unit <= BATCH_TOKENS; unit++) {
        BatchPlan *plan = batch_plan_new(&corpus, (BatchUnit)unit, 50, 4, 5, 1, workers);
        BatchPlan *again = batch_plan_new(&corpus, (BatchUnit)unit, 50, 4, 5, 1, workers);
        BatchPlan *epoch = batch_plan_new(&corpus, (BatchUnit)unit, 50, 4, 5, 2, workers);
        BatchPlan *seed = batch_plan_new(&corpus, (BatchUnit)unit, 50, 4, 6, 1, workers);
        assert_true(same_plan(plan, again, 777));
        Workers *many = workers_new(5);
        BatchPlan *shared = batch_plan_new(&corpus, (BatchUnit)unit, 50, 4, 5, 1, many);
        assert_true(same_plan(plan, shared, 777));
        batch_plan_free(shared);
        workers_free(many);
        assert_false(same_plan(plan, epoch, 777));
        assert_false(same_plan(plan, seed, 777));
        batch_plan_free(plan);
        batch_plan_free(again);
        batch_plan_free(epoch);
        batch_plan_free(seed);
    }
    corpus_free(&corpus);
}

/* Target positions computed, padding included, per token. */
static double padding(const Corpus *corpus, int window) {
    BatchPlan *plan = batch_plan_new(corpus, BATCH_TOKENS, 1000, window, 5, 1, workers);
    double padded = 0, tokens = 0;
    for (int b = 0; b < plan->count; b++) {
        int longest = 0;
        for (int i = plan->start[b]; i < plan->start[b + 1]; i++) {
            int length = corpus_target_length(corpus, plan->pairs[i]) + 1;
            longest = length > longest ? length : longest;
        }
        padded += (double)longest * (plan->start[b + 1] - plan->start[b]);
        tokens += batch_tokens(plan, corpus, b);
    }
    batch_plan_free(plan);
    return padded / tokens;
}

static void test_lengths_are_alike(void **state) {
    (void)state;
    Corpus corpus = make_corpus(20000, 1, 60, 6);
    double none = padding(&corpus, 1), some = padding(&corpus, 100);
    assert_true(none > 1.5);
    assert_true(some < 1.05);
    corpus_free(&corpus);
}

static int batch_of(const BatchPlan *plan, int pair) {
    for (int b = 0; b < plan->count; b++)
        for (int i = plan->start[b]; i < plan->start[b + 1]; i++)
            if (plan->pairs[i] == pair) return b;
    fail();
    return -1;
}

/* A sentence is in a batch with other sentences in each epoch. */
static void test_company_changes(void **state) {
    (void)state;
    Corpus corpus = make_corpus(1000, 7, 7, 1);
    BatchPlan *first = batch_plan_new(&corpus, BATCH_SENTENCES, 50, 4, 5, 1, workers);
    BatchPlan *second = batch_plan_new(&corpus, BATCH_SENTENCES, 50, 4, 5, 2, workers);
    int home = batch_of(first, 0), together = 0;
    for (int i = first->start[home]; i < first->start[home + 1]; i++)
        together += batch_of(second, first->pairs[i]) == batch_of(second, 0);
    assert_in_range(together, 1, 14); /* the sentence itself, and 2.4 others by chance */
    batch_plan_free(first);
    batch_plan_free(second);
    corpus_free(&corpus);
}

/* Batches of short sentences do not all come first, and neighbours in the corpus do not stay together. */
static void test_order_is_random(void **state) {
    (void)state;
    Corpus corpus = make_corpus(20000, 1, 60, 7);
    BatchPlan *plan =
        batch_plan_new(&corpus, BATCH_SENTENCES, 50, 400, 5, 1, workers); /* one window: fully sorted */
    int rises = 0, near = 0;
    for (int b = 0; b + 1 < plan->count; b++)
        rises += corpus_target_length(&corpus, plan->pairs[plan->start[b]]) <
                 corpus_target_length(&corpus, plan->pairs[plan->start[b + 1]]);
    for (int i = 0; i + 1 < corpus.count; i++) {
        int step = plan->pairs[i] - plan->pairs[i + 1];
        near += step >= -10 && step <= 10;
    }
    assert_in_range(rises, 150, 250); /* of 399 */
    assert_true(near < 100);          /* 20 expected by chance */
    batch_plan_free(plan);
    corpus_free(&corpus);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sentences),        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_oversized),        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_order_is_decided), cmocka_unit_test(test_lengths_are_alike),
        cmocka_unit_test(test_order_is_random),  cmocka_unit_test(test_company_changes),
    };
    workers = workers_new(2);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    workers_free(workers);
    return failed;
}
