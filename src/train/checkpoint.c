/* checkpoint.c - saving and resuming a run. */
#include "train/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "distributed/group.h"
#include "io/fileio.h"
#include "base/log.h"
#include "io/options.h"
#include "base/version.h"
#include "models/modelfile.h"
#include "models/safetensors.h"
#include "kern/kern.h"
#include "autograd/matmul.h"
#include "io/json_write.h"

#define STATE_NAME "last.state.safetensors"
#define MODEL_NAME "last.safetensors"
#define LOG_NAME   "train.jsonl"

#define FORMAT         "attn-mt training state"
#define FORMAT_VERSION "2"

typedef struct {
    char text[4096];
} Path;

static Path path_in(const char *dir, const char *name) {
    Path path;
    snprintf(path.text, sizeof path.text, "%s/%s", dir, name);
    return path;
}

enum { LOCK_ATTEMPTS = 10 };

/* ---- the directory ------------------------------------------------------------------------------------- */

static int lock_fd = -1; /* open, and locked, until the process ends */
static bool created_dir; /* by checkpoint_lock of this process */

/* Writes this process's number, for the message of another one. */
static bool write_holder(int fd) {
    char pid[32];
    size_t length = (size_t)snprintf(pid, sizeof pid, "%ld\n", (long)getpid()), done = 0;
    bool ok = ftruncate(fd, 0) == 0;
    while (ok && done < length) {
        ssize_t count = write(fd, pid + done, length - done);
        ok = count > 0 || (count < 0 && errno == EINTR);
        if (count > 0) done += (size_t)count;
    }
    return ok;
}

/* Is the file at `path` still the one that this process locked? */
static bool holds_lock(const char *path) {
    struct stat locked, current;
    return fstat(lock_fd, &locked) == 0 && lstat(path, &current) == 0 && locked.st_dev == current.st_dev &&
           locked.st_ino == current.st_ino;
}

/* Create the folder and open its lock file. Another process that fails may remove the folder in between. */
static Status open_lock(const char *dir, const char *path, int *fd) {
    bool created;
    for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
        TRY(file_make_dirs(dir, &created));
        created_dir |= created;
        *fd = file_open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
        if (*fd >= 0) return STATUS_OK;
        if (errno == ELOOP)
            return status_hint(status_fail(STATUS_RUNTIME, "'%s' is a symbolic link", path),
                               "a regular file is needed there: remove the link");
        if (errno != ENOENT) break;
    }
    return status_fail(STATUS_RUNTIME, "cannot write in '%s': %s", dir, strerror(errno));
}

static Status fail_lock(const char *path) {
    Status s = status_fail(STATUS_RUNTIME, "cannot lock '%s': %s", path, strerror(errno));
    return status_hint(s, "choose a folder whose file system supports locks: --run DIR");
}

static Status fail_in_use(const char *dir, int fd) {
    char holder[32] = "";
    ssize_t length = read(fd, holder, sizeof holder - 1);
    holder[length > 0 ? strcspn(holder, "\n") : 0] = 0;
    Status s =
        status_fail(STATUS_USAGE, "'%s' is in use by process %s", dir, holder[0] ? holder : "(unknown)");
    return status_hint(s, "wait for it, stop it, or train elsewhere with --run DIR");
}

/* Opening a pipe for writing waits until another program reads it. */
static Status check_files(const char *dir) {
    static const char *const NAMES[] = {STATE_NAME, MODEL_NAME, LOG_NAME, "best.safetensors", "curve.svg"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        Path path = path_in(dir, NAMES[i]);
        if (!file_is_stream(path.text)) continue;
        Status s = status_fail(STATUS_DATA, "'%s': not a regular file", path.text);
        return status_hint(s, "training replaces this file: remove it, or train elsewhere with --run DIR");
    }
    return STATUS_OK;
}

