/* rescore.c - models that write from right to left, alone and with models of the other direction. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "search/rescore.h"
#include "unit/tiny_model.h"
#include "unit/model_variants.h"

enum { WORDS = 40, SENTENCES = 24, BEAM = 4, ALTERNATIVES = 2, MOST = 100 };

static const SearchOptions OPTIONS = {
    .decode = {.beam_size = BEAM, .length_penalty = 1, .max_length_factor = 2, .max_length_extra = 5},
    .n_best = BEAM,
    .alternatives = ALTERNATIVES,
    .attention = true};

static void free_all(HypothesisList *results) {
    for (int b = 0; b < SENTENCES; b++) hypotheses_free(&results[b]);
}

/* Sources of 0 to 12 words, the same for each model; targets may be NULL. */
static void find(const Seq2Seq *const *models, int count, const Tokens *targets, const SearchOptions *options,
                 HypothesisList *results) {
    Tokens sources[4 * SENTENCES];
    for (int b = 0; b < SENTENCES; b++) {
        sources[b] = tiny_model_tokens(models[0], WORDS, b, b * 7 % 13);
        for (int m = 1; m < count; m++) sources[m * SENTENCES + b] = sources[b];
    }
    Rescorer *rescorer = rescorer_new(models, count, options->decode.left_to_right);
    SearchInput sentences = {.sources = sources, .targets = targets, .B = SENTENCES};
    rescorer_search(rescorer, &sentences, options, results);
    assert_int_equal(rescorer_first_nonfinite(rescorer), -1);
    rescorer_free(rescorer);
    for (int b = 0; b < SENTENCES; b++) tiny_model_forget(sources[b]);
}

/* b is a with its tokens reversed, except </s>. */
static void assert_turned(const Hypothesis *a, const Hypothesis *b, int source_length, bool alternatives) {
    assert_int_equal(a->length, b->length);
    assert_int_equal(a->steps, b->steps);
    assert_true(a->score == b->score && a->normalized == b->normalized);
    for (int t = 0; t < a->steps; t++) {
        int u = t < a->length ? a->length - 1 - t : t;
        if (t < a->length) assert_int_equal(a->ids[t], b->ids[u]);
        assert_true(a->token_scores[t] == b->token_scores[u]);
        assert_memory_equal(a->attention + t * source_length, b->attention + u * source_length,
                            (size_t)source_length * sizeof *a->attention);
        for (int k = 0; k < ALTERNATIVES && alternatives; k++) {
            assert_int_equal(a->alternatives[t * ALTERNATIVES + k].token,
                             b->alternatives[u * ALTERNATIVES + k].token);
            assert_true(a->alternatives[t * ALTERNATIVES + k].log_p ==
                        b->alternatives[u * ALTERNATIVES + k].log_p);
        }
    }
}

/* With the same weights a right-to-left model writes the reversed translation. */
static void test_other_direction(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(WORDS, 31), *reversed = tiny_model_new(WORDS, 31);
    const Seq2Seq *models[] = {model, reversed};
    tiny_model_reverse(reversed);
    int longest = 0;
    for (int beam = 1; beam <= BEAM; beam += BEAM - 1) {
        HypothesisList a[SENTENCES] = {0}, b[SENTENCES] = {0};
        SearchOptions options = OPTIONS;
        options.decode.beam_size = beam;
        find(&models[0], 1, NULL, &options, a);
        find(&models[1], 1, NULL, &options, b);
        for (int s = 0; s < SENTENCES; s++) {
            assert_int_equal(a[s].count, b[s].count);
            for (int i = 0; i < a[s].count; i++)
                assert_turned(&a[s].items[i], &b[s].items[i], a[s].source_length, i == 0);
            if (a[s].items[0].length > longest) longest = a[s].items[0].length;
        }
        free_all(a);
        free_all(b);
    }
    assert_true(longest > 2);
    seq2seq_free(model);
    seq2seq_free(reversed);
}

