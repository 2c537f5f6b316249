/* checkpoint.c - saving and resuming a run. */
#include "train/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/version.h"
#include "models/modelfile.h"
#include "models/safetensors.h"
#include "num/gemm.h"
#include "num/kern.h"

#define STATE_NAME "last.state.safetensors"
#define MODEL_NAME "last.safetensors"

typedef struct {
    char text[4096];
} Path;

static Path path_in(const char *dir, const char *name) {
    Path path;
    snprintf(path.text, sizeof path.text, "%s/%s", dir, name);
    return path;
}

/* ---- the directory -------------------------------------------------------------------------------------------------- */

Status checkpoint_lock(const char *dir) {
    TRY(file_make_dirs(dir));
    Path path = path_in(dir, "LOCK");
    int fd = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return status_fail(STATUS_RUNTIME, "cannot write in '%s': %s", dir, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) { /* stays open, and locked, until the process ends */
        char pid[32];
        int length = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
        if (ftruncate(fd, 0) != 0 || write(fd, pid, (size_t)length) != length)
            return status_fail(STATUS_RUNTIME, "cannot write '%s': %s", path.text, strerror(errno));
        return STATUS_OK;
    }
    char holder[32] = "";
    ssize_t length = read(fd, holder, sizeof holder - 1);
    holder[length > 0 ? strcspn(holder, "\n") : 0] = 0;
    close(fd);
    Status s =
        status_fail(STATUS_USAGE, "'%s' is in use by process %s", dir, holder[0] ? holder : "(unknown)");
    return status_hint(s, "wait for it, stop it, or train elsewhere with --run DIR");
}

bool checkpoint_exists(const char *dir) { return file_exists(path_in(dir, STATE_NAME).text); }
bool checkpoint_has_model(const char *dir) {
    return checkpoint_exists(dir) || file_exists(path_in(dir, "best.safetensors").text);
}

Status checkpoint_forget(const char *dir) {
    Path path = path_in(dir, STATE_NAME);
    if (unlink(path.text) == 0 || errno == ENOENT) return STATUS_OK;
    return status_fail(STATUS_RUNTIME, "cannot remove '%s': %s", path.text, strerror(errno));
}

Status checkpoint_load_segmenters(const char *dir, Segmenter **source, Segmenter **target) {
    if (!checkpoint_exists(dir)) {
        Status s = status_fail(STATUS_USAGE, "nothing to resume in '%s'", dir);
        return status_hint(s, "train without --resume first, or name the run directory with --run DIR");
    }
    Seq2Seq *model;
    TRY(modelfile_load(&model, path_in(dir, MODEL_NAME).text, FORMAT_FLOAT32, NULL));
    *source = segmenter_retain(seq2seq_source(model));
    *target = segmenter_retain(seq2seq_target(model));
    seq2seq_free(model);
    return STATUS_OK;
}

/* ---- saving --------------------------------------------------------------------------------------------------------- */

static void write_provenance(const Checkpoint *c, StrBuf *out) {
    const Progress *p = c->progress;
    const ProgressRecord *last = p->count ? &p->records[p->count - 1] : NULL;
    strbuf_format(
        out, "{\"program\": \"attn-mt " ATTN_MT_VERSION "\", \"update\": %ld, \"epoch\": %d, \"seed\": %lld",
        p->update, p->epoch + (p->batch > 0), c->config->train.seed);
    if (last && last->update == p->update) {
        strbuf_add(out, SV(", \"valid_loss\": "));
        json_write_number(out, last->valid_loss);
        strbuf_add(out, SV(", \"valid_bleu\": "));
        json_write_number(out, last->valid_bleu);
    }
    strbuf_format(out, ", \"source_language\": ");
    json_write_string(out, sv(c->config->data.source));
    strbuf_format(out, ", \"target_language\": ");
    json_write_string(out, sv(c->config->data.target));
    strbuf_format(out, ", \"training_data_sha256\": \"%s\", \"simd\": \"%s\", \"blas_kernel\": \"%s\"}",
                  c->data_sha256, kern->name, gemm_kernel());
}

Status checkpoint_save_model(const Checkpoint *c, const char *name) {
    StrBuf provenance = {0};
    write_provenance(c, &provenance);
    Status status = modelfile_save(c->model, seq2seq_params(c->model)->data, strbuf_text(&provenance),
                                   path_in(c->dir, name).text);
    strbuf_free(&provenance);
    return status;
}

