/* search.c - greedy, beam and forced search on a small random model. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "base/rng.h"
#include "search/repetition.h"
#include "search/search.h"
#include "search/top_tokens.h"
#include "kern/kern.h"
#include "unit/tiny_model.h"

enum { WORDS = 40, SENTENCES = 64 };

static const SearchOptions GREEDY = {
    .decode = {.beam_size = 1, .length_penalty = 1, .max_length_factor = 2, .max_length_extra = 5},
    .n_best = 1,
    .attention = true};

/* 64 sentences of 0 to 12 words. */
typedef struct {
    Seq2Seq *model;
    Tokens sources[SENTENCES];
} Fixture;

static void fixture_begin_with(Fixture *fixture, int words, uint64_t seed) {
    fixture->model = tiny_model_new(words, seed);
    for (int i = 0; i < SENTENCES; i++)
        fixture->sources[i] = tiny_model_tokens(fixture->model, words, i, i * 7 % 13);
}
static void fixture_begin(Fixture *fixture, uint64_t seed) { fixture_begin_with(fixture, WORDS, seed); }

static void fixture_end(Fixture *fixture) {
    for (int i = 0; i < SENTENCES; i++) tiny_model_forget(fixture->sources[i]);
    seq2seq_free(fixture->model);
}

static void results_free(HypothesisList *results, int count) {
    for (int i = 0; i < count; i++) hypotheses_free(&results[i]);
}

/* Bit for bit. */
static void assert_same_results(const HypothesisList *a, const HypothesisList *b) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->source_length, b->source_length);
    assert_true(a->count > 0);
    for (int i = 0; i < a->count; i++) {
        const Hypothesis *x = &a->items[i], *y = &b->items[i];
        assert_int_equal(x->length, y->length);
        assert_int_equal(x->steps, y->steps);
        assert_memory_equal(x->ids, y->ids, (size_t)x->length * sizeof *x->ids);
        assert_memory_equal(&x->score, &y->score, sizeof x->score);
        assert_memory_equal(&x->normalized, &y->normalized, sizeof x->normalized);
        assert_memory_equal(x->token_scores, y->token_scores, (size_t)x->steps * sizeof *x->token_scores);
        assert_int_equal(x->attention == NULL, y->attention == NULL);
        if (x->attention)
            assert_memory_equal(x->attention, y->attention,
                                (size_t)x->steps * (size_t)a->source_length * sizeof *x->attention);
    }
}

/* Search sentences order[0..count-1] together; results in that order. */
static void search_some(const Fixture *fixture, const int *order, int count, const SearchOptions *options,
                        bool beam, HypothesisList *results) {
    Tokens sources[SENTENCES];
    for (int i = 0; i < count; i++) sources[i] = fixture->sources[order[i]];
    const Seq2Seq *model = fixture->model;
    Scorer *scorer = scorer_new(&model, 1, false);
    if (beam)
        beam_search(scorer, sources, NULL, count, options, results);
    else
        greedy_search(scorer, sources, NULL, count, options, results);
    scorer_free(scorer);
}

static void identity(int *order) {
    for (int i = 0; i < SENTENCES; i++) order[i] = i;
}

static void test_greedy_is_beam_of_one(void **state) {
    (void)state;
    Fixture fixture;
    int order[SENTENCES], different_lengths = 0;
    HypothesisList greedy[SENTENCES], beam[SENTENCES];
    fixture_begin(&fixture, 11);
    identity(order);
    search_some(&fixture, order, SENTENCES, &GREEDY, false, greedy);
    search_some(&fixture, order, SENTENCES, &GREEDY, true, beam);
    for (int i = 0; i < SENTENCES; i++) {
        assert_same_results(&greedy[i], &beam[i]);
        different_lengths += greedy[i].items[0].length != greedy[0].items[0].length;
    }
    assert_true(different_lengths > 5); /* else the test has too few cases */
    results_free(greedy, SENTENCES);
    results_free(beam, SENTENCES);
    fixture_end(&fixture);
}