Status checkpoint_lock(const char *dir) {
    Path path = path_in(dir, "LOCK");
    created_dir = false;
    for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
        int fd;
        TRY(open_lock(dir, path.text, &fd));
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            Status s = errno == EWOULDBLOCK ? fail_in_use(dir, fd) : fail_lock(path.text);
            close(fd);
            return s;
        }
        lock_fd = fd;
        if (!holds_lock(path.text)) { /* another process failed and removed it since it was opened */
            close(fd);
            lock_fd = -1;
            continue;
        }
        if (!write_holder(fd))
            return status_fail(STATUS_RUNTIME, "cannot write '%s': %s", path.text, strerror(errno));
        return check_files(dir);
    }
    return status_fail(STATUS_RUNTIME, "cannot lock '%s': other processes keep removing it", path.text);
}

void checkpoint_remove_empty(const char *dir) {
    Path path = path_in(dir, "LOCK");
    if (!created_dir || !holds_lock(path.text) || checkpoint_has_model(dir)) return;
    unlink(path.text);
    rmdir(dir); /* fails, as it should, if the folder has other files */
}

Status checkpoint_check_lock(const char *dir) {
    Path path = path_in(dir, "LOCK");
    if (holds_lock(path.text)) return STATUS_OK;
    Status s = status_fail(STATUS_RUNTIME,
                           "'%s' is no longer the file that this process locked: no more files are written",
                           path.text);
    return status_hint(s, "the file or the folder was removed; another process may be training there");
}

bool checkpoint_exists(const char *dir) { return file_exists(path_in(dir, STATE_NAME).text); }
bool checkpoint_has_model(const char *dir) {
    return checkpoint_exists(dir) || file_exists(path_in(dir, "best.safetensors").text);
}

Status checkpoint_hint_model_alone(Status code, const char *dir) {
    return status_hint(code,
                       "no training state can be read there: --init %s/best.safetensors --run OTHER starts "
                       "from the model, --overwrite starts again",
                       dir);
}

Status checkpoint_remove_run(const char *dir) {
    static const char *const NAMES[] = {STATE_NAME,         LOG_NAME,        "best.safetensors",
                                        "last.safetensors", CHECKPOINT_INIT, CHECKPOINT_TUNED};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        Path path = path_in(dir, NAMES[i]);
        if (unlink(path.text) != 0 && errno != ENOENT)
            return status_fail(STATUS_RUNTIME, "cannot remove '%s': %s", path.text, strerror(errno));
    }
    return STATUS_OK;
}

Status checkpoint_keep_tuned(const char *dir) {
    Path best = path_in(dir, "best.safetensors"), tuned = path_in(dir, CHECKPOINT_TUNED);
    if (link(best.text, tuned.text) == 0 || errno == EEXIST) return STATUS_OK;
    if (rename(best.text, tuned.text) == 0) return STATUS_OK; /* a file system without links */
    return status_fail(STATUS_RUNTIME, "cannot write '%s': %s", tuned.text, strerror(errno));
}

Status checkpoint_drop_tuned(const char *dir) {
    Path tuned = path_in(dir, CHECKPOINT_TUNED);
    if (unlink(tuned.text) == 0 || errno == ENOENT) return STATUS_OK;
    return status_fail(STATUS_RUNTIME, "cannot remove '%s': %s", tuned.text, strerror(errno));
}

static Status check_exists(const char *dir) {
    if (checkpoint_exists(dir)) return STATUS_OK;
    Status s = status_fail(STATUS_USAGE, "nothing to resume in '%s'", dir);
    if (checkpoint_has_model(dir)) return checkpoint_hint_model_alone(s, dir);
    return status_hint(s, "train without --resume first, or name the run directory with --run DIR");
}

/* For a state that cannot be read, such as a truncated one. */
static Status hint_unreadable(Status status, const char *dir) {
    return status == STATUS_DATA && checkpoint_has_model(dir) ? checkpoint_hint_model_alone(status, dir)
                                                              : status;
}