/* Given translations, too. */
static void test_forced(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(WORDS, 31), *reversed = tiny_model_new(WORDS, 31);
    const Seq2Seq *models[] = {model, reversed};
    tiny_model_reverse(reversed);
    Tokens there[SENTENCES], back[SENTENCES];
    HypothesisList a[SENTENCES] = {0}, b[SENTENCES] = {0};
    for (int s = 0; s < SENTENCES; s++) {
        there[s] = tiny_model_tokens(model, WORDS, 100 + s, s % 5);
        back[s] = tiny_model_tokens(model, WORDS, 100 + s, s % 5);
        tokens_reverse((int *)back[s].ids, back[s].length);
    }
    find(&models[0], 1, there, &OPTIONS, a);
    find(&models[1], 1, back, &OPTIONS, b);
    for (int s = 0; s < SENTENCES; s++) {
        assert_int_equal(a[s].count, 1);
        assert_memory_equal(b[s].items[0].ids, back[s].ids, (size_t)back[s].length * sizeof(int));
        assert_turned(&a[s].items[0], &b[s].items[0], a[s].source_length, true);
        tiny_model_forget(there[s]);
        tiny_model_forget(back[s]);
    }
    free_all(a);
    free_all(b);
    seq2seq_free(model);
    seq2seq_free(reversed);
}

/* log p of each token of a translation, by the models of one direction, in reading order. */
static void ask(const Seq2Seq *const *models, int count, int sentence, const Hypothesis *h, int shortlist,
                double *log_p) {
    Tokens source = tiny_model_tokens(models[0], WORDS, sentence, sentence * 7 % 13);
    Tokens sources[] = {source, source, source};
    int ids[MOST];
    bool reversed = model_is_right_to_left(models[0]);
    for (int t = 0; t < h->length; t++) ids[t] = h->ids[reversed ? h->length - 1 - t : t];
    Tokens target = {ids, h->length};
    HypothesisList forced = {0};
    Scorer *scorer = scorer_new(models, count, reversed);
    SearchOptions options = {.decode = OPTIONS.decode, .n_best = 1, .shortlist = shortlist};
    forced_search(scorer, sources, 1, &(ForcedTargets){&target, 1, NULL}, &options, &forced);
    for (int t = 0; t < h->steps; t++)
        log_p[t] = (double)forced.items[0].token_scores[reversed && t < h->length ? h->length - 1 - t : t];
    scorer_free(scorer);
    hypotheses_free(&forced);
    tiny_model_forget(source);
}

/* Is the translation among those? */
static bool is_among(const Hypothesis *h, const HypothesisList *list) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i].length == h->length &&
            (h->length == 0 || memcmp(list->items[i].ids, h->ids, (size_t)h->length * sizeof *h->ids) == 0))
            return true;
    return false;
}

static bool ended(const Hypothesis *h) { return h->steps > h->length; }

/* The mean of log p over one model that writes forwards and two that do not. */
static double mean_log_p(Seq2Seq *const *one, int sentence, const Hypothesis *h, double *token) {
    const Seq2Seq *forwards[] = {one[0]}, *right_to_left[] = {one[1], one[2]};
    double there[MOST], back[MOST], sum = 0;
    ask(forwards, 1, sentence, h, 0, there);
    ask(right_to_left, 2, sentence, h, 0, back);
    for (int t = 0; t < h->steps; t++) sum += token[t] = (there[t] + 2 * back[t]) / 3;
    return sum;
}

static void check_scores(Seq2Seq *const *one, int sentence, const HypothesisList *found) {
    for (int i = 0; i < found->count; i++) {
        const Hypothesis *h = &found->items[i];
        double mean[MOST], sum = mean_log_p(one, sentence, h, mean);
        for (int t = 0; t < h->steps; t++) assert_true(fabs(mean[t] - (double)h->token_scores[t]) <= 1e-4);
        assert_true(fabs(sum - h->score) <= 1e-3);
        assert_true(fabs(h->score / h->steps - h->normalized) <= 1e-9);
        if (i > 0 && ended(h - 1) == ended(h)) assert_true(h[-1].normalized >= h->normalized);
        if (i > 0) assert_true(ended(h - 1) || !ended(h));
    }
}

/* No hypothesis of one direction alone that is missing among the best could be one of them. */
static void check_none_better(Seq2Seq *const *one, int sentence, const HypothesisList *alone,
                              const HypothesisList *found) {
    const Hypothesis *last = &found->items[found->count - 1];
    double mean[MOST];
    for (int i = 0; i < alone->count; i++) {
        const Hypothesis *h = &alone->items[i];
        if (is_among(h, found)) continue;
        assert_true(ended(last) || !ended(h));
        if (ended(last) == ended(h))
            assert_true(mean_log_p(one, sentence, h, mean) / h->steps <= last->normalized + 1e-4);
    }
}