/* A sentence's result does not depend on the other sentences of the batch. */
static void check_batch_invariance(int beam_size) {
    Fixture fixture;
    SearchOptions options = GREEDY;
    int order[SENTENCES];
    HypothesisList together[SENTENCES], alone;
    options.decode.beam_size = beam_size;
    options.n_best = beam_size;
    fixture_begin(&fixture, 5);
    for (int shuffle = 0; shuffle < 3; shuffle++) {
        Rng rng = rng_new((uint64_t)shuffle);
        identity(order);
        if (shuffle > 0) rng_shuffle(&rng, order, SENTENCES);
        search_some(&fixture, order, SENTENCES, &options, beam_size > 1, together);
        for (int i = 0; i < SENTENCES; i++) {
            search_some(&fixture, &order[i], 1, &options, beam_size > 1, &alone);
            assert_same_results(&together[i], &alone);
            hypotheses_free(&alone);
        }
        results_free(together, SENTENCES);
    }
    fixture_end(&fixture);
}

static void test_greedy_batch_invariance(void **state) {
    (void)state;
    check_batch_invariance(1);
}

static void test_beam_batch_invariance(void **state) {
    (void)state;
    check_batch_invariance(4);
}

/* Following a hypothesis gives its score, token scores and attention again. */
static void test_forced_equals_search(void **state) {
    (void)state;
    Fixture fixture;
    SearchOptions options = GREEDY;
    int order[SENTENCES], ended = 0;
    HypothesisList found[SENTENCES], forced[SENTENCES];
    Tokens targets[SENTENCES];
    options.decode.beam_size = 3;
    fixture_begin(&fixture, 25);
    identity(order);
    search_some(&fixture, order, SENTENCES, &options, true, found);
    for (int i = 0; i < SENTENCES; i++)
        targets[i] = (Tokens){found[i].items[0].ids, found[i].items[0].length};
    const Seq2Seq *model = fixture.model;
    Scorer *scorer = scorer_new(&model, 1, false);
    forced_search(scorer, fixture.sources, SENTENCES, &(ForcedTargets){targets, SENTENCES, NULL}, &options,
                  forced);
    for (int i = 0; i < SENTENCES; i++) {
        double sum = 0;
        for (int t = 0; t < forced[i].items[0].steps; t++) sum += (double)forced[i].items[0].token_scores[t];
        assert_true(fabs(sum - forced[i].items[0].score) <= 1e-4);
        assert_true(forced[i].items[0].score < 0);
        assert_int_equal(forced[i].items[0].steps, targets[i].length + 1);
        if (found[i].items[0].steps != targets[i].length + 1) continue;
        assert_same_results(&found[i], &forced[i]);
        ended++;
    }
    assert_true(ended > SENTENCES / 4);
    results_free(found, SENTENCES);
    results_free(forced, SENTENCES);
    scorer_free(scorer);
    fixture_end(&fixture);
}

/* ---- a beam as wide as all hypotheses equals exhaustive search ---- */

enum { FEW = 3, MAX_STEPS = 4, ALL = 1 + 3 + 9 + 27 };

static void add_all(int (*ids)[MAX_STEPS], int *lengths, int *count, int *prefix, int length) {
    memcpy(ids[*count], prefix, (size_t)length * sizeof *prefix);
    lengths[(*count)++] = length;
    for (int w = 0; w < FEW && length < MAX_STEPS - 1; w++) {
        prefix[length] = VOCAB_SPECIALS + w;
        add_all(ids, lengths, count, prefix, length + 1);
    }
}

