/* test_train_checkpoint.c - the training state: what is saved comes back, in files of earlier versions too,
 * and what a resumed run may change and what not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "num/kern.h"
#include "models/safetensors.h"
#include "text_fixture.h"
#include "train/checkpoint.h"
#include "unit/model_variants.h"

#define STATE "last.state.safetensors"

typedef struct {
    Config config;
    Seq2Seq *model;
    Workers *workers;
    Optimizer *optimizer;
    Progress progress;
    Checkpoint checkpoint;
} Run;

/* A run in the scratch folder, with the default configuration but for `settings`: "train.epochs=3 ...". */
static Run *run_new(const char *settings) {
    Run *run = mem_alloc(1, sizeof *run);
    OptionTable tables[6];
    config_init(&run->config);
    config_tables(&run->config, tables);
    for (StrView rest = sv(settings), item, key; sv_next(&rest, ' ', &item);) {
        if (!item.length) continue;
        sv_next(&item, '=', &key);
        assert_int_equal(options_set(tables, key, item), STATUS_OK);
    }
    run->model = variant_new(&MODEL_VARIANTS[0], NULL, 1);
    run->workers = workers_new(1);
    run->optimizer = optimizer_new(seq2seq_params(run->model), run->workers, true);
    run->progress = (Progress){.best_bleu = -1, .best_loss = INFINITY};
    run->checkpoint =
        (Checkpoint){fixture_path("."), &run->config, run->model, run->optimizer, &run->progress, "digest",
                     "valid digest"};
    return run;
}
static void run_free(Run *run) {
    progress_free(&run->progress);
    optimizer_free(run->optimizer);
    workers_free(run->workers);
    seq2seq_free(run->model);
    config_free(&run->config);
    mem_free(run);
}

static void save(const char *settings, const Progress *progress) {
    Run *run = run_new(settings);
    if (progress) run->progress = *progress;
    run->optimizer->updates = run->progress.update;
    run->optimizer->m[3] = (real)0.25;
    assert_int_equal(checkpoint_save_state(&run->checkpoint), STATUS_OK);
    run_free(run);
}

static Progress progress_at(long long tokens) {
    return (Progress){.update = tokens / 7,
                      .epoch = 12,
                      .batch = 345,
                      .seconds = 1e6 / 3,
                      .best_bleu = 12.5,
                      .best_loss = 2.25,
                      .stalled = 1,
                      .cuts = 2,
                      .stalled_for_cut = 3,
                      .loss_sum = 1e3 / 3,
                      .tokens = tokens / 5,
                      .total_tokens = tokens,
                      .train_seconds = 0.1,
                      .last_norm = 0.7,
                      .last_rate = 1e-3 / 3};
}

static void assert_same(const Progress *a, const Progress *b) {
    assert_true(a->update == b->update && a->epoch == b->epoch && a->batch == b->batch);
    assert_true(a->stalled == b->stalled && a->cuts == b->cuts && a->stalled_for_cut == b->stalled_for_cut);
    assert_true(a->tokens == b->tokens && a->total_tokens == b->total_tokens);
    assert_true(a->seconds == b->seconds && a->train_seconds == b->train_seconds);
    assert_true(a->best_bleu == b->best_bleu && a->best_loss == b->best_loss && a->loss_sum == b->loss_sum);
    assert_true(a->last_norm == b->last_norm && a->last_rate == b->last_rate);
}

/* Runs may be long: counters have more than 32 bits. */
static void test_round_trip(void **state) {
    (void)state;
    static const long long TOKENS[] = {0, 1, (1ll << 31) - 1, 1ll << 31, 1ll << 32, 1ll << 40, 1ll << 61};
    for (size_t i = 0; i < sizeof TOKENS / sizeof *TOKENS; i++) {
        Progress progress = progress_at(TOKENS[i]);
        save("", &progress);
        Run *run = run_new("");
        if (checkpoint_load_state(&run->checkpoint) != STATUS_OK) fail_msg("%s", status_message());
        assert_same(&run->progress, &progress);
        assert_true(run->optimizer->updates == progress.update && run->optimizer->m[3] == (real)0.25);
        run_free(run);
    }
    Progress wrong = progress_at(1);
    wrong.batch = -1;
    save("", &wrong);
    Run *run = run_new("");
    assert_int_equal(checkpoint_load_state(&run->checkpoint), STATUS_DATA);
    assert_non_null(strstr(status_message(), "'progress->batch' is out of range"));
    run_free(run);
}