/* Attention weights are the first model's, for translations that either direction found. */
static void check_attention(const Seq2Seq *model, int sentence, const HypothesisList *found) {
    for (int i = 0; i < found->count; i++) {
        const Hypothesis *h = &found->items[i];
        HypothesisList alone[SENTENCES] = {0};
        Tokens targets[SENTENCES] = {0};
        if (!ended(h)) continue;
        targets[sentence] = (Tokens){h->ids, h->length};
        find(&model, 1, targets, &OPTIONS, alone);
        assert_int_equal(alone[sentence].source_length, found->source_length);
        for (int k = 0; k < h->steps * found->source_length; k++)
            assert_true(fabs((double)(alone[sentence].items[0].attention[k] - h->attention[k])) <= 1e-5);
        free_all(alone);
    }
}

/* One left-to-right model and two right-to-left ones, in any order: the best hypotheses of both directions
 * by the mean of log p over all three. */
static void test_votes(void **state) {
    (void)state;
    static const int ORDERS[3][3] = {{0, 1, 2}, {1, 0, 2}, {2, 1, 0}};
    Seq2Seq *one[3] = {tiny_model_new(WORDS, 31), tiny_model_new(WORDS, 32), tiny_model_new(WORDS, 33)};
    const Seq2Seq *forwards[] = {one[0]}, *right_to_left[] = {one[1], one[2]};
    tiny_model_reverse(one[1]);
    tiny_model_reverse(one[2]);
    SearchOptions options = OPTIONS, best = OPTIONS;
    best.n_best = 1;
    best.tokens_only = true; /* a beam is rescored even so */
    HypothesisList there[SENTENCES] = {0}, back[SENTENCES] = {0};
    find(forwards, 1, NULL, &options, there);
    find(right_to_left, 2, NULL, &options, back);
    int from[2] = {0};
    for (int o = 0; o < 3; o++) {
        const Seq2Seq *models[3];
        for (int m = 0; m < 3; m++) models[m] = one[ORDERS[o][m]];
        HypothesisList found[SENTENCES] = {0}, first[SENTENCES] = {0};
        find(models, 3, NULL, &options, found);
        find(models, 3, NULL, &best, first);
        for (int s = 0; s < SENTENCES; s++) {
            assert_int_equal(found[s].count, BEAM);
            assert_int_equal(first[s].count, 1);
            assert_true(is_among(&first[s].items[0], &(HypothesisList){found[s].items, 1, 0}));
            for (int i = 0; i < BEAM; i++) {
                bool forth = is_among(&found[s].items[i], &there[s]);
                assert_true(forth || is_among(&found[s].items[i], &back[s]));
                assert_false(is_among(&found[s].items[i], &(HypothesisList){found[s].items, i, 0}));
                from[forth]++;
            }
            check_scores(one, s, &found[s]);
            check_none_better(one, s, &there[s], &found[s]);
            check_none_better(one, s, &back[s], &found[s]);
        }
        check_attention(models[0], 5, &found[5]);
        free_all(found);
        free_all(first);
    }
    assert_true(from[0] > SENTENCES && from[1] > SENTENCES); /* else the test has too few cases */
    free_all(there);
    free_all(back);
    for (int m = 0; m < 3; m++) seq2seq_free(one[m]);
}

/* If all hypotheses are cut before their phrases are met, those with more tokens of phrases rank first,
 * whatever the backward models score. */
static void test_constraints(void **state) {
    (void)state;
    Seq2Seq *forwards = tiny_model_new(WORDS, 31), *right_to_left = tiny_model_new(WORDS, 32);
    tiny_model_reverse(right_to_left);
    Tokens source = tiny_model_tokens(forwards, WORDS, 5, 9), sources[] = {source, source};
    SearchOptions options = OPTIONS;
    options.alternatives = 0;
    options.decode.max_length_factor = 0;
    Constraints constraints = {0};
    assert_true(
        constraints_add_phrase(&constraints, seq2seq_target(forwards), SV("t1 t2 t3 t4 t5 t6 t7 t8")));
    HypothesisList found = {0};
    Rescorer *rescorer = rescorer_new((const Seq2Seq *[]){forwards, right_to_left}, 2, false);
    SearchInput sentences = {.sources = sources, .constraints = &constraints, .B = 1};
    rescorer_search(rescorer, &sentences, &options, &found);
    assert_int_equal(found.count, BEAM);
    int against_score = 0;
    for (int i = 0; i < BEAM; i++) {
        const Hypothesis *h = &found.items[i];
        ConstraintState reached = {0};
        for (int t = 0; t < h->length; t++)
            reached = constraints_advance(&constraints, reached, h->ids[t], NULL);
        assert_false(ended(h));
        assert_int_equal(h->met, constraints_bank(&constraints, &reached));
        if (i > 0) assert_true(h[-1].met >= h->met);
        if (i > 0) against_score += h[-1].normalized < h->normalized;
    }
    assert_true(against_score > 0);
    hypotheses_free(&found);
    rescorer_free(rescorer);
    constraints_free(&constraints);
    tiny_model_forget(source);
    seq2seq_free(forwards);
    seq2seq_free(right_to_left);
}