static void test_beam_finds_the_best(void **state) {
    (void)state;
    enum { TRIED = 60, BEST = 5 };
    for (int n = 0; n < TRIED; n++) {
        double alpha = n % 3;
        int n_best = 1 + n % BEST;
        Seq2Seq *model = tiny_model_new(FEW, (uint64_t)n + 1);
        const Seq2Seq *models = model;
        Scorer *scorer = scorer_new(&models, 1, false);
        SearchOptions options = {
            .decode = {.beam_size = 200, .length_penalty = alpha, .max_length_extra = MAX_STEPS},
            .n_best = n_best};
        int all[ALL][MAX_STEPS], lengths[ALL], count = 0, prefix[MAX_STEPS];
        Tokens source = tiny_model_tokens(model, FEW, n, 3), sources[ALL], targets[ALL];
        HypothesisList found, each[ALL];
        add_all(all, lengths, &count, prefix, 0);
        assert_int_equal(count, ALL);
        for (int i = 0; i < ALL; i++) {
            sources[i] = source;
            targets[i] = (Tokens){all[i], lengths[i]};
        }
        forced_search(scorer, sources, ALL, &(ForcedTargets){targets, ALL, NULL}, &options, each);
        beam_search(scorer, &source, NULL, 1, &options, &found);
        assert_int_equal(found.count, n_best);
        for (int rank = 0; rank < n_best; rank++) {
            int best = 0;
            for (int i = 1; i < ALL; i++)
                if (each[i].items[0].normalized > each[best].items[0].normalized) best = i;
            const Hypothesis *is = &found.items[rank], *should = &each[best].items[0];
            assert_int_equal(is->length, should->length);
            assert_memory_equal(is->ids, should->ids, (size_t)is->length * sizeof(int));
            assert_true(is->score == should->score);
            assert_true(is->normalized == should->score / pow(should->steps, alpha));
            each[best].items[0].normalized = -INFINITY;
        }
        hypotheses_free(&found);
        results_free(each, ALL);
        tiny_model_forget(source);
        scorer_free(scorer);
        seq2seq_free(model);
    }
}

/* A model with equal scores: the first row wins, then the lower token. */
static void test_beam_between_equals(void **state) {
    (void)state;
    enum { BEAM = 3, FIRST = VOCAB_SPECIALS };
    Seq2Seq *model = tiny_model_new(FEW, 1);
    const Seq2Seq *models = model;
    ParamSet *params = seq2seq_params(model);
    for (size_t i = 0; i < params->size; i++) params->data[i] = 0;
    params_pack_all(params);
    Scorer *scorer = scorer_new(&models, 1, false);
    Tokens source = tiny_model_tokens(model, FEW, 1, 3);
    SearchOptions options = {.decode = {.beam_size = BEAM, .max_length_extra = BEAM}, .n_best = BEAM};
    HypothesisList found;
    beam_search(scorer, &source, NULL, 1, &options, &found);
    /* Of </s>, t0 and t1 the first ends; of t0 </s>, t0 t0, t1 </s> and t1 t0 two stay; then t0 t0 </s>. */
    assert_int_equal(found.count, BEAM);
    for (int i = 0; i < BEAM; i++) {
        assert_int_equal(found.items[i].length, i);
        assert_int_equal(found.items[i].steps, i + 1);
        for (int t = 0; t < i; t++) assert_int_equal(found.items[i].ids[t], FIRST);
    }
    hypotheses_free(&found);
    tiny_model_forget(source);
    scorer_free(scorer);
    seq2seq_free(model);
}

/* Stopping early when nothing can improve must not change the n best. */
static void test_n_best_is_prefix(void **state) {
    (void)state;
    Fixture fixture;
    SearchOptions options = GREEDY;
    int order[SENTENCES], more = 0;
    HypothesisList one[SENTENCES], many[SENTENCES];
    fixture_begin(&fixture, 12);
    identity(order);
    options.decode.beam_size = 6;
    options.decode.length_penalty = 0.5;
    search_some(&fixture, order, SENTENCES, &options, true, one);
    options.n_best = 6;
    search_some(&fixture, order, SENTENCES, &options, true, many);
    for (int i = 0; i < SENTENCES; i++) {
        assert_int_equal(one[i].count, 1);
        assert_true(many[i].count <= 6);
        more += many[i].count == 6;
        for (int k = 1; k < many[i].count; k++) {
            const Hypothesis *a = &many[i].items[k - 1], *b = &many[i].items[k];
            bool a_cut = a->steps == a->length, b_cut = b->steps == b->length;
            assert_true(a_cut == b_cut ? a->normalized >= b->normalized : b_cut);
        }
        HypothesisList first = {many[i].items, 1, many[i].source_length};
        assert_same_results(&one[i], &first);
    }
    assert_true(more > SENTENCES / 2);
    results_free(one, SENTENCES);
    results_free(many, SENTENCES);
    fixture_end(&fixture);
}