/* Write the state file again with the first `words` of its counters and with another configuration. */
static void rewrite(int words, const char *config) {
    SafeFile *file;
    SafeTensor tensors[8];
    const char *metadata[16][2];
    assert_int_equal(safetensors_open(&file, fixture_path(STATE)), STATUS_OK);
    size_t count = safetensors_count(file), pairs = 0;
    for (size_t i = 0; i < count; i++) {
        tensors[i] = *safetensors_at(file, i);
        if (strcmp(tensors[i].name, "counters")) continue;
        tensors[i].shape[0] = words;
        tensors[i].bytes = (size_t)words * sizeof(uint64_t);
    }
    for (size_t i = 0; i < safetensors_metadata_count(file); i++) {
        const char **pair = metadata[pairs];
        safetensors_metadata_at(file, i, &pair[0], &pair[1]);
        if (strstr(pair[0], "_sha256") && strcmp(pair[0], "data_sha256")) continue;
        if (!strcmp(pair[0], "config")) pair[1] = config;
        pairs++;
    }
    assert_int_equal(
        safetensors_write(fixture_path("old"), tensors, count, (const char *const(*)[2])metadata, pairs),
        STATUS_OK);
    safetensors_close(file);
    assert_int_equal(rename(fixture_path("old"), fixture_path(STATE)), 0);
}

/* Earlier versions did not save the last learning rate, and zeros for what may change. */
static void test_earlier_version(void **state) {
    (void)state;
    Progress progress = progress_at(1000);
    save("", &progress);
    rewrite(15, "{\"train\": {\"epochs\": 0, \"max_updates\": 0, \"patience\": 0, \"samples\": 0,"
                " \"save_minutes\": 1}}");
    Run *run = run_new("train.epochs=30 train.samples=1");
    if (checkpoint_load_state(&run->checkpoint) != STATUS_OK) fail_msg("%s", status_message());
    progress.last_rate = 0;
    assert_same(&run->progress, &progress);
    run_free(run);
    rewrite(14, "{}");
    run = run_new("");
    assert_int_equal(checkpoint_load_state(&run->checkpoint), STATUS_DATA);
    run_free(run);
}

static void test_changes(void **state) {
    (void)state;
    static const struct {
        const char *saved, *now, *message; /* NULL: it may be resumed */
    } CASES[] = {
        {"", "", NULL},
        {"", "train.epochs=7 train.max_updates=9 train.max_minutes=3 train.patience=2", NULL},
        {"", "train.samples=0 train.save_minutes=1 data.train=a data.valid=b,c", NULL},
        {"data.train=a", "", NULL},
        {"", "train.epochs=7 train.seed=2", "train.seed was 1, now it is 2"},
        {"", "train.average=0", "train.average was 0.001, now it is 0"},
        {"", "model.hidden=64", "model.hidden was 256, now it is 64"},
        {"", "data.limit=10", "data.limit was 0, now it is 10"},
        {"", "text.bpe_codes=x", "text.bpe_codes was null, now it is \"x\""},
        {"model.encoder.style=conv", "", "model.encoder.style was \"conv\", now it is \"rnn\""},
        /* The end of a run decides about a linear schedule; another schedule is not the fault of the end. */
        {"train.schedule=linear", "train.schedule=linear train.epochs=7", "train.epochs was 20, now it is 7"},
        {"train.schedule=linear", "train.schedule=linear train.max_updates=9",
         "train.max_updates was 0, now it is 9"},
        {"train.schedule=linear", "train.schedule=linear train.max_minutes=9", NULL},
        {"", "train.schedule=linear train.epochs=7",
         "train.schedule was \"inverse_sqrt\", now it is \"linear\""},
        {"train.schedule=linear", "train.epochs=7",
         "train.schedule was \"linear\", now it is \"inverse_sqrt\""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        save(CASES[i].saved, NULL);
        Run *run = run_new(CASES[i].now);
        Status status = checkpoint_load_state(&run->checkpoint);
        if (status != (CASES[i].message ? STATUS_USAGE : STATUS_OK) ||
            (CASES[i].message && !strstr(status_message(), CASES[i].message)))
            fail_msg("'%s', then '%s': %s", CASES[i].saved, CASES[i].now, status_message());
        run_free(run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_earlier_version),
        cmocka_unit_test(test_changes),
    };
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