static void assert_same(const HypothesisList *x, const HypothesisList *y) {
    assert_int_equal(x->count, y->count);
    for (int i = 0; i < x->count; i++) {
        const Hypothesis *a = &x->items[i], *b = &y->items[i];
        assert_int_equal(a->length, b->length);
        assert_true(a->score == b->score && a->normalized == b->normalized);
        if (a->length) assert_memory_equal(a->ids, b->ids, (size_t)a->length * sizeof *a->ids);
    }
}

/* Hypotheses of both directions occur once: two words have few short translations. A smaller n_best gives
 * the first of them, though fewer hypotheses are rescored. */
static void check_found_by_both(uint64_t seed) {
    enum { MANY = 6 };
    Seq2Seq *forwards = tiny_model_new(2, seed), *right_to_left = tiny_model_new(2, seed + 1);
    tiny_model_reverse(right_to_left);
    SearchOptions options = OPTIONS;
    options.decode.beam_size = MANY;
    options.decode.max_length_factor = 0;
    options.decode.max_length_extra = 3;
    options.alternatives = 0;
    Rescorer *rescorer = rescorer_new((const Seq2Seq *[]){forwards, right_to_left}, 2, false);
    for (int s = 0; s < SENTENCES; s++) {
        Tokens source = tiny_model_tokens(forwards, 2, s, 1 + s % 4), sources[] = {source, source};
        HypothesisList found = {0};
        SearchInput sentence = {.sources = sources, .B = 1};
        options.n_best = MANY;
        rescorer_search(rescorer, &sentence, &options, &found);
        assert_int_equal(found.count, MANY);
        for (options.n_best = 1; options.n_best < MANY; options.n_best++) {
            HypothesisList few = {0};
            rescorer_search(rescorer, &sentence, &options, &few);
            assert_same(&few, &(HypothesisList){found.items, options.n_best, 0});
            hypotheses_free(&few);
        }
        for (int i = 0; i < MANY; i++)
            for (int k = 0; k < i; k++)
                assert_false(found.items[i].steps == found.items[k].steps &&
                             is_among(&found.items[i], &(HypothesisList){&found.items[k], 1, 0}));
        hypotheses_free(&found);
        tiny_model_forget(source);
    }
    rescorer_free(rescorer);
    seq2seq_free(forwards);
    seq2seq_free(right_to_left);
}

static void test_found_by_both(void **state) {
    (void)state;
    for (uint64_t seed = 31; seed < 51; seed++) check_found_by_both(seed);
}

/* A given translation of a source that each model cuts into its own tokens: the mean of both models'
 * scores. */
static void test_own_sources(void **state) {
    (void)state;
    enum { LENGTH = 3 };
    Seq2Seq *models[] = {tiny_model_new(WORDS, 31), tiny_model_new(WORDS, 32)};
    tiny_model_reverse(models[1]);
    Tokens sources[] = {tiny_model_tokens(models[0], WORDS, 5, 9), tiny_model_tokens(models[0], WORDS, 6, 4)};
    Tokens target = tiny_model_tokens(models[0], WORDS, 100, LENGTH);
    HypothesisList found = {0}, alone[2] = {0};
    Rescorer *rescorer = rescorer_new((const Seq2Seq *const *)models, 2, false);
    rescorer_search(rescorer, &(SearchInput){.sources = sources, .targets = &target, .B = 1}, &OPTIONS,
                    &found);
    rescorer_free(rescorer);
    for (int m = 0; m < 2; m++) {
        rescorer = rescorer_new((const Seq2Seq *const *)&models[m], 1, false);
        rescorer_search(rescorer, &(SearchInput){.sources = &sources[m], .targets = &target, .B = 1},
                        &OPTIONS, &alone[m]);
        rescorer_free(rescorer);
    }
    assert_int_equal(found.count, 1);
    assert_int_equal(found.items[0].steps, LENGTH + 1);
    for (int t = 0; t <= LENGTH; t++) {
        float mean = (alone[0].items[0].token_scores[t] + alone[1].items[0].token_scores[t]) / 2;
        assert_true(fabs((double)(mean - found.items[0].token_scores[t])) <= 1e-4);
    }
    hypotheses_free(&found);
    tiny_model_forget(target);
    for (int m = 0; m < 2; m++) {
        hypotheses_free(&alone[m]);
        tiny_model_forget(sources[m]);
        seq2seq_free(models[m]);
    }
}