/* ---- tokens that may be chosen ---- */

static void test_top_tokens(void **state) {
    (void)state;
    Rng rng = rng_new(3);
    enum { MOST = 2000 };
    real x[MOST], scratch[64], greatest;
    assert_true(top_tokens_scratch(MOST, 12) <= sizeof scratch / sizeof *scratch);
    for (int round = 0; round < 800; round++) {
        int V = 5 + (int)rng_below(&rng, round % 4 < 2 ? 390 : MOST - 5), k = 1 + (int)rng_below(&rng, 12),
            got[12], want = 0;
        bool allow_unk = round % 2;
        for (int v = 0; v < V; v++)
            x[v] = (real)rng_below(&rng, round % 3 ? 1000 : 10); /* few values: ties */
        x[VOCAB_PAD] = x[VOCAB_BOS] = 5000;
        x[VOCAB_UNK] = round % 4 == 1 ? 4000 : x[VOCAB_UNK];
        if (round % 5 == 0) x[V - 1] = (real)NAN;
        int count = top_tokens_find(x, V, k, allow_unk, scratch, got, &greatest);
        for (int v = 0; v < V; v++) assert_false(x[v] > greatest);
        assert_true(greatest == 5000);
        bool used[MOST] = {[VOCAB_PAD] = true, [VOCAB_BOS] = true};
        used[VOCAB_UNK] = !allow_unk;
        for (;; want++) {
            int best = -1;
            for (int v = 0; v < V; v++)
                if (!used[v] && !isnan(x[v]) && (best < 0 || x[v] > x[best])) best = v;
            if (best < 0 || want == k) break;
            assert_true(want < count);
            assert_int_equal(got[want], best);
            used[best] = true;
        }
        assert_int_equal(count, want);
    }
}

static void test_no_special_tokens(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        enum { N = 20, VERY_FEW = 2 }; /* most of the vocabulary is special tokens */
        Seq2Seq *model = tiny_model_new(VERY_FEW, seed);
        const Seq2Seq *models = model;
        Scorer *scorer = scorer_new(&models, 1, false);
        for (int i = 0; i < N; i++) {
            HypothesisList found;
            SearchOptions options = GREEDY;
            Tokens source = tiny_model_tokens(model, VERY_FEW, i, 4);
            options.decode.beam_size = options.n_best = 1 + i % 4;
            (options.decode.beam_size > 1 ? beam_search : greedy_search)(scorer, &source, NULL, 1, &options,
                                                                         &found);
            for (int k = 0; k < found.count; k++)
                for (int t = 0; t < found.items[k].length; t++)
                    assert_true(found.items[k].ids[t] >= VOCAB_SPECIALS);
            hypotheses_free(&found);
            tiny_model_forget(source);
        }
        scorer_free(scorer);
        seq2seq_free(model);
    }
}

