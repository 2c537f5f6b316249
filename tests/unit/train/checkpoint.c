/* checkpoint.c - the training state is the same after saving and loading, also from files of earlier
 * versions; options that a resumed run can change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "io/fileio.h"
#include "base/mem.h"
#include "kern/kern.h"
#include "models/modelfile.h"
#include "models/safetensors.h"
#include "unit/text_fixture.h"
#include "train/checkpoint.h"
#include "unit/model_variants.h"

enum { MAX_WEIGHTS = 1 << 20 };
#define STATE "last.state.safetensors"

typedef struct {
    Config config;
    Seq2Seq *model;
    Workers *workers;
    Optimizer *optimizer;
    Progress progress;
    Checkpoint checkpoint;
} Run;

/* A run in the scratch folder, with the default configuration except `settings`: "train.epochs=3 ...". */
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
    run->optimizer = optimizer_new(seq2seq_params(run->model), run->workers, WEIGHT_BF16X3, true);
    run->progress = (Progress){.best_bleu = -1, .best_loss = INFINITY};
    run->checkpoint = (Checkpoint){.dir = fixture_path("."),
                                   .config = &run->config,
                                   .model = run->model,
                                   .optimizer = run->optimizer,
                                   .progress = &run->progress,
                                   .data_sha256 = "digest",
                                   .valid_sha256 = "valid digest"};
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
    assert_int_equal(file_write_whole(fixture_path("best.safetensors"), SV("the best model")), STATUS_OK);
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
                      .last_rate = 1e-3 / 3,
                      .best_chrf = 34.5,
                      .loss_of_best = 2.5};
}