/* Without a beam only the first direction searches. */
static void test_greedy(void **state) {
    (void)state;
    Seq2Seq *forwards = tiny_model_new(WORDS, 31), *right_to_left = tiny_model_new(WORDS, 32);
    tiny_model_reverse(right_to_left);
    const Seq2Seq *models[] = {forwards, right_to_left};
    SearchOptions options = OPTIONS;
    options.decode.beam_size = 1;
    HypothesisList alone[SENTENCES] = {0}, found[SENTENCES] = {0};
    find(models, 1, NULL, &options, alone);
    find(models, 2, NULL, &options, found);
    for (int s = 0; s < SENTENCES; s++) {
        assert_int_equal(found[s].count, 1);
        assert_true(is_among(&found[s].items[0], &alone[s]));
    }
    free_all(alone);
    free_all(found);
    seq2seq_free(forwards);
    seq2seq_free(right_to_left);
}

/* A model of two decoders is two models. */
static void test_bidirectional(void **state) {
    (void)state;
    Seq2Seq *both = tiny_model_both_ways(WORDS, 31), *forth = tiny_model_new(WORDS, 1),
            *back = tiny_model_new(WORDS, 1);
    const Seq2Seq *models[] = {forth, back}, *one[] = {both};
    variant_take_decoder(forth, both, false);
    variant_take_decoder(back, both, true);
    params_pack_all(seq2seq_params(forth));
    params_pack_all(seq2seq_params(back));
    tiny_model_reverse(back);
    Tokens given[SENTENCES];
    int different = 0;
    for (int s = 0; s < SENTENCES; s++) given[s] = tiny_model_tokens(both, WORDS, 100 + s, s % 5);
    for (int kind = 0; kind < 3; kind++) { /* a beam, greedy search, given translations */
        HypothesisList found[SENTENCES] = {0}, expected[SENTENCES] = {0}, one_way[SENTENCES] = {0},
                       alone[SENTENCES] = {0};
        SearchOptions options = OPTIONS;
        if (kind == 1) options.decode.beam_size = 1;
        const Tokens *targets = kind == 2 ? given : NULL;
        find(one, 1, targets, &options, found);
        find(models, 2, targets, &options, expected);
        find(models, 1, targets, &options, alone);
        options.decode.left_to_right = true;
        find(one, 1, targets, &options, one_way);
        for (int s = 0; s < SENTENCES; s++) {
            assert_same(&found[s], &expected[s]);
            assert_same(&one_way[s], &alone[s]);
            different += found[s].items[0].score != alone[s].items[0].score;
        }
        free_all(found);
        free_all(expected);
        free_all(one_way);
        free_all(alone);
    }
    assert_true(different > 2 * SENTENCES);
    for (int s = 0; s < SENTENCES; s++) tiny_model_forget(given[s]);
    seq2seq_free(both);
    seq2seq_free(forth);
    seq2seq_free(back);
}

/* With shortlists both directions normalize over the same few tokens. */
static void test_shortlists(void **state) {
    (void)state;
    enum { LISTED = 5 };
    Seq2Seq *forth = tiny_model_new(WORDS, 31), *back = tiny_model_new(WORDS, 32);
    const Seq2Seq *models[] = {forth, back};
    HypothesisList found[SENTENCES] = {0};
    SearchOptions options = OPTIONS;
    double there[MOST], here[MOST];
    tiny_model_reverse(back);
    tiny_model_give_lists(forth, WORDS, 0, LISTED);
    tiny_model_give_lists(back, WORDS, 0, LISTED);
    options.shortlist = LISTED;
    find(models, 2, NULL, &options, found);
    for (int s = 0; s < SENTENCES; s++)
        for (int i = 0; i < found[s].count; i++) {
            const Hypothesis *h = &found[s].items[i];
            ask(&models[0], 1, s, h, LISTED, there);
            ask(&models[1], 1, s, h, LISTED, here);
            for (int t = 0; t < h->steps; t++)
                assert_true(fabs((there[t] + here[t]) / 2 - (double)h->token_scores[t]) <= 1e-4);
        }
    free_all(found);
    seq2seq_free(forth);
    seq2seq_free(back);
}