static Status check_format(const SafeFile *file) {
    const char *format = safetensors_metadata(file, "format"),
               *version = safetensors_metadata(file, "format_version");
    if (!format || strcmp(format, FORMAT) != 0 || !version)
        return status_fail(STATUS_DATA, "not a training state of attn-mt");
    if (strcmp(version, FORMAT_VERSION) == 0) return STATUS_OK;
    return status_fail(STATUS_DATA, "its format version is '%.40s', this program reads " FORMAT_VERSION,
                       version);
}

Status checkpoint_load_config(const char *dir, Config *config) {
    SafeFile *file;
    Path path = path_in(dir, STATE_NAME);
    config_init(config);
    TRY(check_exists(dir));
    Status status = safetensors_open_header(&file, path.text);
    if (status != STATUS_OK) return hint_unreadable(status, dir);
    const char *text = safetensors_metadata(file, "config");
    status = check_format(file);
    if (status == STATUS_OK)
        status = text ? config_read_json(config, sv(text))
                      : status_fail(STATUS_DATA, "not a training state of attn-mt");
    safetensors_close(file);
    return status == STATUS_OK ? status : status_context(STATUS_DATA, "cannot resume from '%s'", path.text);
}

Status checkpoint_load_tokenizers(const char *dir, Tokenizer **source, Tokenizer **target) {
    TRY(check_exists(dir));
    Seq2Seq *model;
    TRY(modelfile_load_floats(&model, path_in(dir, MODEL_NAME).text, NULL));
    *source = tokenizer_retain(seq2seq_source(model));
    *target = tokenizer_retain(seq2seq_target(model));
    seq2seq_free(model);
    return STATUS_OK;
}

/* ---- saving -------------------------------------------------------------------------------------------- */

static void write_scores(double loss, double bleu, const Calibration *calibration, StrBuf *out) {
    json_put_number(out, "valid_loss", loss);
    json_put_number(out, "valid_bleu", bleu);
    if (calibration->words <= 0) return;
    json_write_key(out, "calibration");
    calibration_write_json(calibration, out);
}

static void write_provenance(const Checkpoint *c, StrBuf *out) {
    const Progress *p = c->progress;
    const ProgressRecord *last = p->count ? &p->records[p->count - 1] : NULL;
    json_open_object(out);
    json_put_string(out, "program", sv("attn-mt " ATTN_MT_VERSION));
    json_put_integer(out, "update", p->update);
    json_put_integer(out, "epoch", p->epoch + (p->batch > 0));
    json_put_integer(out, "seed", c->config->train.seed);
    if (c->is_mean) {
        json_put_number(out, "fine_tuned_share", c->mean.fraction);
        write_scores(c->mean.loss, c->mean.bleu, &c->mean.calibration, out);
    } else if (last && last->update == p->update) {
        write_scores(last->valid_loss, last->valid_bleu, &c->calibration, out);
    }
    json_put_string(out, "source_language", sv(c->config->data.source));
    json_put_string(out, "target_language", sv(c->config->data.target));
    if (c->translates_symbols) json_put_bool(out, "translates_symbols", true);
    json_put_string(out, "training_data_sha256", sv(c->data_sha256));
    json_put_string(out, "simd", sv(kern->name));
    json_put_string(out, "blas_kernel", sv(matmul_library()));
    json_close_object(out);
}

Status checkpoint_save_model(const Checkpoint *c, const char *name) {
    StrBuf provenance = {0};
    write_provenance(c, &provenance);
    Status status = modelfile_save(c->model, seq2seq_params(c->model)->data, strbuf_text(&provenance),
                                   path_in(c->dir, name).text);
    strbuf_free(&provenance);
    return status;
}

Status checkpoint_check_model(const Checkpoint *c) {
    StrBuf provenance = {0};
    write_provenance(c, &provenance);
    Status status =
        modelfile_check(c->model, strbuf_text(&provenance), path_in(c->dir, "best.safetensors").text);
    if (status != STATUS_OK)
        status_hint(status, "the vocabularies are too large: raise text.min_count, or set text.max_vocab");
    strbuf_free(&provenance);
    return status;
}