static void assert_same(const Progress *a, const Progress *b) {
    assert_true(a->update == b->update && a->epoch == b->epoch && a->batch == b->batch);
    assert_true(a->stalled == b->stalled && a->cuts == b->cuts && a->stalled_for_cut == b->stalled_for_cut);
    assert_true(a->tokens == b->tokens && a->total_tokens == b->total_tokens);
    assert_true(a->seconds == b->seconds && a->train_seconds == b->train_seconds);
    assert_true(a->best_bleu == b->best_bleu && a->best_loss == b->best_loss && a->loss_sum == b->loss_sum);
    assert_true(a->last_norm == b->last_norm && a->last_rate == b->last_rate);
    assert_true(a->best_chrf == b->best_chrf && a->loss_of_best == b->loss_of_best);
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

/* A change of a state file. */
typedef struct {
    const char *without; /* a tensor, or a key of the metadata */
    const char *config, *simd, *blas;
    int words;                    /* of the counters; 0: all */
    bool square;                  /* the counters are a matrix */
    const char *format, *version; /* others */
    const uint64_t *counters;     /* others */
    const float *weights;         /* others */
} Change;

static void change_tensor(SafeTensor *tensor, const Change *change) {
    if (change->weights && !strcmp(tensor->name, "weights")) {
        assert_true(tensor->bytes <= MAX_WEIGHTS * sizeof *change->weights);
        tensor->data = change->weights;
    }
    if (strcmp(tensor->name, "counters")) return;
    if (change->counters) tensor->data = change->counters;
    if (change->square) tensor->rank = 2, tensor->shape[1] = 1;
    if (!change->words) return;
    tensor->shape[0] = change->words;
    tensor->bytes = (size_t)change->words * sizeof(uint64_t);
}

static void rewrite(Change change) {
    SafeFile *file;
    SafeTensor tensors[8];
    const char *metadata[16][2];
    const char *without = change.without ? change.without : "";
    assert_int_equal(safetensors_open(&file, fixture_path(STATE)), STATUS_OK);
    size_t count = 0, pairs = 0;
    for (size_t i = 0; i < safetensors_count(file); i++) {
        tensors[count] = *safetensors_at(file, i);
        if (!strcmp(tensors[count].name, without)) continue;
        change_tensor(&tensors[count++], &change);
    }
    for (size_t i = 0; i < safetensors_metadata_count(file); i++) {
        const char **pair = metadata[pairs];
        safetensors_metadata_at(file, i, &pair[0], &pair[1]);
        if (strstr(pair[0], "_sha256") && strcmp(pair[0], "data_sha256")) continue;
        if (!strcmp(pair[0], without)) continue;
        if (change.config && !strcmp(pair[0], "config")) pair[1] = change.config;
        if (change.format && !strcmp(pair[0], "format")) pair[1] = change.format;
        if (change.version && !strcmp(pair[0], "format_version")) pair[1] = change.version;
        if (change.simd && !strcmp(pair[0], "simd")) pair[1] = change.simd;
        if (change.blas && !strcmp(pair[0], "blas_kernel")) pair[1] = change.blas;
        pairs++;
    }
    assert_int_equal(safetensors_write_unchecked(fixture_path("old"), tensors, count,
                                                 (const char *const(*)[2])metadata, pairs),
                     STATUS_OK);
    safetensors_close(file);
    assert_int_equal(rename(fixture_path("old"), fixture_path(STATE)), 0);
}

/* Earlier versions did not save the last learning rate and some other counters. */
static void test_earlier_version(void **state) {
    (void)state;
    Progress progress = progress_at(1000);
    save("", &progress);
    rewrite((Change){.words = 15,
                     .config = "{\"train\": {\"epochs\": 0, \"max_updates\": 0, \"patience\": 0, "
                               "\"samples\": 0, \"save_minutes\": 1}}"});
    Run *run = run_new("train.epochs=30 train.samples=1");
    if (checkpoint_load_state(&run->checkpoint) != STATUS_OK) fail_msg("%s", status_message());
    progress.last_rate = progress.best_chrf = progress.loss_of_best = 0; /* initial values of run_new */
    assert_same(&run->progress, &progress);
    run_free(run);
    rewrite((Change){.words = 14, .config = "{}"});
    run = run_new("");
    assert_int_equal(checkpoint_load_state(&run->checkpoint), STATUS_DATA);
    run_free(run);
}

static Status resume(const char *data, const char *valid) {
    Run *run = run_new("");
    run->checkpoint.data_sha256 = data;
    run->checkpoint.valid_sha256 = valid;
    Status status = checkpoint_load_state(&run->checkpoint);
    run_free(run);
    return status;
}

static void assert_refused(Change change, const char *message) {
    Progress progress = progress_at(1000);
    save("", &progress);
    rewrite(change);
    Status status = resume("digest", "valid digest");
    if (status != (message ? STATUS_DATA : STATUS_OK) || (message && !strstr(status_message(), message)))
        fail_msg("%s: status %d: %s", message, status, status_message());
}

/* Files with valid checksums that are not states of this run. */
static void test_refused(void **state) {
    (void)state;
    static const char *const KEYS[] = {"config",      "data_sha256", "simd",
                                       "blas_kernel", "format",      "format_version"};
    static const char *const TENSORS[] = {"counters", "weights", "adam_m", "adam_v", "average"};
    static float weights[MAX_WEIGHTS];
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        assert_refused((Change){.without = KEYS[i]}, "not a training state of attn-mt");
    for (int i = 0; i < 5; i++) assert_refused((Change){.without = TENSORS[i]}, TENSORS[i]);
    assert_refused((Change){.format = "another"}, "not a training state of attn-mt");
    assert_refused((Change){.version = "99"}, "its format version is '99', this program reads 2");
    assert_refused((Change){.version = ""}, "its format version is ''");
    assert_refused((Change){.config = "{"}, "its configuration");
    assert_refused((Change){.config = "{\"train\": {\"epochs\": -1}}"}, "its configuration");
    assert_refused((Change){.words = 3}, "counters");
    assert_refused((Change){.square = true}, "counters");
    assert_refused((Change){.words = 19, .counters = (uint64_t[19]){0}}, "counters"); /* of a later version */
    assert_refused((Change){.simd = "abacus"}, NULL);                                 /* a warning */
    assert_refused((Change){.blas = "fingers"}, NULL);
    weights[5] = NAN;
    assert_refused((Change){.weights = weights}, "'weights'");
    save("", NULL);
    assert_int_equal(resume("digest", "valid digest"), STATUS_OK);
    assert_int_equal(resume("other", "valid digest"), STATUS_USAGE);
    assert_int_equal(resume("digest", "other"), STATUS_USAGE);
}

static void test_every_counter_has_a_range(void **state) {
    (void)state;
    static const char COUNTERS[] = "ccc"
                                   "rrr"
                                   "ccc"
                                   "r"
                                   "cc"
                                   "rr"
                                   "c"
                                   "rrr"; /* or a real number */
    for (int i = 0; i < 18; i++) {
        uint64_t counters[18] = {0};
        counters[i] = 1ull << 62;
        assert_refused((Change){.counters = counters}, COUNTERS[i] == 'c' ? "is out of range" : NULL);
    }
}

static void test_what_is_not_there(void **state) {
    (void)state;
    Config config;
    Tokenizer *source, *target;
    Progress progress = progress_at(7);
    save("", &progress);
    assert_int_equal(unlink(fixture_path("best.safetensors")), 0);
    Run *run = run_new("");
    assert_int_equal(checkpoint_load_state(&run->checkpoint), STATUS_RUNTIME);
    assert_non_null(strstr(status_message(), "the best model so far, is missing"));
    run_free(run);
    assert_int_equal(checkpoint_load_config(fixture_path("nowhere"), &config), STATUS_USAGE);
    config_free(&config);
    assert_int_equal(checkpoint_load_tokenizers(fixture_path("nowhere"), &source, &target), STATUS_USAGE);
    save("", NULL);
    assert_int_equal(checkpoint_load_tokenizers(fixture_path("."), &source, &target), STATUS_RUNTIME);
    assert_int_equal(checkpoint_load_config(fixture_path("."), &config), STATUS_OK);
    config_free(&config);
    rewrite((Change){.without = "config"});
    assert_int_equal(checkpoint_load_config(fixture_path("."), &config), STATUS_DATA);
    assert_non_null(strstr(status_message(), "not a training state"));
    config_free(&config);
    assert_int_equal(file_write_whole(fixture_path(STATE), SV("no tensors")), STATUS_OK);
    assert_int_equal(checkpoint_load_config(fixture_path("."), &config), STATUS_DATA);
    config_free(&config);
}

static void assert_provenance(const Run *run, const char *part) {
    Seq2Seq *model;
    StrBuf provenance = {0};
    assert_int_equal(checkpoint_save_model(&run->checkpoint, "model.safetensors"), STATUS_OK);
    assert_int_equal(modelfile_load_floats(&model, fixture_path("model.safetensors"), &provenance),
                     STATUS_OK);
    if (!strstr(strbuf_text(&provenance), part)) fail_msg("no '%s' in %s", part, strbuf_text(&provenance));
    strbuf_free(&provenance);
    seq2seq_free(model);
}

/* The provenance has the epoch of the model, and scores and calibration only if they belong to this model. */
static void test_provenance(void **state) {
    (void)state;
    ProgressRecord record = {.update = 20, .valid_loss = 1.5, .valid_bleu = 25};
    Run *run = run_new("train.seed=7");
    run->progress.update = 20;
    run->progress.epoch = 2;
    progress_add(&run->progress, &record);
    assert_provenance(run, "\"update\": 20, \"epoch\": 2, \"seed\": 7, \"valid_loss\": 1.5, "
                           "\"valid_bleu\": 25, \"source_language\"");
    run->progress.batch = 4;
    run->checkpoint.calibration = (Calibration){.slope = 2, .offset = 0.5, .words = 30};
    assert_provenance(run, "\"epoch\": 3, \"seed\": 7, \"valid_loss\": 1.5, \"valid_bleu\": 25, "
                           "\"calibration\": {\"slope\": 2, \"offset\": 0.5, \"words\": 30}, \"source");
    run->progress.update = 21;
    assert_provenance(run, "\"update\": 21, \"epoch\": 3, \"seed\": 7, \"source_language\"");
    run_free(run);
}

/* An unused new folder is removed. An existing folder stays, and a folder with files, too. */
static void test_leaving(void **state) {
    (void)state;
    const char *dir = fixture_path("unused");
    assert_int_equal(checkpoint_lock(dir), STATUS_OK);
    checkpoint_remove_empty(dir);
    assert_false(file_exists(dir));
    assert_int_equal(file_make_dirs(dir, NULL), STATUS_OK);
    assert_int_equal(checkpoint_lock(dir), STATUS_OK);
    checkpoint_remove_empty(dir);
    assert_true(file_exists(dir));
    unlink(fixture_path("unused/LOCK"));
    rmdir(dir);
    assert_int_equal(checkpoint_lock(dir), STATUS_OK);
    assert_int_equal(file_write_whole(fixture_path("unused/notes"), SV("")), STATUS_OK);
    checkpoint_remove_empty(dir);
    assert_true(file_exists(fixture_path("unused/notes")));
    unlink(fixture_path("unused/notes"));
    rmdir(dir);
}

/* Two trainings start at once. The first one finds no folder; when it creates the folder, the second one has
 * already created and locked it. */
static int rival_fd = -1;
static bool rival_gives_up, rival_begins;
int mkdir(const char *path, mode_t mode) {
    if (rival_begins && strstr(path, "contested")) {
        rival_begins = false;
        assert_int_equal(syscall(SYS_mkdirat, AT_FDCWD, path, mode), 0);
        char lock[4096];
        snprintf(lock, sizeof lock, "%s/LOCK", path);
        rival_fd = open(lock, O_RDWR | O_CREAT, 0666);
        assert_true(rival_fd >= 0 && syscall(SYS_flock, rival_fd, LOCK_EX) == 0);
    }
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

static void test_leaving_to_a_rival(void **state) {
    (void)state;
    char dir[256];
    snprintf(dir, sizeof dir, "%s", fixture_path("contested"));
    rival_begins = true;
    assert_int_equal(checkpoint_lock(dir), STATUS_USAGE);
    assert_non_null(strstr(status_message(), "in use by process"));
    checkpoint_remove_empty(dir);
    assert_true(file_exists(fixture_path("contested/LOCK")));
    close(rival_fd);
    unlink(fixture_path("contested/LOCK"));
    rmdir(dir);
    /* The lock file is not the one that this process locked. */
    assert_int_equal(checkpoint_lock(dir), STATUS_OK);
    unlink(fixture_path("contested/LOCK"));
    int fd = open(fixture_path("contested/LOCK"), O_RDWR | O_CREAT, 0666);
    assert_true(fd >= 0);
    checkpoint_remove_empty(dir);
    assert_true(file_exists(fixture_path("contested/LOCK")));
    close(fd);
    unlink(fixture_path("contested/LOCK"));
    rmdir(dir);
    /* The holder removes the lock after this process opens the file and before it locks the file. */
    rival_gives_up = true;
    assert_int_equal(checkpoint_lock(dir), STATUS_OK);
    assert_false(rival_gives_up);
    assert_int_equal(checkpoint_check_lock(dir), STATUS_OK);
    checkpoint_remove_empty(dir);
    assert_false(file_exists(dir));
}

/* The lock file can lack the number of its process. */
static void test_lock_of_a_stranger(void **state) {
    (void)state;
    int fd = open(fixture_path("LOCK"), O_RDWR | O_CREAT, 0666);
    assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
    assert_int_equal(checkpoint_lock(fixture_path(".")), STATUS_USAGE);
    assert_non_null(strstr(status_message(), "in use by process (unknown)"));
    close(fd);
    assert_int_equal(checkpoint_lock(fixture_path(".")), STATUS_OK);
    assert_int_equal(checkpoint_check_lock(fixture_path(".")), STATUS_OK);
    unlink(fixture_path("LOCK"));
    assert_int_equal(checkpoint_check_lock(fixture_path(".")), STATUS_RUNTIME);
    fixture_write("LOCK", "1\n", 2); /* of another process */
    assert_int_equal(checkpoint_check_lock(fixture_path(".")), STATUS_RUNTIME);
    /* A link to another disk in place of the folder, if there is another disk. */
    char other[] = "/dev/shm/attn-mt-test-XXXXXX", lock[64];
    if (!mkdtemp(other)) return;
    snprintf(lock, sizeof lock, "%s/LOCK", other);
    assert_int_equal(close(open(lock, O_WRONLY | O_CREAT, 0600)), 0);
    assert_int_equal(checkpoint_check_lock(other), STATUS_RUNTIME);
    unlink(lock);
    rmdir(other);
}

/* Replaces the C library's function: some file systems have no locks. */
static bool has_locks = true;
int flock(int fd, int operation) {
    if (rival_gives_up) {
        rival_gives_up = false;
        unlink(fixture_path("contested/LOCK"));
        rmdir(fixture_path("contested"));
    }
    if (has_locks) return (int)syscall(SYS_flock, fd, operation);
    errno = ENOLCK;
    return -1;
}

static void test_no_locks(void **state) {
    (void)state;
    has_locks = false;
    Status status = checkpoint_lock(fixture_path("unlockable"));
    has_locks = true;
    assert_int_equal(status, STATUS_RUNTIME);
    assert_non_null(strstr(status_message(), "unlockable/LOCK': No locks available"));
    assert_non_null(strstr(status_hint_text(), "--run DIR"));
}

/* Without a lock nothing is written. */
static void test_no_lock(void **state) {
    (void)state;
    assert_int_equal(checkpoint_check_lock(fixture_path(".")), STATUS_RUNTIME);
}

static void test_forgets(void **state) {
    (void)state;
    save("", NULL);
    assert_int_equal(checkpoint_remove_run(fixture_path(".")), STATUS_OK);
    assert_false(checkpoint_exists(fixture_path(".")));
    assert_int_equal(checkpoint_remove_run(fixture_path(".")), STATUS_OK);
    assert_int_equal(file_make_dirs(fixture_path(STATE), NULL), STATUS_OK); /* a folder cannot be unlinked */
    assert_int_equal(checkpoint_remove_run(fixture_path(".")), STATUS_RUNTIME);
    assert_non_null(strstr(status_message(), "cannot remove"));
    assert_int_equal(rmdir(fixture_path(STATE)), 0);
}

static void test_changes(void **state) {
    (void)state;
    static const struct {
        const char *saved, *now, *message; /* NULL if the run can be resumed */
    } CASES[] = {
        {"", "", NULL},
        {"", "train.epochs=7 train.max_updates=9 train.max_minutes=3 train.patience=2", NULL},
        {"", "train.samples=0 train.save_minutes=1 data.train=a data.valid=b,c", NULL},
        {"data.train=a", "", NULL},
        {"", "train.log_every=3 train.comm_timeout=61 train.shortlist=0", NULL},
        {"", "train.epochs=7 train.seed=2", "train.seed was 1, now it is 2"},
        {"", "train.average=0", "train.average was 0.001, now it is 0"},
        {"", "model.hidden=64", "model.hidden was 256, now it is 64"},
        {"", "data.limit=10", "data.limit was 0, now it is 10"},
        {"", "text.bpe_codes=x", "text.bpe_codes was null, now it is \"x\""},
        {"data.train=caf\xE9", "data.train=caf\xE9", NULL}, /* names of files need not be UTF-8 */
        {"model.encoder.style=conv", "", "model.encoder.style was \"conv\", now it is \"rnn\""},
        /* The end of a run decides about a linear schedule, which is a warning; another schedule is not the
         * fault of the end. */
        {"train.schedule=linear", "train.schedule=linear train.epochs=7", NULL},
        {"train.schedule=linear", "train.schedule=linear train.max_updates=9", NULL},
        {"train.schedule=linear", "train.schedule=linear train.max_minutes=9", NULL},
        {"", "train.schedule=linear train.epochs=7", "train.schedule was \"auto\", now it is \"linear\""},
        {"train.schedule=linear", "train.epochs=7", "train.schedule was \"linear\", now it is \"auto\""},
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
        cmocka_unit_test(test_no_lock),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_earlier_version),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_every_counter_has_a_range),
        cmocka_unit_test(test_what_is_not_there),
        cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_leaving_to_a_rival),
        cmocka_unit_test(test_lock_of_a_stranger),
        cmocka_unit_test(test_no_locks),
        cmocka_unit_test(test_forgets),
        cmocka_unit_test(test_provenance),
    };
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
