/* modelfile.c - a model to and from a .safetensors file. */
#include "models/modelfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/workers.h"
#include "models/safetensors.h"

#define FORMAT         "attn-mt"
#define FORMAT_VERSION "2"

/* ---- writing ------------------------------------------------------------------------------------------- */

static SafeTensor param_tensor(const Param *p, const real *weights) {
    size_t size = (size_t)p->rows * (size_t)p->columns;
    return (SafeTensor){.name = p->name,
                        .dtype = sizeof(real) == 4 ? "F32" : "F64",
                        .rank = 2,
                        .shape = {p->rows, p->columns},
                        .data = weights + p->offset,
                        .bytes = size * sizeof(real)};
}

/* `write`: safetensors_write or safetensors_check */
static Status save(const Seq2Seq *model, const real *weights, const char *provenance, const char *path,
                   __typeof__(safetensors_write) *write) {
    const ParamSet *params = seq2seq_params(model);
    SafeTensor *tensors = mem_alloc((size_t)params->count, sizeof *tensors);
    for (int i = 0; i < params->count; i++) tensors[i] = param_tensor(params->items[i], weights);
    StrBuf config = {0}, source = {0}, target = {0};
    bool joint = seq2seq_source(model) == seq2seq_target(model);
    config_write_json(seq2seq_config(model), &config);
    segmenter_write_json(seq2seq_source(model), &source);
    if (!joint) segmenter_write_json(seq2seq_target(model), &target);
    const char *const metadata[][2] = {
        {"format", FORMAT},         {"format_version", FORMAT_VERSION}, {"config", strbuf_text(&config)},
        {"provenance", provenance}, {"source", strbuf_text(&source)},   {"target", strbuf_text(&target)}};
    Status status = write(path, tensors, (size_t)params->count, metadata, joint ? 5 : 6);
    strbuf_free(&config);
    strbuf_free(&source);
    strbuf_free(&target);
    mem_free(tensors);
    return status;
}

Status modelfile_save(const Seq2Seq *model, const real *weights, const char *provenance, const char *path) {
    return save(model, weights, provenance, path, safetensors_write);
}

Status modelfile_check(const Seq2Seq *model, const char *provenance, const char *path) {
    return save(model, seq2seq_params(model)->data, provenance, path, safetensors_check);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static Status require(const SafeFile *file, const char *key, const char **value) {
    *value = safetensors_metadata(file, key);
    return *value ? STATUS_OK : status_fail(STATUS_DATA, "no '%s' in its metadata", key);
}

static Status check_format(const SafeFile *file) {
    const char *format, *version;
    if (!safetensors_metadata(file, "format") || strcmp(safetensors_metadata(file, "format"), FORMAT) != 0)
        return status_hint(status_fail(STATUS_DATA, "it is a safetensors file, but not a model of attn-mt"),
                           "models are the best.safetensors and last.safetensors of a run directory");
    TRY(require(file, "format", &format));
    TRY(require(file, "format_version", &version));
    if (strcmp(version, FORMAT_VERSION) == 0 && safetensors_has_digests(file)) return STATUS_OK;
    if (strcmp(version, FORMAT_VERSION) == 0)
        return status_hint(status_fail(STATUS_DATA, "its checksums are missing"),
                           "every model of this format is written with them: the file was changed");
    return status_hint(
        status_fail(STATUS_DATA, "its format version is %s, this program reads " FORMAT_VERSION, version),
        "another version of attn-mt wrote it: use that one, or train the model again");
}

static Status read_segmenter(const SafeFile *file, const char *key, Segmenter **segmenter) {
    const char *text;
    Json *root;
    TRY(require(file, key, &text));
    Status status = json_parse(&root, sv(text), false);
    if (status == STATUS_OK) {
        status = segmenter_read_json(segmenter, root);
        json_free(root);
    }
    return status == STATUS_OK ? status : status_context(status, "metadata '%s'", key);
}

/* The sizes come from a file that nobody vouches for: compare them before memory is allocated for them. */
static Status check_size(const SafeFile *file, const ParamSet *params) {
    size_t wanted = 0, there = 0;
    for (int i = 0; i < params->count; i++)
        wanted += (size_t)params->items[i]->rows * (size_t)params->items[i]->columns;
    for (size_t i = 0; i < safetensors_count(file); i++) there += safetensors_at(file, i)->bytes;
    if (wanted * sizeof(real) == there) return STATUS_OK;
    return status_fail(STATUS_DATA, "its configuration describes %zu parameters, it holds %zu", wanted,
                       there / sizeof(real));
}

static Status read_weights(const SafeFile *file, ParamSet *params) {
    if (safetensors_count(file) != (size_t)params->count)
        return status_fail(STATUS_DATA, "it has %zu tensors, its configuration asks for %d",
                           safetensors_count(file), params->count);
    TRY(check_size(file, params));
    params_allocate(params);
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        const SafeTensor *tensor;
        SafeTensor wanted = param_tensor(p, params->data);
        TRY(safetensors_require(file, p->name, wanted.dtype, 2, wanted.shape, &tensor));
        memcpy(param_data(params, p), tensor->data, wanted.bytes);
    }
    return safetensors_check_finite(file);
}