/* The counters of a run under fixed positions of one tensor of 64-bit words; reals as their bits. */
enum {
    WORD_UPDATE,
    WORD_EPOCH,
    WORD_BATCH,
    WORD_SECONDS,
    WORD_BEST_BLEU,
    WORD_BEST_LOSS,
    WORD_STALLED,
    WORD_CUTS,
    WORD_STALLED_FOR_CUT,
    WORD_LOSS_SUM,
    WORD_TOKENS,
    WORD_TOTAL_TOKENS,
    WORD_TRAIN_SECONDS,
    WORD_LAST_NORM,
    WORD_OPTIMIZER_UPDATES,
    WORD_COUNT
};

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static double real_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void pack_words(const Checkpoint *c, uint64_t words[WORD_COUNT]) {
    const Progress *p = c->progress;
    words[WORD_UPDATE] = (uint64_t)p->update;
    words[WORD_EPOCH] = (uint64_t)p->epoch;
    words[WORD_BATCH] = (uint64_t)p->batch;
    words[WORD_SECONDS] = bits_of(p->seconds);
    words[WORD_BEST_BLEU] = bits_of(p->best_bleu);
    words[WORD_BEST_LOSS] = bits_of(p->best_loss);
    words[WORD_STALLED] = (uint64_t)p->stalled;
    words[WORD_CUTS] = (uint64_t)p->cuts;
    words[WORD_STALLED_FOR_CUT] = (uint64_t)p->stalled_for_cut;
    words[WORD_LOSS_SUM] = bits_of(p->loss_sum);
    words[WORD_TOKENS] = (uint64_t)p->tokens;
    words[WORD_TOTAL_TOKENS] = (uint64_t)p->total_tokens;
    words[WORD_TRAIN_SECONDS] = bits_of(p->train_seconds);
    words[WORD_LAST_NORM] = bits_of(p->last_norm);
    words[WORD_OPTIMIZER_UPDATES] = (uint64_t)c->optimizer->updates;
}

static Status unpack_words(Checkpoint *c, const uint64_t words[WORD_COUNT]) {
    static const int SMALL[] = {WORD_UPDATE,  WORD_EPOCH,        WORD_BATCH,
                                WORD_STALLED, WORD_CUTS,         WORD_STALLED_FOR_CUT,
                                WORD_TOKENS,  WORD_TOTAL_TOKENS, WORD_OPTIMIZER_UPDATES};
    for (size_t i = 0; i < sizeof SMALL / sizeof *SMALL; i++)
        if (words[SMALL[i]] > 0x7FFFFFFF)
            return status_fail(STATUS_DATA, "counter %d is out of range", SMALL[i]);
    Progress *p = c->progress;
    p->update = (long)words[WORD_UPDATE];
    p->epoch = (int)words[WORD_EPOCH];
    p->batch = (int)words[WORD_BATCH];
    p->seconds = real_of(words[WORD_SECONDS]);
    p->best_bleu = real_of(words[WORD_BEST_BLEU]);
    p->best_loss = real_of(words[WORD_BEST_LOSS]);
    p->stalled = (int)words[WORD_STALLED];
    p->cuts = (int)words[WORD_CUTS];
    p->stalled_for_cut = (int)words[WORD_STALLED_FOR_CUT];
    p->loss_sum = real_of(words[WORD_LOSS_SUM]);
    p->tokens = (long)words[WORD_TOKENS];
    p->total_tokens = (long)words[WORD_TOTAL_TOKENS];
    p->train_seconds = real_of(words[WORD_TRAIN_SECONDS]);
    p->last_norm = real_of(words[WORD_LAST_NORM]);
    c->optimizer->updates = (long)words[WORD_OPTIMIZER_UPDATES];
    return STATUS_OK;
}

