/* progress.c - train.jsonl is the same after writing and reading, up to the requested update. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "io/fileio.h"
#include "unit/text_fixture.h"
#include "train/progress.h"

static ProgressRecord record(long update) {
    double x = (double)update;
    return (ProgressRecord){.update = update,
                            .epoch = (int)(update / 10) + 1,
                            .seconds = x / 3,
                            .tokens_per_second = 12345.678901234567,
                            .train_loss = update == 10 ? NAN : 1 / (x + 1),
                            .valid_loss = sqrt(x),
                            .valid_perplexity = update == 20 ? INFINITY : exp(sqrt(x)),
                            .valid_bleu = 100 / (x + 7),
                            .valid_chrf = update == 30 ? NAN : 100 / (x + 8),
                            .learning_rate = 1e-3 / 3,
                            .gradient_norm = 0.1 + 0.2,
                            .best = update % 20 == 0};
}

static bool same_number(double a, double b) { return a == b || (!isfinite(a) && !isfinite(b)); }

static void assert_same(const ProgressRecord *a, const ProgressRecord *b) {
    assert_true(a->update == b->update && a->epoch == b->epoch && a->best == b->best);
    assert_true(same_number(a->seconds, b->seconds));
    assert_true(same_number(a->tokens_per_second, b->tokens_per_second));
    assert_true(same_number(a->train_loss, b->train_loss));
    assert_true(same_number(a->valid_loss, b->valid_loss));
    assert_true(same_number(a->valid_perplexity, b->valid_perplexity));
    assert_true(same_number(a->valid_bleu, b->valid_bleu));
    assert_true(same_number(a->valid_chrf, b->valid_chrf));
    assert_true(same_number(a->learning_rate, b->learning_rate));
    assert_true(same_number(a->gradient_norm, b->gradient_norm));
}

/* The folder of fixture_path. */
static const char *folder(void) {
    const char *path = fixture_path(".");
    return path;
}

static void save(int count) {
    Progress progress = {0};
    for (int i = 1; i <= count; i++) {
        ProgressRecord r = record(10 * i);
        progress_add(&progress, &r);
    }
    Config config;
    config_init(&config);
    assert_int_equal(progress_save(&progress, &config, folder()), STATUS_OK);
    config_free(&config);
    progress_free(&progress);
}

static void test_round_trip(void **state) {
    (void)state;
    save(5);
    StrBuf curve = {0};
    assert_int_equal(file_read(fixture_path("curve.svg"), 0, &curve), STATUS_OK);
    assert_non_null(strstr(strbuf_text(&curve), "mean since the last validation, with dropout and label"));
    assert_non_null(strstr(strbuf_text(&curve), "without either"));
    assert_non_null(strstr(strbuf_text(&curve), ">validation chrF (right)<"));
    assert_non_null(strstr(strbuf_text(&curve), ">BLEU, chrF<"));
    strbuf_free(&curve);
    static const long LAST[] = {50, 49, 40, 10, 9, 0, 1000};
    static const size_t COUNT[] = {5, 4, 4, 1, 0, 0, 5};
    for (int i = 0; i < 7; i++) {
        Progress progress = {0};
        assert_int_equal(progress_read(&progress, fixture_path("train.jsonl"), LAST[i]), STATUS_OK);
        assert_int_equal(progress.count, COUNT[i]);
        for (size_t j = 0; j < progress.count; j++) {
            ProgressRecord r = record(10 * ((long)j + 1));
            assert_same(&progress.records[j], &r);
        }
        progress_free(&progress);
    }
}

/* Names of fields that scripts use; one JSON object per line. */
static void test_text(void **state) {
    (void)state;
    StrBuf line = {0};
    ProgressRecord r = record(10);
    progress_write_json(&r, &line);
    assert_string_equal(strbuf_text(&line) + line.length - 1, "\n");
    static const char *const NAMES[] = {"update",        "epoch",      "seconds",    "tokens_per_second",
                                        "train_loss",    "valid_loss", "valid_bleu", "learning_rate",
                                        "gradient_norm", "best"};
    Json *root;
    assert_int_equal(json_parse(&root, strbuf_view(&line), false), STATUS_OK);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) assert_non_null(json_get(root, NAMES[i]));
    assert_int_equal(json_type(json_get(root, "train_loss")), JSON_NULL);
    assert_true(json_number(json_get(root, "gradient_norm")) == 0.1 + 0.2);
    assert_true(json_number(json_get(root, "valid_chrf")) == 100 / 18.0);
    json_free(root);
    strbuf_clear(&line);
    r.valid_chrf = NAN; /* not computed, as in the logs of earlier versions */
    progress_write_json(&r, &line);
    assert_null(strstr(strbuf_text(&line), "chrf"));
    strbuf_free(&line);
}

