/* shortlist.c - search among the target tokens of shortlists, alone and in batches. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/mem.h"
#include "search/search.h"
#include "unit/tiny_model.h"

enum { WORDS = 200, V = WORDS + VOCAB_SPECIALS, SENTENCES = 24, NARROW = 5 };

static const SearchOptions OPTIONS = {
    .decode = {.beam_size = 4, .length_penalty = 1, .max_length_factor = 2, .max_length_extra = 5},
    .n_best = 4};

typedef struct {
    Seq2Seq *models[2];
    Tokens sources[2][SENTENCES];
} Fixture;

static void fixture_begin(Fixture *fixture, int width) {
    for (int m = 0; m < 2; m++) {
        fixture->models[m] = tiny_model_new(WORDS, 31 + (uint64_t)m);
        tiny_model_give_lists(fixture->models[m], WORDS, m, width);
        for (int i = 0; i < SENTENCES; i++)
            fixture->sources[m][i] = tiny_model_tokens(fixture->models[m], WORDS, i, i * 7 % 13);
    }
}

static void fixture_end(Fixture *fixture) {
    for (int m = 0; m < 2; m++) {
        for (int i = 0; i < SENTENCES; i++) tiny_model_forget(fixture->sources[m][i]);
        seq2seq_free(fixture->models[m]);
    }
}

/* `count` sentences from `first` on, with that number of models. */
static void search(const Fixture *fixture, int models, int first, int count, const SearchOptions *options,
                   const Constraints *constraints, HypothesisList *results) {
    Tokens sources[2 * SENTENCES];
    for (int m = 0; m < models; m++)
        for (int i = 0; i < count; i++) sources[m * count + i] = fixture->sources[m][first + i];
    Scorer *scorer = scorer_new((const Seq2Seq *const *)fixture->models, models, false);
    (options->decode.beam_size > 1 ? beam_search : greedy_search)(
        scorer, sources, constraints ? constraints + first : NULL, count, options, results);
    scorer_free(scorer);
}

static void free_results(HypothesisList *results, int count) {
    for (int i = 0; i < count; i++) hypotheses_free(&results[i]);
}

/* With all tokens listed: the same translations, whose scores differ by rounding. */
static void test_all_listed(void **state) {
    (void)state;
    Fixture fixture;
    fixture_begin(&fixture, WORDS);
    for (int models = 1; models <= 2; models++)
        for (int beam = 1; beam <= 4; beam += 3) {
            SearchOptions options = OPTIONS;
            HypothesisList all[SENTENCES], listed[SENTENCES];
            options.decode.beam_size = options.n_best = beam;
            search(&fixture, models, 0, SENTENCES, &options, NULL, all);
            options.shortlist = WORDS;
            search(&fixture, models, 0, SENTENCES, &options, NULL, listed);
            for (int i = 0; i < SENTENCES; i++) {
                const Hypothesis *x = &all[i].items[0], *y = &listed[i].items[0];
                assert_int_equal(x->length, y->length);
                assert_memory_equal(x->ids, y->ids, (size_t)x->length * sizeof *x->ids);
                assert_true(fabs(x->score - y->score) < 1e-4 * (1 + fabs(x->score)));
            }
            free_results(all, SENTENCES);
            free_results(listed, SENTENCES);
        }
    fixture_end(&fixture);
}

/* Is the token in a shortlist of sentence i? */
static bool is_listed(const Fixture *fixture, int models, int i, int token) {
    bool marked[V] = {false};
    for (int m = 0; m < models; m++)
        shortlist_mark(seq2seq_shortlist(fixture->models[m]), NARROW, fixture->sources[m][i], marked);
    return marked[token];
}