/* A banned token is not written, and the others keep their probabilities. */
static void test_banned_tokens(void **state) {
    (void)state;
    enum { N = 20 };
    for (int beam = 1; beam <= 4; beam += 3) {
        Seq2Seq *model = tiny_model_new(WORDS, 3);
        const Seq2Seq *models = model;
        int first = 0;
        for (int i = 0; i < N; i++) {
            HypothesisList before, after, forced;
            SearchOptions options = GREEDY;
            Tokens source = tiny_model_tokens(model, WORDS, i, 4);
            options.decode.beam_size = options.n_best = beam;
            options.alternatives = beam == 1 ? 3 : 0;
            Scorer *scorer = scorer_new(&models, 1, false);
            (beam > 1 ? beam_search : greedy_search)(scorer, &source, NULL, 1, &options, &before);
            scorer_free(scorer);
            bool bans = first == 0 && before.items[0].length > 0;
            if (bans) { /* from now on */
                first = before.items[0].ids[0];
                StrView word = vocab_token(tokenizer_vocab(seq2seq_target(model)), first);
                assert_int_equal(tokenizer_set_role(seq2seq_target(model), TOKENIZER_BANNED, word),
                                 STATUS_OK);
            }
            scorer = scorer_new(&models, 1, false);
            (beam > 1 ? beam_search : greedy_search)(scorer, &source, NULL, 1, &options, &after);
            for (int k = 0; k < after.count; k++)
                for (int t = 0; t < after.items[k].length; t++)
                    assert_int_not_equal(after.items[k].ids[t], first);
            if (bans) assert_true(after.items[0].length == 0 || after.items[0].ids[0] != first);
            Tokens again = {after.items[0].ids, after.items[0].length};
            ForcedTargets targets = {&again, 1, NULL};
            forced_search(scorer, &source, 1, &targets, &options, &forced);
            for (int t = 0; t < again.length; t++)
                assert_true(fabs((double)(forced.items[0].token_scores[t] - after.items[0].token_scores[t])) <
                            1e-5);
            hypotheses_free(&before);
            hypotheses_free(&after);
            hypotheses_free(&forced);
            scorer_free(scorer);
            tiny_model_forget(source);
        }
        assert_int_not_equal(first, 0);
        seq2seq_free(model);
    }
}

static void test_maximal_length(void **state) {
    (void)state;
    Fixture fixture;
    SearchOptions options = GREEDY;
    int order[SENTENCES], cut = 0;
    HypothesisList found[SENTENCES];
    assert_int_equal(hypothesis_max_steps(&options.decode, 10), 25);
    options.decode.max_length_factor = 0.5;
    options.decode.max_length_extra = 0;
    assert_int_equal(hypothesis_max_steps(&options.decode, 7), 3);
    assert_int_equal(hypothesis_max_steps(&options.decode, 0), 1);
    fixture_begin(&fixture, 5);
    identity(order);
    for (int beam = 1; beam <= 3; beam += 2) {
        options.decode.beam_size = options.n_best = beam;
        search_some(&fixture, order, SENTENCES, &options, beam > 1, found);
        for (int i = 0; i < SENTENCES; i++) {
            int most = hypothesis_max_steps(&options.decode, fixture.sources[i].length);
            for (int k = 0; k < found[i].count; k++) {
                const Hypothesis *h = &found[i].items[k];
                assert_true(h->steps >= 1 && h->steps <= most);
                assert_true(h->steps == h->length || h->steps == h->length + 1);
                cut += h->steps == h->length;
                if (h->steps == h->length) assert_int_equal(h->steps, most);
            }
        }
        results_free(found, SENTENCES);
    }
    assert_true(cut > 0);
    fixture_end(&fixture);
}

/* A vocabulary so large that the rows of a step are searched in several blocks. */
static void test_blocks_of_rows(void **state) {
    (void)state;
    enum { MANY_WORDS = 9000 };
    Fixture fixture;
    SearchOptions options = GREEDY;
    int order[SENTENCES];
    HypothesisList together[SENTENCES], alone;
    options.decode.max_length_factor = 0;
    fixture_begin_with(&fixture, MANY_WORDS, 19);
    identity(order);
    for (int beam = 1; beam <= 2; beam++) {
        options.decode.beam_size = options.n_best = beam;
        search_some(&fixture, order, SENTENCES, &options, beam > 1, together);
        for (int i = 0; i < SENTENCES; i++) {
            search_some(&fixture, &order[i], 1, &options, beam > 1, &alone);
            assert_same_results(&alone, &together[i]);
            hypotheses_free(&alone);
        }
        results_free(together, SENTENCES);
    }
    fixture_end(&fixture);
}