/* The longest line of a run, and lines that do not fit. */
static void test_line(void **state) {
    (void)state;
    ProgressRecord r = {.update = 400,
                        .epoch = 3,
                        .seconds = 75,
                        .train_loss = 1.5,
                        .valid_loss = 12.3456,
                        .valid_bleu = 45.678,
                        .valid_chrf = NAN,
                        .best = true};
    StrBuf line = {0};
    progress_write_line(&r, &line);
    assert_string_equal(strbuf_text(&line),
                        "epoch 3 update 400  train 1.500 valid 12.35  BLEU 45.68  1m15s best");
    strbuf_clear(&line);
    r = (ProgressRecord){.update = 9999999,
                         .epoch = 100,
                         .seconds = 43 * 3600,
                         .train_loss = 9.9996,
                         .valid_loss = 9.9996,
                         .valid_bleu = 99.94,
                         .valid_chrf = 99.94,
                         .best = true};
    progress_write_line(&r, &line);
    assert_string_equal(strbuf_text(&line), "epoch 100 update 9999999 train 10.00 valid 10.00 "
                                            "BLEU 99.9 chrF 99.9 43h00m best");
    assert_int_equal(line.length, 80);
    strbuf_clear(&line);
    r.update = 9999;
    progress_write_line(&r, &line);
    assert_string_equal(strbuf_text(&line), "epoch 100 update 9999  train 10.00 valid 10.00  "
                                            "BLEU 99.9 chrF 99.9  43h00m best");
    assert_int_equal(line.length, 80);
    strbuf_free(&line);
}

static void test_damaged(void **state) {
    (void)state;
    static const char *const TEXTS[] = {"{\"update\": 1\n",
                                        "[]\n",
                                        "{}\n",
                                        "{\"update\": -1, \"epoch\": 1}\n",
                                        "{\"update\": \"1\", \"epoch\": 1}\n",
                                        "{\"update\": 1e300, \"epoch\": 1}\n",
                                        "{\"update\": 1, \"epoch\": 1}\n\n",
                                        "x\n",
                                        "\xFF\xFE{} \n",
                                        "{\"update\": 1, \"epoch\": -1}\n",
                                        "{\"update\": 1, \"epoch\": 1e30}\n"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        Progress progress = {0};
        const char *path = fixture_write("train.jsonl", TEXTS[i], strlen(TEXTS[i]));
        if (progress_read(&progress, path, 1000) != STATUS_DATA) fail_msg("accepted: %s", TEXTS[i]);
        if (!strstr(status_hint_text(), "move the file away")) fail_msg("no hint: %s", TEXTS[i]);
        assert_non_null(strstr(status_message(), path));
        assert_non_null(strstr(status_message(), "line"));
        progress_free(&progress);
    }
    Progress progress = {0};
    assert_int_equal(progress_read(&progress, fixture_path("missing.jsonl"), 1000), STATUS_OK);
    assert_int_equal(progress.count, 0);
    fixture_write("train.jsonl", "", 0);
    assert_int_equal(progress_read(&progress, fixture_path("train.jsonl"), 1000), STATUS_OK);
    assert_int_equal(progress.count, 0);
    static const char NUMBER[] = "{\"update\": 1, \"epoch\": 1, \"best\": 1}\n";
    fixture_write("train.jsonl", NUMBER, sizeof NUMBER - 1);
    assert_int_equal(progress_read(&progress, fixture_path("train.jsonl"), 1000), STATUS_OK);
    assert_true(progress.count == 1 && !progress.records[0].best);
    progress_free(&progress);
    static const char *const UTF16[] = {"\xFF\xFE{\0}", "\xFE\xFF\0{\0"}; /* saved by an editor */
    for (int i = 0; i < 2; i++) {
        fixture_write("train.jsonl", UTF16[i], 6);
        assert_int_equal(progress_read(&progress, fixture_path("train.jsonl"), 1000), STATUS_DATA);
        assert_non_null(strstr(status_message(), "UTF-16"));
    }
}