/* What must be the same for a resumed run: everything but where the run ends, and what only people see. */
static void write_comparable_config(const Config *config, StrBuf *out) {
    Config copy = *config;
    OptionTable tables[6];
    copy.train.epochs = copy.train.max_updates = copy.train.patience = copy.train.samples = 0;
    copy.train.max_minutes = 0;
    copy.train.save_minutes = 1;
    copy.data.train = copy.data.valid = (StrList){0}; /* the digest of the data is compared instead */
    config_tables(&copy, tables);
    if (config->train.schedule == SCHEDULE_LINEAR) { /* here the end decides the learning rate */
        copy.train.epochs = config->train.epochs;
        copy.train.max_updates = config->train.max_updates;
    }
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
    uint64_t words[WORD_COUNT];
    pack_words(c, words);
    long long size = (long long)seq2seq_params(c->model)->size;
    SafeTensor tensors[BLOCKS + 1] = {{.name = "counters",
                                       .dtype = "U64",
                                       .rank = 1,
                                       .shape = {WORD_COUNT},
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
    write_comparable_config(c->config, &config);
    const char *const metadata[][2] = {
        {"format", "attn-mt training state"}, {"format_version", "2"}, {"config", strbuf_text(&config)},
        {"data_sha256", c->data_sha256},      {"simd", kern->name},    {"blas_kernel", gemm_kernel()}};
    Status status =
        safetensors_write(path_in(c->dir, STATE_NAME).text, tensors, (size_t)count + 1, metadata, 6);
    strbuf_free(&config);
    return status;
}

/* ---- resuming ------------------------------------------------------------------------------------------------------- */

/* The line `"name": value,` of a written configuration, taken apart. */
static StrView line_name(StrView line) {
    StrView name = {line.data + 1, 0};
    while (name.length + 1 < line.length && name.data[name.length] != '"') name.length++;
    return name;
}
static StrView line_value(StrView line) {
    size_t skip = line_name(line).length + 4; /* "": */
    if (sv_ends(line, SV(","))) line.length--;
    return line.length < skip ? (StrView){line.data, 0} : (StrView){line.data + skip, line.length - skip};
}

/* The first key whose values differ. */
static Status config_difference(const char *saved, const char *now) {
    StrView a = sv(saved), b = sv(now), line_a = {0}, line_b = {0};
    StrBuf section = {0};
    while (sv_next(&a, '\n', &line_a) && sv_next(&b, '\n', &line_b)) {
        line_a = sv_trim(line_a);
        line_b = sv_trim(line_b);
        if (!sv_equal(line_a, line_b)) break;
        if (sv_starts(line_a, SV("\"")) && sv_ends(line_a, SV("{")))
            strbuf_format(&section, "%.*s.", SV_ARG(line_name(line_a)));
        if (sv_starts(line_a, SV("}")) && section.length) {
            size_t end = section.length - 1;
            while (end && section.data[end - 1] != '.') end--;
            strbuf_cut(&section, end);
        }
    }
    Status s = status_fail(STATUS_USAGE,
                           "the configuration is not that of the saved run: %s%.*s was %.*s, now it is %.*s",
                           strbuf_text(&section), SV_ARG(line_name(line_b)), SV_ARG(line_value(line_a)),
                           SV_ARG(line_value(line_b)));
    strbuf_free(&section);
    return status_hint(s, "resume with the same configuration, or train anew with --run DIR");
}

static Status check_same_run(const Checkpoint *c, const SafeFile *file) {
    const char *config = safetensors_metadata(file, "config"),
               *data = safetensors_metadata(file, "data_sha256");
    const char *simd = safetensors_metadata(file, "simd"), *blas = safetensors_metadata(file, "blas_kernel");
    if (!config || !data || !simd || !blas)
        return status_fail(STATUS_DATA, "not a training state of attn-mt");
    StrBuf now = {0};
    write_comparable_config(c->config, &now);
    Status status =
        strcmp(config, strbuf_text(&now)) ? config_difference(config, strbuf_text(&now)) : STATUS_OK;
    strbuf_free(&now);
    TRY(status);
    if (strcmp(data, c->data_sha256) != 0)
        return status_hint(status_fail(STATUS_USAGE, "the training data are not those of the saved run"),
                           "resume with the same files, or train anew with --run DIR");
    if (strcmp(simd, kern->name) != 0 || strcmp(blas, gemm_kernel()) != 0)
        log_warn("the run was saved with SIMD %s and BLAS kernel %s, this is %s and %s: the result will not "
                 "be bit-identical",
                 simd, blas, kern->name, gemm_kernel());
    return STATUS_OK;
}

static Status read_state(Checkpoint *c, const SafeFile *file) {
    TRY(check_same_run(c, file));
    real *blocks[BLOCKS];
    int count = list_blocks(c, blocks);
    long long size = (long long)seq2seq_params(c->model)->size, words = WORD_COUNT;
    const SafeTensor *tensor;
    TRY(safetensors_check_finite(file));
    TRY(safetensors_require(file, "counters", "U64", 1, &words, &tensor));
    TRY(unpack_words(c, tensor->data));
    for (int i = 0; i < count; i++) {
        TRY(safetensors_require(file, BLOCK_NAMES[i], sizeof(real) == 4 ? "F32" : "F64", 1, &size, &tensor));
        memcpy(blocks[i], tensor->data, tensor->bytes);
    }
    optimizer_repack(c->optimizer);
    return STATUS_OK;
}

Status checkpoint_load_state(Checkpoint *c) {
    SafeFile *file;
    Path path = path_in(c->dir, STATE_NAME);
    TRY(safetensors_open(&file, path.text));
    Status status = read_state(c, file);
    safetensors_close(file);
    if (status != STATUS_OK) return status_context(status, "cannot resume from '%s'", path.text);
    /* Tokens are counted since the last validation: if there are any, one at this update is still to come, even if a
     * process that was killed before it could save has logged it already. */
    const Progress *p = c->progress;
    return progress_read(c->progress, path_in(c->dir, "train.jsonl").text,
                         p->tokens ? p->update - 1 : p->update);
}
