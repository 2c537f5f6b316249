/* length_limit.c - the factor that pairs need: none is lowered, a few odd pairs raise none, and
 * what was chosen lets through what it was chosen for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/log.h"
#include "base/mem.h"
#include "search/search.h"
#include "config/length_limit.h"

typedef struct {
    int count, source, target; /* so many pairs of these lengths */
} Group;

/* The factor after the fit, of pairs of two kinds. */
static double fit(double before, Group a, Group b) {
    Config config;
    config_init(&config);
    config.decode.max_length_factor = before;
    Corpus corpus = {.count = a.count + b.count};
    corpus.source.start = mem_alloc((size_t)corpus.count + 1, sizeof(size_t));
    corpus.target.start = mem_alloc((size_t)corpus.count + 1, sizeof(size_t));
    for (int i = 0; i < corpus.count; i++) {
        const Group *group = i < a.count ? &a : &b;
        corpus.source.start[i + 1] = corpus.source.start[i] + (size_t)group->source;
        corpus.target.start[i + 1] = corpus.target.start[i] + (size_t)group->target;
    }
    length_limit_fit(&config.decode, &corpus);
    double factor = config.decode.max_length_factor;
    mem_free(corpus.source.start);
    mem_free(corpus.target.start);
    config_free(&config);
    return factor;
}

static const Group NONE = {0};

static void test_default_suffices(void **state) {
    (void)state;
    assert_true(fit(2, (Group){100, 10, 30}, NONE) == 2); /* 2 * 10 + 10 */
    assert_true(fit(2, (Group){100, 10, 3}, (Group){10, 1, 12}) == 2);
    assert_true(fit(2, (Group){1, 0, 0}, NONE) == 2);
    assert_true(fit(2, NONE, NONE) == 2);
}

static void test_raised(void **state) {
    (void)state;
    assert_true(fit(2, (Group){100, 10, 31}, NONE) == 3.5); /* 2.1, so 2.5, and a quarter */
    assert_true(fit(2, (Group){100, 7, 61}, NONE) == 9.5);  /* 7.3 */
    assert_true(fit(2, (Group){100, 1, 24}, NONE) == 17.5); /* 14 */
    assert_true(fit(2, (Group){100, 1, 500}, NONE) == 20);  /* no model file may ask for more */
    for (int source = 1; source < 30; source++)
        for (int target = 1; target < 20 * source; target += 7) {
            DecodeOptions decode = {.max_length_extra = 10};
            decode.max_length_factor = fit(2, (Group){5, source, target}, (Group){20, 5, 5});
            assert_true(hypothesis_max_steps(&decode, source) >= target);
        }
}

/* One in a thousand may be a mistake. */
static void test_outliers(void **state) {
    (void)state;
    assert_true(fit(2, (Group){3, 1, 90}, (Group){2997, 10, 12}) == 2);
    assert_true(fit(2, (Group){4, 1, 14}, (Group){2996, 10, 12}) == 5);
    assert_true(fit(2, (Group){3, 1, 90}, (Group){2997, 10, 40}) == 4);
    assert_true(fit(2, (Group){1, 1, 14}, (Group){998, 10, 12}) == 5); /* of fewer each one counts */
}

static void test_given(void **state) {
    (void)state;
    assert_true(fit(1.5, (Group){100, 1, 50}, NONE) == 1.5);
    assert_true(fit(3, (Group){100, 1, 50}, NONE) == 3);
    assert_true(fit(0, (Group){100, 1, 50}, NONE) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_default_suffices), cmocka_unit_test(test_raised),
                                       cmocka_unit_test(test_outliers), cmocka_unit_test(test_given)};
    log_set_level(LOG_QUIET);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