/* The numbers of a run in the order of the state file, 64 bits each. New ones are added at the end. The
 * files of earlier versions have fewer: at least the first ALWAYS. The others keep their initial values. */
#define NUMBERS(COUNTER, REAL)                                                                               \
    COUNTER(progress->update)                                                                                \
    COUNTER(progress->epoch)                                                                                 \
    COUNTER(progress->batch)                                                                                 \
    REAL(progress->seconds)                                                                                  \
    REAL(progress->best_bleu)                                                                                \
    REAL(progress->best_loss)                                                                                \
    COUNTER(progress->stalled)                                                                               \
    COUNTER(progress->cuts)                                                                                  \
    COUNTER(progress->stalled_for_cut)                                                                       \
    REAL(progress->loss_sum)                                                                                 \
    COUNTER(progress->tokens)                                                                                \
    COUNTER(progress->total_tokens)                                                                          \
    REAL(progress->train_seconds)                                                                            \
    REAL(progress->last_norm)                                                                                \
    COUNTER(optimizer->updates)                                                                              \
    REAL(progress->last_rate)                                                                                \
    REAL(progress->best_chrf)                                                                                \
    REAL(progress->loss_of_best)
#define ONE(number) +1
enum { ALWAYS = 15, WORDS = NUMBERS(ONE, ONE) };
static const unsigned long long COUNTER_LIMIT = 1ull << 62;

typedef struct {
    const char *name;
    void *field; /* 64 bits */
    bool counts;
} Number;

static void list_numbers(const Checkpoint *c, Number *number) {
#define REAL(field)    *number++ = (Number){#field, &c->field, false};
#define COUNTER(field) *number++ = (Number){#field, &c->field, true};
    NUMBERS(COUNTER, REAL)
}

static void pack_numbers(const Checkpoint *c, uint64_t word[WORDS]) {
    Number numbers[WORDS];
    list_numbers(c, numbers);
    for (int i = 0; i < WORDS; i++) memcpy(&word[i], numbers[i].field, sizeof *word);
}

static Status unpack_numbers(const Checkpoint *c, const uint64_t *word, long long count) {
    Number numbers[WORDS];
    list_numbers(c, numbers);
    for (long long i = 0; i < count; i++) {
        if (numbers[i].counts && word[i] >= COUNTER_LIMIT)
            return status_fail(STATUS_DATA, "the counter '%s' is out of range", numbers[i].name);
        memcpy(numbers[i].field, &word[i], sizeof *word);
    }
    return STATUS_OK;
}

/* Without the names of the data files, which may change and may not be UTF-8: the data have a digest. */
static void write_config(const Config *config, StrBuf *out) {
    Config copy = config_view(config);
    OptionTable tables[6];
    copy.data.train = copy.data.valid = copy.data.general = (StrList){0};
    config_tables(&copy, tables);
    options_write_json(tables, false, out);
}

/* The blocks of the state, in one order for saving and loading. */
enum { BLOCK_WEIGHTS, BLOCK_M, BLOCK_V, BLOCK_AVERAGE, BLOCKS };
static const char *const BLOCK_NAMES[BLOCKS] = {"weights", "adam_m", "adam_v", "average"};

static int list_blocks(const Checkpoint *c, real *blocks[BLOCKS]) {
    blocks[BLOCK_WEIGHTS] = seq2seq_params(c->model)->data;
    blocks[BLOCK_M] = c->optimizer->m;
    blocks[BLOCK_V] = c->optimizer->v;
    blocks[BLOCK_AVERAGE] = c->optimizer->average;
    return c->optimizer->average ? BLOCKS : BLOCKS - 1;
}