/* tokens_only gives the same tokens. */
static void test_tokens_only(void **state) {
    (void)state;
    Fixture fixture;
    SearchOptions options = GREEDY;
    int order[SENTENCES];
    HypothesisList scored[SENTENCES], bare[SENTENCES];
    fixture_begin(&fixture, 17);
    identity(order);
    search_some(&fixture, order, SENTENCES, &options, false, scored);
    options.tokens_only = true;
    search_some(&fixture, order, SENTENCES, &options, false, bare);
    for (int i = 0; i < SENTENCES; i++) {
        const Hypothesis *x = &scored[i].items[0], *y = &bare[i].items[0];
        assert_int_equal(x->steps, y->steps);
        assert_int_equal(x->length, y->length);
        assert_memory_equal(x->ids, y->ids, (size_t)x->length * sizeof *x->ids);
        assert_true(x->score < 0 && y->score == 0);
    }
    results_free(scored, SENTENCES);
    results_free(bare, SENTENCES);
    fixture_end(&fixture);
}

/* ---- attention and ensembles ---- */

static void test_attention_is_a_distribution(void **state) {
    (void)state;
    Fixture fixture;
    SearchOptions options = GREEDY;
    int order[SENTENCES];
    HypothesisList found[SENTENCES];
    fixture_begin(&fixture, 9);
    identity(order);
    options.decode.beam_size = options.n_best = 3;
    search_some(&fixture, order, SENTENCES, &options, true, found);
    for (int i = 0; i < SENTENCES; i++) {
        assert_int_equal(found[i].source_length, fixture.sources[i].length + 1);
        for (int k = 0; k < found[i].count; k++) {
            for (int t = 0; t < found[i].items[k].steps; t++) {
                double sum = 0;
                for (int s = 0; s < found[i].source_length; s++) {
                    float weight = found[i].items[k].attention[t * found[i].source_length + s];
                    assert_true(weight >= 0 && weight <= 1.0001f);
                    sum += (double)weight;
                }
                assert_true(fabs(sum - 1) <= 1e-4);
            }
        }
    }
    results_free(found, SENTENCES);
    fixture_end(&fixture);
}

static void test_ensemble_of_one_model(void **state) {
    (void)state;
    Fixture fixture;
    SearchOptions options = GREEDY;
    int order[SENTENCES];
    HypothesisList one[SENTENCES], two[SENTENCES];
    options.decode.beam_size = 3;
    fixture_begin(&fixture, 13);
    identity(order);
    search_some(&fixture, order, SENTENCES, &options, true, one);
    const Seq2Seq *models[2] = {fixture.model, fixture.model};
    Tokens sources[2][SENTENCES];
    for (int m = 0; m < 2; m++) memcpy(sources[m], fixture.sources, sizeof sources[m]);
    assert_int_equal(scorer_check(models, 2), STATUS_OK);
    Scorer *scorer = scorer_new(models, 2, false);
    beam_search(scorer, sources[0], NULL, SENTENCES, &options, two);
    for (int i = 0; i < SENTENCES; i++) {
        assert_int_equal(one[i].items[0].length, two[i].items[0].length);
        assert_memory_equal(one[i].items[0].ids, two[i].items[0].ids,
                            (size_t)one[i].items[0].length * sizeof(int));
        assert_true(fabs(one[i].items[0].score - two[i].items[0].score) <= 1e-3);
    }
    scorer_free(scorer);
    results_free(one, SENTENCES);
    results_free(two, SENTENCES);
    fixture_end(&fixture);
}

