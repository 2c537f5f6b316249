/* auto_config.c - the rule of model.size=auto: valid for any data, and the user's settings win. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "unit/text_fixture.h"
#include "config/auto_config.h"
#include "search/search.h"

static const DataSize SIZES[] = {{1, 1, 0, 0, 0},
                                 {20, 40, 3, 0, 0},
                                 {500, 3000, 740, 0, 0},
                                 {1999, 1e5, 3000, 0, 0},
                                 {5000, 4e4, 3000, 0, 0},
                                 {29000, 3.8e5, 16500, 0, 0},
                                 {160000, 1.2e6, 42000, 0, 0},
                                 {5000000, 1e8, 900000, 0, 0},
                                 {50000, 1e7, 1000, 0, 0},
                                 {300, 300, 0, 0, 0},
                                 {199999, 2e5, 0, 0, 0}};
enum { COUNT = sizeof SIZES / sizeof *SIZES };

/* The choice for a configuration with these settings: "train.epochs=3 ...". */
static Config choose(const char *settings, DataSize size, bool fine_tune) {
    Config config;
    OptionTable tables[6];
    UserOptions given = {0};
    StrList rest = {0};
    HelpKind help;
    char *argv[20] = {(char *)"train"};
    int argc = 1;
    char *copy = mem_strdup(settings);
    for (char *item = strtok(copy, " "); item; item = strtok(NULL, " ")) {
        argv[argc++] = (char *)"--set";
        argv[argc++] = item;
    }
    config_init(&config);
    config_tables(&config, tables);
    assert_int_equal(options_parse_config(tables, argc, argv, &rest, &help, &given), STATUS_OK);
    auto_config_choose(&config, &given, size, fine_tune);
    assert_int_equal(config_check(&config), STATUS_OK);
    mem_free(copy);
    mem_free(rest.items);
    mem_free(given.rows);
    return config;
}

static double updates_of(const Config *config, DataSize size) {
    return config->train.epochs * ceil((double)size.pairs / config->train.batch_size);
}

static void test_sound(void **state) {
    (void)state;
    for (int i = 0; i < COUNT; i++)
        for (int fine_tune = 0; fine_tune < 2; fine_tune++) {
            Config config = choose("", SIZES[i], fine_tune);
            double updates = updates_of(&config, SIZES[i]);
            assert_true(config.train.epochs >= 2 && config.train.warmup >= 1);
            assert_true(config.train.warmup <= updates / 4 || updates < 8);
            assert_true(config.train.valid_every <= updates);
            assert_true(config.text.bpe_merges >= 100 && config.text.bpe_merges <= 32000);
            assert_int_equal(config.train.stop_on, STOP_ON_CHRF);
            config_free(&config);
        }
}

/* Reserved tokens are not chosen, whatever the pairs have. */
static void test_placeholders(void **state) {
    (void)state;
    for (long marked = 0; marked <= 10000; marked += 5000) {
        Config config = choose("", (DataSize){10000, 1e5, 3000, 0, marked}, false);
        assert_false(config.data.placeholders);
        config_free(&config);
    }
    Config config = choose("data.placeholders=true", (DataSize){10000, 1e5, 3000, 0, 0}, false);
    assert_true(config.data.placeholders);
    config_free(&config);
}

/* More data: larger values of everything except epochs and dropout. */
static void test_grows(void **state) {
    (void)state;
    static const int ORDER[] = {2, 4, 5, 6, 7};
    for (int i = 1; i < 5; i++) {
        Config a = choose("", SIZES[ORDER[i - 1]], false), b = choose("", SIZES[ORDER[i]], false);
        assert_true(a.text.bpe_merges < b.text.bpe_merges && a.model.hidden <= b.model.hidden);
        assert_true(a.train.batch_size <= b.train.batch_size && a.train.epochs >= b.train.epochs);
        assert_true(a.model.dropout_output >= b.model.dropout_output);
        assert_true(updates_of(&a, SIZES[ORDER[i - 1]]) < updates_of(&b, SIZES[ORDER[i]]));
        config_free(&a);
        config_free(&b);
    }
}

/* The widths with the best measurements, on both sides of each step. */
static void test_widths(void **state) {
    (void)state;
    static const struct {
        long pairs;
        int width;
    } STEPS[] = {{500, 256}, {499999, 256}, {500000, 512}, {5000000, 512}};
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        Config config = choose("", (DataSize){STEPS[i].pairs, 7.0 * (double)STEPS[i].pairs, 0, 0, 0}, false);
        assert_int_equal(config.model.hidden, STEPS[i].width);
        assert_int_equal(config.model.embedding, STEPS[i].width);
        config_free(&config);
    }
}