static Status check_depth(const ParamSet *params) {
    for (int i = 0; i < params->count && params->format == FORMAT_INT8; i++) {
        const Param *p = params->items[i];
        int depth = p->packing == PACK_AFFINE ? p->rows : p->packing == PACK_OUTPUT ? p->columns : 0;
        if (depth <= DEEPEST_INT8) continue;
        Status s =
            status_fail(STATUS_DATA, "'%s' sums %d numbers, more than 8-bit arithmetic can", p->name, depth);
        return status_hint(s, "use --precision bf16");
    }
    return STATUS_OK;
}

static Status read_description(const SafeFile *file, Config *config, Segmenter **source, Segmenter **target) {
    const char *text;
    TRY(check_format(file));
    TRY(require(file, "config", &text));
    if (config_read_json(config, sv(text)) != STATUS_OK)
        return status_context(STATUS_DATA, "its configuration");
    TRY(read_segmenter(file, "source", source));
    if (safetensors_metadata(file, "target"))
        TRY(read_segmenter(file, "target", target));
    else
        *target = segmenter_retain(*source);
    if (config->model.tie == TIE_ALL && *target != *source)
        return status_fail(STATUS_DATA, "its embeddings are shared but its vocabularies are not");
    return STATUS_OK;
}

static Status read_parameters(const SafeFile *file, ParamSet *params, WeightFormat format) {
    params->format = format;
    TRY(check_depth(params));
    TRY(read_weights(file, params));
    params_pack_all(params);
    return STATUS_OK;
}

static Status read_model(Seq2Seq **model, const SafeFile *file, WeightFormat format, StrBuf *provenance) {
    Config config;
    Segmenter *source = NULL, *target = NULL;
    config_init(&config);
    Status status = read_description(file, &config, &source, &target);
    if (status == STATUS_OK) {
        *model = seq2seq_new(&config, source, target);
        status = read_parameters(file, seq2seq_params(*model), format);
        if (status != STATUS_OK) seq2seq_free(*model);
    }
    if (status == STATUS_OK && provenance && safetensors_metadata(file, "provenance"))
        strbuf_add(provenance, sv(safetensors_metadata(file, "provenance")));
    segmenter_free(source);
    segmenter_free(target);
    config_free(&config);
    return status;
}

/* Two things that need the whole file and not each other. */
typedef struct {
    const SafeFile *file;
    Seq2Seq **model;
    WeightFormat format;
    StrBuf *provenance;
    StatusRecord record[2];
} Loading;

static void load_part(void *context, int task, int thread) {
    Loading *l = context;
    (void)thread;
    status_save(&l->record[task], task == 0 ? safetensors_check_digest(l->file)
                                            : read_model(l->model, l->file, l->format, l->provenance));
}

static Status load(Loading *loading) {
    Workers *workers = workers_new(workers_default_count() > 1 ? 2 : 1);
    workers_run(workers, 2, load_part, loading);
    workers_free(workers);
    const StatusRecord *digest = &loading->record[0], *reading = &loading->record[1];
    if (digest->code == STATUS_OK) return status_restore(reading);
    if (reading->code == STATUS_OK) seq2seq_free(*loading->model);
    return status_restore(digest);
}

Status modelfile_load(Seq2Seq **model, const char *path, WeightFormat format, StrBuf *provenance) {
    SafeFile *file;
    *model = NULL;
    TRY(safetensors_open_unchecked(&file, path));
    Status status =
        load(&(Loading){.file = file, .model = model, .format = format, .provenance = provenance});
    safetensors_close(file);
    if (status == STATUS_OK) return status;
    *model = NULL;
    return status_context(status, "cannot use '%s' as a model", path);
}