static void assert_drawn(const Progress *progress, const Config *config, const char *part) {
    StrBuf curve = {0};
    assert_int_equal(progress_save(progress, config, folder()), STATUS_OK);
    assert_int_equal(file_read(fixture_path("curve.svg"), 0, &curve), STATUS_OK);
    if (!strstr(strbuf_text(&curve), part)) fail_msg("no '%s'", part);
    strbuf_free(&curve);
}

/* The two losses have different contributions. */
static void test_names_of_losses(void **state) {
    (void)state;
    Progress progress = {0};
    Config config;
    ProgressRecord r = record(10);
    progress_add(&progress, &r);
    config_init(&config);
    assert_drawn(&progress, &config, "validation loss: averaged weights, without either");
    config.train.average = 0;
    config.train.label_smoothing = 0;
    assert_drawn(&progress, &config, "validation loss: without dropout");
    config.model.dropout_embedding = config.model.dropout_layers = config.model.dropout_encoder = 0;
    config.model.dropout_output = config.model.dropout_attention = config.model.dropout_state = 0;
    assert_drawn(&progress, &config, "mean since the last validation (left)<");
    config.train.label_smoothing = 0.1;
    assert_drawn(&progress, &config, "validation, with label smoothing 0.1");
    assert_drawn(&progress, &config, "validation loss: without smoothing");
    config_free(&config);
    progress_free(&progress);
}

/* The progress for each limit that can end a run. */
static void test_end(void **state) {
    (void)state;
    char way[PROGRESS_EXTENSION];
    Progress p = {.epoch = 2, .batch = 5, .update = 25, .seconds = 60, .stalled = 3};
    TrainOptions none = {0}, o = {.epochs = 2};
    assert_null(progress_find_end(&p, &none, way));
    assert_true(progress_fraction(&p, &none, 0) == 0);
    assert_string_equal(progress_find_end(&p, &o, way), "all epochs are done");
    assert_string_equal(way, "--epochs 4");
    o = (TrainOptions){.epochs = 4};
    assert_null(progress_find_end(&p, &o, way));
    assert_true(progress_fraction(&p, &o, 0) == 0.5 && progress_fraction(&p, &o, 10) == 0.625);
    o = (TrainOptions){.max_updates = 25};
    assert_string_equal(progress_find_end(&p, &o, way), "all updates are done");
    assert_string_equal(way, "--max-updates 50");
    assert_true(progress_fraction(&p, &o, 10) == 1);
    o = (TrainOptions){.epochs = 4, .max_updates = 100}; /* the first limit counts */
    assert_true(progress_fraction(&p, &o, 0) == 0.5);
    o.max_updates = 40;
    assert_true(progress_fraction(&p, &o, 0) == 0.625);
    o = (TrainOptions){.max_updates = 26, .max_minutes = 1.01, .patience = 4};
    assert_null(progress_find_end(&p, &o, way));
    o.max_minutes = 1;
    assert_string_equal(progress_find_end(&p, &o, way), "the time is over");
    assert_string_equal(way, "--set train.max_minutes=2");
    o = (TrainOptions){.patience = 3};
    assert_string_equal(progress_find_end(&p, &o, way), "it no longer improved");
    assert_string_equal(way, "--patience 6");
    p.seconds = 620; /* the run is far beyond its end */
    o = (TrainOptions){.patience = 1};
    progress_find_end(&p, &o, way);
    assert_string_equal(way, "--patience 6");
    o = (TrainOptions){.max_minutes = 2};
    progress_find_end(&p, &o, way);
    assert_string_equal(way, "--set train.max_minutes=20");
    p.seconds = 1; /* above the limit, which is checked between updates */
    o = (TrainOptions){.max_minutes = 0.0001};
    progress_find_end(&p, &o, way);
    assert_string_equal(way, "--set train.max_minutes=2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_losses),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