/* Few pairs: BPE-dropout, both directions and two decoders, unless the configuration sets them or the model
 * has its own vocabulary. */
static void test_few_pairs(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        long pairs;
        bool fine_tune;
        double source, target, dropped, both;
        bool two_decoders;
    } CASES[] = {
        {"", 500, false, 0.05, 0.05, 0.2, 0.33, true},
        {"", 4999, false, 0.05, 0.05, 0.2, 0.33, true},
        {"", 5000, false, 0.05, 0.05, 0, 0, false},
        {"", 7999, false, 0.05, 0.05, 0, 0, false},
        {"", 8000, false, 0, 0, 0, 0, false},
        {"", 500, true, 0, 0, 0, 0, false},
        {"text.tokenizer=word", 500, false, 0, 0, 0.2, 0.33, true},
        {"text.bpe_merges=0", 500, false, 0, 0, 0.2, 0.33, true},
        {"text.joint=false model.tie=target", 500, false, 0.05, 0.05, 0.2, 0, true},
        {"train.epochs=0", 500, false, 0.05, 0.05, 0.2, 0, true},
        {"model.decoder.right_to_left=true", 500, false, 0.05, 0.05, 0.2, 0.33, false},
        {"model.decoder.bidirectional=false", 500, false, 0.05, 0.05, 0.2, 0.33, false},
        {"train.epochs=0 train.max_updates=9", 500, false, 0.05, 0.05, 0.2, 0.33, true},
        {"model.decoder.style=transformer model.attention=scaled_dot", 500, false, 0.05, 0.05, 0, 0.33, true},
        {"train.bpe_dropout_source=0 model.dropout_state=0.1 train.both_directions=0", 500, false, 0, 0.05,
         0.1, 0, true}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        DataSize size = {CASES[i].pairs, 7.0 * (double)CASES[i].pairs, 0, 0, 0};
        Config config = choose(CASES[i].settings, size, CASES[i].fine_tune);
        assert_true(config.train.bpe_dropout_source == CASES[i].source);
        assert_true(config.train.bpe_dropout_target == CASES[i].target);
        assert_true(config.model.dropout_state == CASES[i].dropped);
        assert_true(config.train.both_directions == CASES[i].both);
        assert_int_equal(config.model.decoder_bidirectional, CASES[i].two_decoders);
        config_free(&config);
    }
}

/* Words that come back make pieces; where none do, as in numbers, the text is spelt. Characters of scripts
 * without spaces are pieces already. */
static void test_merges(void **state) {
    (void)state;
    static const struct {
        DataSize size;
        int merges;
    } CASES[] = {{{500, 2945, 739, 0, 0}, 490},        {{5000, 29000, 2957, 0, 0}, 1200},
                 {{500, 2350, 0, 0, 0}, 100},          {{50000, 2.4e5, 0, 0, 0}, 100},
                 {{160000, 1.2e6, 42000, 0, 0}, 8900}, {{500, 1e5, 300, 0, 0}, 300},
                 {{500, 3340, 362, 90, 0}, 270},       {{500, 3340, 162, 90, 0}, 100},
                 {{5000, 6e4, 9000, 2000, 0}, 820}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Config config = choose("", CASES[i].size, false);
        assert_int_equal(config.text.bpe_merges, CASES[i].merges);
        config_free(&config);
    }
}

static void test_given(void **state) {
    (void)state;
    Config c = choose("model.hidden=100 train.epochs=2 train.stop_on=loss text.bpe_merges=77 train.average=0",
                      SIZES[2], false);
    assert_int_equal(c.model.hidden, 100);
    assert_int_equal(c.model.embedding, 100); /* follows */
    assert_int_equal(c.train.epochs, 2);
    assert_in_range(c.train.warmup, 1, 10); /* follows */
    assert_int_equal(c.train.stop_on, STOP_ON_LOSS);
    assert_int_equal(c.text.bpe_merges, 77);
    assert_true(c.train.average == 0);
    config_free(&c);
    c = choose("train.max_updates=50", SIZES[2], false);
    assert_int_equal(c.train.warmup, 5);
    assert_int_equal(c.train.epochs, 20);
    config_free(&c);
    c = choose("train.max_updates=5000", SIZES[2], false); /* more than the default of epochs */
    assert_int_equal(c.train.epochs, 0);
    assert_int_equal(c.train.valid_every, 250);
    config_free(&c);
    c = choose("train.max_updates=5000 train.epochs=30", SIZES[2], false);
    assert_int_equal(c.train.epochs, 30);
    config_free(&c);
    c = choose("train.max_updates=600 data.held_out=0.1", SIZES[2], false); /* 28 batches an epoch */
    assert_int_equal(c.train.epochs, 0);
    config_free(&c);
    c = choose("train.batch_unit=tokens train.batch_size=700", SIZES[4], false);
    assert_int_equal(c.train.batch_size, 700);
    assert_in_range(c.train.epochs, 20, 100);
    config_free(&c);
    c = choose("train.epochs=0", SIZES[2], false); /* only the time limit ends it */
    assert_in_range(c.train.warmup, 1, 400);
    assert_int_equal(config_schedule(&c.train), SCHEDULE_INVERSE_SQRT); /* a linear schedule needs an end */
    config_free(&c);
}