/* Only listed tokens, and the same bits whatever else is in the batch. */
static void test_narrow(void **state) {
    (void)state;
    Fixture fixture;
    int lists = 0;
    fixture_begin(&fixture, NARROW);
    for (int models = 1; models <= 2; models++)
        for (int beam = 1; beam <= 4; beam += 3) {
            SearchOptions options = OPTIONS;
            HypothesisList together[SENTENCES], alone;
            options.decode.beam_size = options.n_best = beam;
            options.shortlist = NARROW;
            search(&fixture, models, 0, SENTENCES, &options, NULL, together);
            for (int i = 0; i < SENTENCES; i++) {
                search(&fixture, models, i, 1, &options, NULL, &alone);
                assert_int_equal(together[i].count, alone.count);
                for (int k = 0; k < alone.count; k++, lists++) {
                    const Hypothesis *x = &together[i].items[k], *y = &alone.items[k];
                    assert_int_equal(x->length, y->length);
                    assert_memory_equal(x->ids, y->ids, (size_t)x->length * sizeof *x->ids);
                    assert_memory_equal(&x->score, &y->score, sizeof x->score);
                    for (int t = 0; t < x->length; t++)
                        assert_true(is_listed(&fixture, models, i, x->ids[t]));
                }
                hypotheses_free(&alone);
            }
            free_results(together, SENTENCES);
        }
    assert_true(lists > 3 * SENTENCES);
    fixture_end(&fixture);
}

/* Prefixes and phrases are met although no shortlist has their tokens. */
static void test_constraints(void **state) {
    (void)state;
    Fixture fixture;
    static Constraints constraints[SENTENCES];
    HypothesisList results[SENTENCES];
    SearchOptions options = OPTIONS;
    fixture_begin(&fixture, NARROW);
    options.shortlist = NARROW;
    for (int i = 0; i < SENTENCES; i++) {
        int unlisted = VOCAB_SPECIALS;
        while (is_listed(&fixture, 1, i, unlisted)) unlisted++;
        constraints[i] = (Constraints){0};
        if (i % 3 == 0) continue;
        constraints[i].target = seq2seq_target(fixture.models[0]);
        if (i % 3 == 1) {
            id_list_add(&constraints[i].prefix, unlisted);
            constraints[i].fixed = 1;
        } else {
            constraints[i].phrases = mem_alloc(1, sizeof *constraints[i].phrases);
            id_list_add(&constraints[i].phrases[0].ids, unlisted);
            constraints[i].phrase_count = 1;
        }
    }
    search(&fixture, 1, 0, SENTENCES, &options, constraints, results);
    for (int i = 0; i < SENTENCES; i++) {
        const Hypothesis *best = &results[i].items[0];
        int unlisted = 0;
        for (int t = 0; t < best->length; t++) unlisted += !is_listed(&fixture, 1, i, best->ids[t]);
        assert_int_equal(unlisted > 0, i % 3 != 0);
        if (i % 3 == 1) assert_false(is_listed(&fixture, 1, i, best->ids[0]));
    }
    free_results(results, SENTENCES);
    for (int i = 0; i < SENTENCES; i++) constraints_free(&constraints[i]);
    fixture_end(&fixture);
}

/* Forced search of the results gives their scores again. */
static void test_forced(void **state) {
    (void)state;
    Fixture fixture;
    SearchOptions options = OPTIONS;
    HypothesisList found[SENTENCES], forced[SENTENCES];
    Tokens targets[SENTENCES];
    fixture_begin(&fixture, NARROW);
    options.shortlist = NARROW;
    options.alternatives = 3;
    search(&fixture, 1, 0, SENTENCES, &options, NULL, found);
    for (int i = 0; i < SENTENCES; i++)
        targets[i] = (Tokens){found[i].items[0].ids, found[i].items[0].length};
    Scorer *scorer = scorer_new((const Seq2Seq *const *)fixture.models, 1, false);
    forced_search(scorer, fixture.sources[0], SENTENCES, &(ForcedTargets){targets, SENTENCES, NULL}, &options,
                  forced);
    scorer_free(scorer);
    for (int i = 0; i < SENTENCES; i++) {
        const Hypothesis *x = &found[i].items[0], *y = &forced[i].items[0];
        for (int t = 0; t < x->steps; t++) {
            assert_memory_equal(&x->token_scores[t], &y->token_scores[t], sizeof *x->token_scores);
            for (int k = 0; k < 3; k++) {
                int token = y->alternatives[3 * t + k].token;
                assert_true(token < VOCAB_SPECIALS || is_listed(&fixture, 1, i, token));
            }
        }
    }
    free_results(found, SENTENCES);
    free_results(forced, SENTENCES);
    fixture_end(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_listed),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_forced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