/* The probability of an ensemble is the mean of its models'. */
static void test_ensemble_mean(void **state) {
    (void)state;
    Seq2Seq *a = tiny_model_new(WORDS, 31), *b = tiny_model_new(WORDS, 32);
    const Seq2Seq *models[2] = {a, b};
    int words[3] = {VOCAB_SPECIALS, VOCAB_SPECIALS + 7, VOCAB_SPECIALS + 3};
    Tokens source = tiny_model_tokens(a, WORDS, 1, 5), sources[2] = {source, source}, target = {words, 3};
    HypothesisList result[3];
    double differ = 0;
    for (int m = 0; m < 3; m++) {
        Scorer *scorer = m < 2 ? scorer_new(&models[m], 1, false) : scorer_new(models, 2, false);
        forced_search(scorer, sources, 1, &(ForcedTargets){&target, 1, NULL}, &GREEDY, &result[m]);
        scorer_free(scorer);
    }
    for (int t = 0; t < 4; t++) {
        double p = exp((double)result[0].items[0].token_scores[t]),
               q = exp((double)result[1].items[0].token_scores[t]);
        double mean = log((p + q) / 2);
        assert_true(fabs(mean - (double)result[2].items[0].token_scores[t]) <= 1e-4);
        differ += fabs(p - q);
    }
    assert_true(differ > 1e-3);
    results_free(result, 3);
    tiny_model_forget(source);
    seq2seq_free(a);
    seq2seq_free(b);
}

static void test_ensemble_needs_one_vocabulary(void **state) {
    (void)state;
    Seq2Seq *a = tiny_model_new(5, 1), *b = tiny_model_new(6, 1);
    const Seq2Seq *models[2] = {a, b};
    assert_int_equal(scorer_check(models, 1), STATUS_OK);
    assert_int_equal(scorer_check(models, 2), STATUS_USAGE);
    assert_non_null(strstr(status_message(), "model 2 has 10 target tokens, model 1 has 9"));
    seq2seq_free(a);
    seq2seq_free(b);
}

/* ---- repetition ---- */

static bool has_repeated_pair(const Hypothesis *h) {
    for (int i = 0; i + 1 < h->length; i++)
        for (int j = i + 1; j + 1 < h->length; j++)
            if (h->ids[i] == h->ids[j] && h->ids[i + 1] == h->ids[j + 1]) return true;
    return false;
}

static void test_no_repeat_ngram(void **state) {
    (void)state;
    Fixture fixture;
    int order[SENTENCES], without = 0;
    identity(order);
    fixture_begin(&fixture, 5);
    for (int beam = 1; beam <= 4; beam += 3)
        for (int n = 0; n <= 2; n += 2) {
            HypothesisList results[SENTENCES] = {{0}};
            SearchOptions options = GREEDY;
            options.decode.beam_size = options.n_best = beam;
            options.decode.max_length_extra = 30;
            options.decode.no_repeat_ngram = n;
            search_some(&fixture, order, SENTENCES, &options, beam > 1, results);
            for (int i = 0; i < SENTENCES; i++)
                for (int k = 0; k < results[i].count; k++) {
                    bool repeats = has_repeated_pair(&results[i].items[k]);
                    without += n == 0 && repeats;
                    assert_false(n > 0 && repeats);
                    assert_true(isfinite(results[i].items[k].score));
                }
            results_free(results, SENTENCES);
        }
    assert_true(without > 0); /* or the option has nothing to do */
    fixture_end(&fixture);
}

/* Random models loop; their hypotheses end long before the maximal length, and without </s>. */
static void test_loops_end(void **state) {
    (void)state;
    Fixture fixture;
    int order[SENTENCES];
    identity(order);
    fixture_begin(&fixture, 5);
    for (int beam = 1; beam <= 4; beam += 3) {
        HypothesisList results[SENTENCES] = {{0}};
        SearchOptions options = GREEDY;
        options.decode.beam_size = options.n_best = beam;
        options.decode.max_length_extra = 1000;
        int loops = 0;
        search_some(&fixture, order, SENTENCES, &options, beam > 1, results);
        for (int i = 0; i < SENTENCES; i++)
            for (int k = 0; k < results[i].count; k++) {
                const Hypothesis *h = &results[i].items[k];
                int repeats = tokens_repeats(h->ids, h->length);
                loops += h->steps == h->length && repeats > LOOP_MAX;
                assert_true(repeats <= LOOP_MAX + LOOP_EVERY);
            }
        assert_true(loops > 0);
        results_free(results, SENTENCES);
    }
    fixture_end(&fixture);
}