static void test_held_out(void **state) {
    (void)state;
    assert_true(auto_config_held_out_fraction(500) == 0.1 && auto_config_held_out_fraction(5000) == 0.1);
    assert_true(fabs(auto_config_held_out_fraction(50000) - 0.02) < 1e-12 &&
                fabs(auto_config_held_out_fraction(5000000) - 2e-4) < 1e-12);
    assert_true(auto_config_held_out_fraction(100) == 0.2 && auto_config_held_out_fraction(1) == 0.5);
}

static void test_measure(void **state) {
    (void)state;
    static const char text[] = "one two\tun hasard trois\n"
                               "abc\t\xE6\x98\x9F\xE6\x9C\x9F\xE4\xB8\x80\xE6\x9C\xAC\xE6\x98\x9F"
                               "\xE6\x9C\x9F\xE4\xB8\x80\xE6\x9C\xAC\xE6\x98\x9F\xE6\x9C\x9F\n"
                               "one\tend\n";
    Config config;
    DataSize size;
    Workers *workers = workers_new(2);
    config_init(&config);
    strlist_add(&config.data.train, sv(fixture_write("s.tsv", text, sizeof text - 1)));
    assert_int_equal(auto_config_measure(&config, workers, &size), STATUS_OK);
    assert_int_equal(size.pairs, 3);
    /* Ten characters without a space are two words. */
    assert_true(fabs(size.words - (2 + fmax(3, 13 / 5.0) + 1 + 2 + 1 + 1) / 2) < 1e-9);
    assert_int_equal(size.repeated, 3); /* one, and two pairs of characters */
    assert_int_equal(size.signs, 4);    /* and not the letters of "hasard" */
    config.data.limit = 1;
    assert_int_equal(auto_config_measure(&config, workers, &size), STATUS_OK);
    assert_int_equal(size.pairs, 1);
    workers_free(workers);
    config_free(&config);
}

/* ---- the length of translations: the factor is never lowered, and a few odd pairs do not raise it ---- */

typedef struct {
    int count, source, target; /* number of pairs, and their lengths */
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
    auto_config_fit_length(&config.decode, &corpus);
    double factor = config.decode.max_length_factor;
    mem_free(corpus.source.start);
    mem_free(corpus.target.start);
    config_free(&config);
    return factor;
}

static const Group NONE = {0};

static void test_length_default(void **state) {
    (void)state;
    assert_true(fit(2, (Group){100, 10, 30}, NONE) == 2); /* 2 * 10 + 10 */
    assert_true(fit(2, (Group){100, 10, 3}, (Group){10, 1, 12}) == 2);
    assert_true(fit(2, (Group){1, 0, 0}, NONE) == 2);
    assert_true(fit(2, NONE, NONE) == 2);
}

static void test_length_raised(void **state) {
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

/* The rule ignores one pair in a thousand. */
static void test_length_outliers(void **state) {
    (void)state;
    assert_true(fit(2, (Group){3, 1, 90}, (Group){2997, 10, 12}) == 2);
    assert_true(fit(2, (Group){4, 1, 14}, (Group){2996, 10, 12}) == 5);
    assert_true(fit(2, (Group){3, 1, 90}, (Group){2997, 10, 40}) == 4);
    assert_true(fit(2, (Group){1, 1, 14}, (Group){998, 10, 12}) == 5); /* with fewer pairs each one counts */
}

static void test_length_given(void **state) {
    (void)state;
    assert_true(fit(1.5, (Group){100, 1, 50}, NONE) == 1.5);
    assert_true(fit(3, (Group){100, 1, 50}, NONE) == 3);
    assert_true(fit(0, (Group){100, 1, 50}, NONE) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),         cmocka_unit_test(test_placeholders),
        cmocka_unit_test(test_grows),         cmocka_unit_test(test_widths),
        cmocka_unit_test(test_few_pairs),     cmocka_unit_test(test_merges),
        cmocka_unit_test(test_given),         cmocka_unit_test(test_held_out),
        cmocka_unit_test(test_measure),       cmocka_unit_test(test_length_default),
        cmocka_unit_test(test_length_raised), cmocka_unit_test(test_length_outliers),
        cmocka_unit_test(test_length_given),
    };
    log_set_level(LOG_QUIET);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