/* Several given translations of a sentence: the same scores as one by one. */
static void test_forced_each(void **state) {
    (void)state;
    enum { GIVEN = 3 };
    SearchOptions options = {.decode = OPTIONS.decode, .n_best = 1};
    TrainingBatch batch = variant_batch(0);
    for (const ModelVariant *variant = MODEL_VARIANTS; variant->name; variant++) {
        Seq2Seq *model = variant_new(variant, NULL, 3);
        params_pack_all(seq2seq_params(model));
        Scorer *scorer = scorer_new((const Seq2Seq *const *)&model, 1, false);
        HypothesisList each[VARIANT_SENTENCES * GIVEN] = {0};
        Tokens targets[VARIANT_SENTENCES * GIVEN];
        int sentence[VARIANT_SENTENCES * GIVEN], count = 0;
        for (int b = 0; b < batch.B; b++)
            for (int i = 0; i < (b == 1 ? 0 : GIVEN); i++, count++) {
                sentence[count] = b;
                targets[count] = batch.target[(b + i) % batch.B];
            }
        forced_search(scorer, batch.source, batch.B, &(ForcedTargets){targets, count, sentence}, &options,
                      each);
        for (int i = 0; i < count; i++) {
            HypothesisList alone = {0};
            forced_search(scorer, &batch.source[sentence[i]], 1, &(ForcedTargets){&targets[i], 1, NULL},
                          &options, &alone);
            const Hypothesis *x = &each[i].items[0], *y = &alone.items[0];
            assert_int_equal(x->steps, targets[i].length + 1);
            for (int t = 0; t < x->steps; t++)
                assert_true(fabs((double)(x->token_scores[t] - y->token_scores[t])) <= 1e-5);
            hypotheses_free(&alone);
            hypotheses_free(&each[i]);
        }
        scorer_free(scorer);
        seq2seq_free(model);
    }
}

/* The result is an index into the caller's models. */
static void test_broken(void **state) {
    (void)state;
    Seq2Seq *one[3] = {tiny_model_new(WORDS, 31), tiny_model_new(WORDS, 32), tiny_model_new(WORDS, 33)};
    tiny_model_reverse(one[1]);
    ParamSet *params = seq2seq_params(one[1]);
    for (size_t i = 0; i < params->size; i++) params->data[i] = NAN;
    params_pack_all(params);
    Tokens source = tiny_model_tokens(one[0], WORDS, 1, 5), sources[] = {source, source, source};
    for (int first = 0; first < 3; first++) {
        const Seq2Seq *models[3];
        for (int m = 0; m < 3; m++) models[m] = one[(first + m) % 3];
        Rescorer *rescorer = rescorer_new(models, 3, false);
        HypothesisList found = {0};
        SearchOptions options = OPTIONS;
        options.alternatives = 0;
        rescorer_search(rescorer, &(SearchInput){.sources = sources, .B = 1}, &options, &found);
        assert_int_equal(rescorer_first_nonfinite(rescorer), (4 - first) % 3);
        hypotheses_free(&found);
        rescorer_free(rescorer);
    }
    /* One of several models that search. */
    params = seq2seq_params(one[2]);
    for (size_t i = 0; i < params->size; i++) params->data[i] = NAN;
    params_pack_all(params);
    Rescorer *rescorer = rescorer_new((const Seq2Seq *[]){one[0], one[1], one[2]}, 3, false);
    HypothesisList found = {0};
    rescorer_search(rescorer, &(SearchInput){.sources = sources, .B = 1}, &OPTIONS, &found);
    assert_int_equal(rescorer_first_nonfinite(rescorer), 2);
    hypotheses_free(&found);
    rescorer_free(rescorer);
    tiny_model_forget(source);
    for (int m = 0; m < 3; m++) seq2seq_free(one[m]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_direction), cmocka_unit_test(test_forced),
        cmocka_unit_test(test_votes),           cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_found_by_both),   cmocka_unit_test(test_own_sources),
        cmocka_unit_test(test_greedy),          cmocka_unit_test(test_forced_each),
        cmocka_unit_test(test_broken),          cmocka_unit_test(test_bidirectional),
        cmocka_unit_test(test_shortlists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