static void test_repeats(void **state) {
    (void)state;
    static const struct {
        const char *tokens;
        int repeats;
    } CASES[] = {{"", 1},          {"a", 1},         {"abc", 1},        {"aab", 2},
                 {"abcabcabc", 3}, {"xabababay", 3}, {"aaaaaaaaaa", 10}};
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        int ids[16], count = (int)strlen(CASES[c].tokens);
        for (int i = 0; i < count; i++) ids[i] = CASES[c].tokens[i];
        assert_int_equal(tokens_repeats(ids, count), CASES[c].repeats);
    }
    int many[40] = {0};
    assert_int_equal(loop_limit(&(SearchOptions){0}, (Tokens){many, 40}), 40); /* as often as the source */
    assert_int_equal(loop_limit(&(SearchOptions){0}, (Tokens){many, 2}), LOOP_MAX);
    assert_int_equal(loop_limit(&(SearchOptions){.keep_loops = true}, (Tokens){many, 2}), INT_MAX);
}

/* The searches of other programs fill the beam, and rank by score alone. transformers' last token is </s>;
 * CTranslate2's first one is not. */
static void test_early_stopping(void **state) {
    (void)state;
    Fixture fixture;
    int order[SENTENCES], ended_late = 0, cut = 0;
    identity(order);
    fixture_begin(&fixture, 12);
    for (int kind = STOP_MARIAN; kind <= STOP_CTRANSLATE2; kind++)
        for (int beam = 1; beam <= 4; beam += 3) {
            HypothesisList results[SENTENCES] = {{0}};
            SearchOptions options = GREEDY;
            options.decode.early_stopping = kind;
            options.decode.beam_size = options.n_best = beam;
            options.decode.max_length_factor = 0;
            options.decode.max_length_extra = 6;
            options.keep_loops = true;
            search_some(&fixture, order, SENTENCES, &options, beam > 1, results);
            for (int i = 0; i < SENTENCES; i++) {
                if (kind != STOP_MARIAN) assert_int_equal(results[i].count, beam);
                for (int k = 0; k < results[i].count; k++) {
                    const Hypothesis *h = &results[i].items[k];
                    assert_true(h->steps <= 6);
                    if (k > 0) assert_true(h[-1].normalized >= h->normalized);
                    cut += kind == STOP_MARIAN && h->steps == h->length;
                    ended_late += kind == STOP_TRANSFORMERS && h->steps == 6;
                    if (kind == STOP_TRANSFORMERS) assert_int_equal(h->steps, h->length + 1);
                    if (kind == STOP_TRANSFORMERS && h->steps == 6) assert_true(h->token_scores[5] <= 0);
                    if (kind == STOP_CTRANSLATE2) assert_true(h->length > 0);
                }
            }
            results_free(results, SENTENCES);
        }
    assert_true(ended_late > 0 && cut > 0);
    fixture_end(&fixture);
}

int main(void) {
    kern_select();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_greedy_is_beam_of_one),
        cmocka_unit_test(test_greedy_batch_invariance),
        cmocka_unit_test(test_beam_batch_invariance),
        cmocka_unit_test(test_forced_equals_search),
        cmocka_unit_test(test_beam_finds_the_best),
        cmocka_unit_test(test_beam_between_equals),
        cmocka_unit_test(test_n_best_is_prefix),
        cmocka_unit_test(test_top_tokens),
        cmocka_unit_test(test_no_special_tokens),
        cmocka_unit_test(test_banned_tokens),
        cmocka_unit_test(test_maximal_length),
        cmocka_unit_test(test_no_repeat_ngram),
        cmocka_unit_test(test_loops_end),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_early_stopping),
        cmocka_unit_test(test_blocks_of_rows),
        cmocka_unit_test(test_tokens_only),
        cmocka_unit_test(test_attention_is_a_distribution),
        cmocka_unit_test(test_ensemble_of_one_model),
        cmocka_unit_test(test_ensemble_mean),
        cmocka_unit_test(test_ensemble_needs_one_vocabulary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