Status checkpoint_save_state(const Checkpoint *c) {
    real *blocks[BLOCKS];
    int count = list_blocks(c, blocks);
    uint64_t words[WORDS];
    pack_numbers(c, words);
    long long size = (long long)seq2seq_params(c->model)->size;
    SafeTensor tensors[BLOCKS + 1] = {{.name = "counters",
                                       .dtype = "U64",
                                       .rank = 1,
                                       .shape = {WORDS},
                                       .data = words,
                                       .bytes = sizeof words}};
    for (int i = 0; i < count; i++)
        tensors[i + 1] = (SafeTensor){.name = BLOCK_NAMES[i],
                                      .dtype = sizeof(real) == 4 ? "F32" : "F64",
                                      .rank = 1,
                                      .shape = {size},
                                      .data = blocks[i],
                                      .bytes = (size_t)size * sizeof(real)};
    StrBuf config = {0};
    write_config(c->config, &config);
    const char *const metadata[][2] = {{"format", FORMAT},
                                       {"format_version", FORMAT_VERSION},
                                       {"config", strbuf_text(&config)},
                                       {"data_sha256", c->data_sha256},
                                       {"simd", kern->name},
                                       {"blas_kernel", matmul_library()},
                                       {"valid_sha256", c->valid_sha256}};
    size_t pairs = sizeof metadata / sizeof *metadata;
    Status status =
        safetensors_write(path_in(c->dir, STATE_NAME).text, tensors, (size_t)count + 1, metadata, pairs);
    strbuf_free(&config);
    return status;
}

/* ---- resuming ------------------------------------------------------------------------------------------ */

/* May this option change when a run is resumed? These are the names of files, the end of the run, and options
 * without influence on the weights. */
static bool may_change(const char *key) {
    static const char *const FREE[] = {"data.train",         "data.valid",         "data.general",
                                       "train.epochs",       "train.max_updates",  "train.max_minutes",
                                       "train.patience",     "train.samples",      "train.log_every",
                                       "train.save_minutes", "train.comm_timeout", "train.shortlist"};
    for (size_t i = 0; i < sizeof FREE / sizeof *FREE; i++)
        if (!strcmp(key, FREE[i])) return true;
    return false;
}

static Status check_option(const Option *row, const void *saved, const void *now) {
    StrBuf a = {0}, b = {0};
    option_to_json(row, saved, &a);
    option_to_json(row, now, &b);
    Status s = STATUS_OK;
    if (!sv_equal(strbuf_view(&a), strbuf_view(&b))) {
        s = status_fail(STATUS_USAGE,
                        "the configuration differs from that of the saved run: %s was %s, now it is %s",
                        row->key, strbuf_text(&a), strbuf_text(&b));
        status_hint(
            s, strncmp(row->key, "train.", 6) == 0
                   ? "resume with the same configuration; --init DIR/best.safetensors --run OTHER starts "
                     "another run from these weights"
                   : "resume with the same configuration, or start another run with --run DIR");
    }
    strbuf_free(&a);
    strbuf_free(&b);
    return s;
}

static Status compare_configs(Config *saved, Config *now) {
    OptionTable a[6], b[6];
    config_tables(saved, a);
    config_tables(now, b);
    for (int t = 0; a[t].rows; t++)
        for (const Option *row = a[t].rows; !option_row_ends(row); row++)
            if (!may_change(row->key))
                TRY(check_option(row, option_field(&a[t], row), option_field(&b[t], row)));
    return STATUS_OK;
}

static Status check_config(Checkpoint *c, const char *text) {
    Config saved, now = config_view(c->config);
    config_init(&saved);
    Status status = config_read_json(&saved, sv(text));
    c->end_changed =
        saved.train.epochs != now.train.epochs || saved.train.max_updates != now.train.max_updates;
    if (status == STATUS_OK)
        status = compare_configs(&saved, &now);
    else
        status = status_context(STATUS_DATA, "its configuration");
    config_free(&saved);
    return status;
}

static Status check_same_run(Checkpoint *c, const SafeFile *file) {
    TRY(check_format(file));
    const char *config = safetensors_metadata(file, "config"),
               *data = safetensors_metadata(file, "data_sha256");
    const char *simd = safetensors_metadata(file, "simd"), *blas = safetensors_metadata(file, "blas_kernel");
    if (!config || !data || !simd || !blas)
        return status_fail(STATUS_DATA, "not a training state of attn-mt");
    TRY(check_config(c, config));
    if (strcmp(data, c->data_sha256) != 0)
        return status_hint(status_fail(STATUS_USAGE, "the training data differ from those of the saved run"),
                           "resume with the same files, or start another run with --run DIR");
    const char *valid = safetensors_metadata(file, "valid_sha256"); /* earlier versions did not save it */
    if (valid && strcmp(valid, c->valid_sha256) != 0)
        return status_hint(
            status_fail(
                STATUS_USAGE,
                "the validation data differ from those of the saved run: scores would not be comparable"),
            "resume with the same files, or start another run with --run DIR");
    if (strcmp(simd, kern->name) != 0 || strcmp(blas, matmul_library()) != 0)
        log_warn("the run was saved with SIMD %s and BLAS kernel %s, this is %s and %s: the result will not "
                 "be bit-identical",
                 simd, blas, kern->name, matmul_library());
    return STATUS_OK;
}

static Status read_state(Checkpoint *c, const SafeFile *file) {
    TRY(check_same_run(c, file));
    real *blocks[BLOCKS];
    int count = list_blocks(c, blocks);
    const SafeTensor *tensor = safetensors_find(file, "counters");
    long long size = (long long)seq2seq_params(c->model)->size, words = WORDS;
    if (tensor && tensor->rank == 1 && tensor->shape[0] >= ALWAYS && tensor->shape[0] < WORDS)
        words = tensor->shape[0];
    TRY(safetensors_check_finite(file));
    TRY(safetensors_require(file, "counters", "U64", 1, &words, &tensor));
    TRY(unpack_numbers(c, tensor->data, words));
    for (int i = 0; i < count; i++) {
        TRY(safetensors_require(file, BLOCK_NAMES[i], sizeof(real) == 4 ? "F32" : "F64", 1, &size, &tensor));
        memcpy(blocks[i], tensor->data, tensor->bytes);
    }
    optimizer_repack(c->optimizer);
    return STATUS_OK;
}

/* The result of a run is its best model, which is only in this file. */
static Status check_best(const Checkpoint *c) {
    Path best = path_in(c->dir, "best.safetensors");
    if (isinf(c->progress->best_loss) || file_exists(best.text)) return STATUS_OK;
    if (file_exists(path_in(c->dir, CHECKPOINT_TUNED).text)) return STATUS_OK;
    Status s = status_fail(STATUS_RUNTIME, "'%s', the best model so far, is missing", best.text);
    return status_hint(s, "copy '%s' to this name; the next better model replaces it",
                       path_in(c->dir, MODEL_NAME).text);
}

Status checkpoint_load_state(Checkpoint *c) {
    SafeFile *file;
    Path path = path_in(c->dir, STATE_NAME);
    Status status = safetensors_open(&file, path.text);
    if (status != STATUS_OK) return hint_unreadable(status, c->dir);
    status = read_state(c, file);
    safetensors_close(file);
    if (status == STATUS_OK) status = check_best(c);
    if (status != STATUS_OK) return status_context(status, "cannot resume from '%s'", path.text);
    /* Tokens are counted since the last validation. If there are any, the validation of this update is still
     * to come, even if the log has it: a process may be killed between logging and saving. */
    const Progress *p = c->progress;
    return progress_read(c->progress, path_in(c->dir, LOG_NAME).text, p->tokens ? p->update - 1 : p->update);
}

void checkpoint_broadcast_state(Checkpoint *c) {
    real *blocks[BLOCKS];
    int count = list_blocks(c, blocks);
    uint64_t words[WORDS];
    pack_numbers(c, words);
    group_broadcast(words, sizeof words);
    for (int i = 0; i < count; i++) group_broadcast(blocks[i], seq2seq_params(c->model)->size * sizeof(real));
    unpack_numbers(c, words, WORDS);
    optimizer_repack(c->optimizer);
}
