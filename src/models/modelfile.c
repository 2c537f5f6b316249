/* modelfile.c - a model to and from a .safetensors file. */
#include "models/modelfile.h"

#include <math.h>
#include <string.h>
#include "io/fileio.h"
#include "io/json.h"
#include "io/json_write.h"
#include "base/mem.h"
#include "base/workers.h"
#include "models/safetensors.h"
#include "models/model_text.h"
#include "models/safetensors_format.h"
#include "models/weights_read.h"
#include "autograd/quantize.h"
#include "text/languages.h"

#define FORMAT            "attn-mt"
#define FORMAT_VERSION    "2" /* all numbers are floats */
#define QUANTIZED_VERSION "3" /* weights have the precision that the metadata name */
#define TEXT_VERSION      "4" /* the same, and the tensors of model_text.h come first */

static const char *const PRECISIONS[] = {
    [WEIGHT_FLOAT32] = "float32", [WEIGHT_BF16] = "bf16", [WEIGHT_INT8] = "int8"};

/* ---- writing ------------------------------------------------------------------------------------------- */

/* The tensors of a file, and the memory of quantized ones. */
typedef struct {
    SafeTensor *items;
    size_t count;
    void **rounded; /* [count] or NULL each */
    StrList names;  /* of scales */
} Tensors;

static void tensors_free(Tensors *t) {
    for (size_t i = 0; i < t->count; i++) mem_free(t->rounded[i]);
    mem_free(t->rounded);
    mem_free(t->items);
    strlist_free(&t->names);
}

static void tensors_add(Tensors *t, const Param *p, WeightFormat precision, const void *data, size_t element,
                        void *rounded) {
    t->rounded[t->count] = rounded;
    t->items[t->count++] = (SafeTensor){.name = p->name,
                                        .dtype = weights_dtype(p, precision),
                                        .rank = 2,
                                        .shape = {p->rows, p->columns},
                                        .data = data,
                                        .bytes = param_size(p) * element};
}

/* scale: of all numbers, which are whole multiples of it; 0: chosen for each output. */
static void tensors_add_int8(Tensors *t, const Param *p, const real *x, real scale) {
    size_t count = quantize_scales(p);
    int8_t *q = mem_alloc(param_size(p), 1);
    real *scales = mem_alloc(count, sizeof *scales);
    if (scale > 0) {
        for (size_t i = 0; i < param_size(p); i++) q[i] = (int8_t)lrint((double)(x[i] / scale));
        for (size_t i = 0; i < count; i++) scales[i] = scale;
    } else {
        quantize_int8(p, x, q, scales);
    }
    tensors_add(t, p, WEIGHT_INT8, q, 1, q);
    strlist_format(&t->names, "%s" WEIGHTS_SCALE_SUFFIX, p->name);
    SafeTensor tensor = {.name = t->names.items[t->names.count - 1], .dtype = "F32", .rank = 2};
    tensor.data = scales;
    tensor.bytes = count * sizeof *scales;
    weights_scale_shape(p, tensor.shape);
    t->rounded[t->count] = scales;
    t->items[t->count++] = tensor;
}

/* byte_scales: of modelfile_save_bytes, or NULL */
static Tensors tensors_new(const ParamSet *params, const real *weights, WeightFormat precision,
                           const real *byte_scales) {
    size_t most = 2 * (size_t)params->count + TEXT_PARTS;
    Tensors t = {.items = mem_alloc(most, sizeof *t.items), .rounded = mem_alloc(most, sizeof *t.rounded)};
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        const real *x = weights + p->offset;
        if (!quantize_applies(p) || precision == WEIGHT_FLOAT32) {
            tensors_add(&t, p, WEIGHT_FLOAT32, x, sizeof *x, NULL);
        } else if (precision == WEIGHT_BF16) {
            uint16_t *halves = mem_alloc(param_size(p), sizeof *halves);
            quantize_bf16(p, x, halves);
            tensors_add(&t, p, WEIGHT_BF16, halves, sizeof *halves, halves);
        } else {
            tensors_add_int8(&t, p, x, byte_scales ? byte_scales[i] : 0);
        }
    }
    return t;
}

/* `write`: safetensors_write or safetensors_check */
static Status save(const Seq2Seq *model, const real *weights, WeightFormat precision, const real *byte_scales,
                   const char *provenance, const char *path, __typeof__(safetensors_write) *write) {
    Tensors tensors = tensors_new(seq2seq_params(model), weights, precision, byte_scales);
    StrBuf config = {0};
    ModelText text;
    config_write_json(seq2seq_config(model), &config);
    model_text_write(&text, model);
    size_t texts = model_text_tensors(&text, tensors.items + tensors.count);
    const char *version = texts > 0                     ? TEXT_VERSION
                          : precision != WEIGHT_FLOAT32 ? QUANTIZED_VERSION
                                                        : FORMAT_VERSION;
    const char *metadata[7][2] = {{"format", FORMAT},
                                  {"format_version", version},
                                  {"config", strbuf_text(&config)},
                                  {"provenance", provenance},
                                  {"source", strbuf_text(&text.json[0])}};
    size_t count = 5;
    if (text.json[1].length > 0)
        metadata[count][0] = "target", metadata[count++][1] = strbuf_text(&text.json[1]);
    if (strcmp(version, FORMAT_VERSION) != 0)
        metadata[count][0] = "precision", metadata[count++][1] = PRECISIONS[precision];
    Status status =
        write(path, tensors.items, tensors.count + texts, (const char *const(*)[2])metadata, count);
    strbuf_free(&config);
    model_text_free(&text);
    tensors_free(&tensors);
    return status;
}

Status modelfile_save(const Seq2Seq *model, const real *weights, const char *provenance, const char *path) {
    return save(model, weights, WEIGHT_FLOAT32, NULL, provenance, path, safetensors_write);
}

Status modelfile_save_quantized(const Seq2Seq *model, WeightFormat precision, const char *provenance,
                                const char *path) {
    TRY(weights_check_depth(seq2seq_params(model), precision));
    return save(model, seq2seq_params(model)->data, precision, NULL, provenance, path, safetensors_write);
}

Status modelfile_save_bytes(const Seq2Seq *model, const real *scales, const char *provenance,
                            const char *path) {
    TRY(weights_check_depth(seq2seq_params(model), WEIGHT_INT8));
    return save(model, seq2seq_params(model)->data, WEIGHT_INT8, scales, provenance, path, safetensors_write);
}

/* Readers limit the number of JSON values and the length of tokens. */
static Status check_tokenizer(const Tokenizer *tokenizer, const char *path) {
    StrBuf json = {0}, pieces = {0}, vocab = {0};
    Tokenizer *copy;
    tokenizer_write(tokenizer, &json, &pieces, &vocab);
    Status status = tokenizer_read(&copy, strbuf_view(&json), strbuf_view(&vocab));
    if (status == STATUS_OK && pieces.length > 0) {
        status = tokenizer_read_model(copy, strbuf_view(&pieces));
        if (status != STATUS_OK) tokenizer_free(copy);
    }
    strbuf_free(&json);
    strbuf_free(&pieces);
    strbuf_free(&vocab);
    if (status != STATUS_OK)
        return status_context(status, "cannot write '%.700s': its vocabulary could not be read back", path);
    tokenizer_free(copy);
    return STATUS_OK;
}

Status modelfile_check(const Seq2Seq *model, const char *provenance, const char *path) {
    TRY(check_tokenizer(seq2seq_source(model), path));
    if (seq2seq_target(model) != seq2seq_source(model)) TRY(check_tokenizer(seq2seq_target(model), path));
    return save(model, seq2seq_params(model)->data, WEIGHT_FLOAT32, NULL, provenance, path,
                safetensors_check);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static Status require(const SafeFile *file, const char *key, const char **value) {
    *value = safetensors_metadata(file, key);
    return *value ? STATUS_OK : status_fail(STATUS_DATA, "no '%s' in its metadata", key);
}

/* What the version says of the tensors. */
typedef struct {
    WeightFormat stored;
    bool has_text; /* tensors of model_text.h come first */
} FileForm;

static Status check_format(const SafeFile *file, FileForm *form) {
    const char *version, *precision = PRECISIONS[WEIGHT_FLOAT32];
    if (!safetensors_metadata(file, "format") || strcmp(safetensors_metadata(file, "format"), FORMAT) != 0)
        return status_hint(status_fail(STATUS_DATA, "it is a safetensors file, but not a model of attn-mt"),
                           "models are the best.safetensors and last.safetensors of a run directory");
    TRY(require(file, "format_version", &version));
    form->has_text = strcmp(version, TEXT_VERSION) == 0;
    bool quantized = strcmp(version, QUANTIZED_VERSION) == 0, floats = strcmp(version, FORMAT_VERSION) == 0;
    if (!form->has_text && !quantized && !floats)
        return status_hint(status_fail(STATUS_DATA,
                                       "its format version is %s, this program reads " FORMAT_VERSION
                                       " to " TEXT_VERSION,
                                       version),
                           "another version of attn-mt wrote it: use that one, or train the model again");
    if (!safetensors_has_digests(file))
        return status_hint(status_fail(STATUS_DATA, "its checksums are missing"),
                           "every model of this format is written with them: the file was changed");
    if (!floats) TRY(require(file, "precision", &precision));
    for (form->stored = quantized ? WEIGHT_BF16 : WEIGHT_FLOAT32; form->stored <= WEIGHT_INT8; form->stored++)
        if (strcmp(precision, PRECISIONS[form->stored]) == 0) return STATUS_OK;
    return status_fail(STATUS_DATA, "its precision is '%.40s', not %sbf16 or int8", precision,
                       form->has_text ? "float32, " : "");
}

static const char *const SIDES[] = {"source", "target"};

/* Without its pieces. side: 0 of the source, 1 of the target */
static Status read_tokenizer(const SafeFile *file, const ModelText *text, int side, Tokenizer **tokenizer) {
    const char *json;
    TRY(require(file, SIDES[side], &json));
    StrView vocab = strbuf_view(&text->parts[TEXT_SOURCE_VOCAB + side]);
    if (vocab.length == 0) vocab = strbuf_view(&text->parts[TEXT_SOURCE_VOCAB]);
    if (text->parts[TEXT_SOURCE_PIECES + side].length == 0) vocab.length = 0; /* in the JSON */
    Status status = tokenizer_read(tokenizer, sv(json), vocab);
    return status == STATUS_OK ? status : status_context(status, "metadata '%s'", SIDES[side]);
}

static Status read_description(const SafeFile *file, const ModelText *text, Config *config,
                               Tokenizer **source, Tokenizer **target) {
    const char *json;
    TRY(require(file, "config", &json));
    if (config_read_json(config, sv(json)) != STATUS_OK)
        return status_context(STATUS_DATA, "its configuration");
    TRY(read_tokenizer(file, text, 0, source));
    const char *own = safetensors_metadata(file, "target");
    bool has_pieces = text->parts[TEXT_TARGET_PIECES].length > 0;
    if (own && (has_pieces || strcmp(own, safetensors_metadata(file, "source")) != 0))
        TRY(read_tokenizer(file, text, 1, target));
    else
        *target = tokenizer_retain(*source);
    if (config->model.tie == TIE_ALL && *source != *target &&
        vocab_difference(tokenizer_vocab(*source), tokenizer_vocab(*target)) >= 0)
        return status_fail(STATUS_DATA, "its embeddings are shared but its vocabularies are not");
    return STATUS_OK;
}

static Status read_shortlist(const SafeFile *file, const ModelText *text, Seq2Seq *model) {
    const char *old = safetensors_metadata(file, "shortlist"); /* of an earlier release */
    StrView lengths = strbuf_view(&text->parts[TEXT_SHORTLIST_LENGTHS]),
            tokens = strbuf_view(&text->parts[TEXT_SHORTLIST_TOKENS]);
    int source = vocab_size(tokenizer_vocab(seq2seq_source(model))),
        target = vocab_size(tokenizer_vocab(seq2seq_target(model)));
    Shortlist *shortlist = NULL;
    Status status = STATUS_OK;
    if (lengths.length > 0 || tokens.length > 0)
        status = text->wide != (shortlist_width(target) == 4)
                     ? status_fail(STATUS_DATA, "its numbers have another size")
                     : shortlist_read(&shortlist, lengths, tokens, source, target);
    else if (old)
        status = shortlist_read_text(&shortlist, sv(old), source, target);
    if (status != STATUS_OK) return status_context(status, "shortlist");
    if (shortlist) seq2seq_take_shortlist(model, shortlist);
    return STATUS_OK;
}

/* What to make of a file. */
typedef struct {
    WeightFormat format;
    bool packed, shortlist;
} LoadForm;

/* The model without its weights. */
static Status read_outline(Seq2Seq **model, const SafeFile *file, const ModelText *text, bool shortlist) {
    Config config;
    Tokenizer *source = NULL, *target = NULL;
    config_init(&config);
    Status status = read_description(file, text, &config, &source, &target);
    if (status == STATUS_OK) {
        *model = seq2seq_new(&config, source, target);
        if (shortlist) status = read_shortlist(file, text, *model);
    }
    tokenizer_free(source);
    tokenizer_free(target);
    config_free(&config);
    return status;
}

/* What is left when the outline of a model is there. */
typedef struct {
    SafeFile *file;
    Seq2Seq *model;
    const LoadForm *form;
    WeightFormat stored;
    ModelText text;
    size_t texts;
    StatusRecord faults[2];
} ModelLoader;

static Status read_pieces(const ModelLoader *l) {
    Tokenizer *sides[2] = {seq2seq_source(l->model), seq2seq_target(l->model)};
    for (int side = 0; side < (sides[0] == sides[1] ? 1 : 2); side++) {
        StrView pieces = strbuf_view(&l->text.parts[TEXT_SOURCE_PIECES + side]);
        if (pieces.length > 0 && tokenizer_read_model(sides[side], pieces) != STATUS_OK)
            return status_context(STATUS_DATA, "metadata '%s'", SIDES[side]);
    }
    return STATUS_OK;
}

static void load_part(void *context, int task, int thread) {
    ModelLoader *l = context;
    (void)thread;
    Status status = task == 0 ? read_pieces(l)
                              : weights_read(l->file, l->texts, l->stored, seq2seq_params(l->model),
                                             l->form->format, l->form->packed);
    status_save(&l->faults[task], status);
}

/* Pieces and weights take about the same time. Damage that weights_read finds explains all other errors. */
static Status load_parts(ModelLoader *l) {
    Workers *workers = workers_new(l->texts > 0 && workers_default_count() > 1 ? 2 : 1);
    workers_run(workers, 2, load_part, l);
    workers_free(workers);
    TRY(status_restore(&l->faults[1]));
    return status_restore(&l->faults[0]);
}

static Status read_model(Seq2Seq **model, SafeFile *file, const LoadForm *form, StrBuf *provenance) {
    FileForm stored;
    ModelLoader l = {.file = file, .form = form};
    TRY(check_format(file, &stored));
    Status status = stored.has_text ? model_text_read(&l.text, file, &l.texts) : STATUS_OK;
    if (status == STATUS_OK) status = read_outline(model, file, &l.text, form->shortlist);
    if (status == STATUS_DATA && l.texts > 0) { /* the reason may be damage */
        StatusRecord fault = {0};
        status_save(&fault, status);
        status = safetensors_check_rest(file);
        if (status == STATUS_OK) status = status_restore(&fault);
    } else if (status == STATUS_OK) {
        l.model = *model;
        l.stored = stored.stored;
        status = load_parts(&l);
    }
    model_text_free(&l.text);
    if (status != STATUS_OK && *model) seq2seq_free(*model);
    if (status == STATUS_OK && provenance && safetensors_metadata(file, "provenance"))
        strbuf_add(provenance, sv(safetensors_metadata(file, "provenance")));
    return status;
}

bool modelfile_translates_symbols(StrView provenance) {
    Json *root;
    if (provenance.length == 0 || json_parse(&root, provenance, false) != STATUS_OK) return false;
    const Json *value = json_get(root, "translates_symbols");
    bool translates = value && json_type(value) == JSON_BOOL && json_bool(value);
    json_free(root);
    return translates;
}

bool modelfile_languages(StrView provenance, StrBuf *source, StrBuf *target) {
    Json *root;
    if (provenance.length == 0 || json_parse(&root, provenance, false) != STATUS_OK) return false;
    const Json *a = json_get(root, "source_language"), *b = json_get(root, "target_language");
    bool known = a && b && json_type(a) == JSON_STRING && json_type(b) == JSON_STRING && json_string(a)[0] &&
                 json_string(b)[0];
    if (known) {
        strbuf_add(source, sv(json_string(a)));
        strbuf_add(target, sv(json_string(b)));
    }
    json_free(root);
    return known;
}

static Status load(Seq2Seq **model, const char *path, const LoadForm *form, StrBuf *provenance) {
    SafeFile *file;
    *model = NULL;
    TRY(safetensors_open_header(&file, path));
    Status status = read_model(model, file, form, provenance);
    safetensors_close(file);
    if (status == STATUS_OK) return status;
    *model = NULL;
    return status_context(status, "cannot use '%s' as a model", path);
}

Status modelfile_load(Seq2Seq **model, const char *path, WeightFormat format, bool shortlist,
                      StrBuf *provenance) {
    return load(model, path, &(LoadForm){format, true, shortlist}, provenance);
}

Status modelfile_load_floats(Seq2Seq **model, const char *path, StrBuf *provenance) {
    return load(model, path, &(LoadForm){WEIGHT_FLOAT32, false, true}, provenance);
}

Status modelfile_load_exact(Seq2Seq **model, const char *path, StrBuf *provenance) {
    TRY(modelfile_load_floats(model, path, provenance));
    WeightFormat stored = seq2seq_params(*model)->format;
    if (stored == WEIGHT_FLOAT32) return STATUS_OK;
    seq2seq_free(*model);
    *model = NULL;
    status_fail(STATUS_DATA, "the weights of '%s' were rounded to %s", path, PRECISIONS[stored]);
    return status_hint(STATUS_DATA, "use the model that 'attn-mt convert' made it from");
}

/* ---- the header alone ---------------------------------------------------------------------------------- */

/* A member that is a string; "" if there is none. */
static const char *string_of(const Json *object, const char *key) {
    const Json *member = json_get(object, key);
    return member && json_type(member) == JSON_STRING ? json_string(member) : "";
}

/* The languages of the tokens ">>fra<<". */
static Status read_language_tokens(const SafeFile *file, StrList *targets) {
    Json *root;
    const char *text;
    TRY(require(file, "source", &text));
    TRY(json_parse(&root, sv(text), false));
    const Json *tokens = json_get(root, "languages");
    for (const Json *token = tokens ? json_first(tokens) : NULL; token; token = json_after(token)) {
        StrView name = json_type(token) == JSON_STRING ? sv(json_string(token)) : SV("");
        if (sv_starts(name, SV(">>")) && sv_ends(name, SV("<<")) && name.length > 4)
            strlist_add(targets, (StrView){name.data + 2, name.length - 4});
    }
    json_free(root);
    return STATUS_OK;
}

static Status read_provenance(const char *text, ModelInfo *info) {
    Json *root;
    TRY(json_parse(&root, sv(text), false));
    StrView source = sv(string_of(root, "source_language")), target = sv(string_of(root, "target_language"));
    bool known = source.length > 0 && !language_names_match(source, SV("source"));
    info->source = mem_strndup(source.data, known ? source.length : 0);
    if (!info->chooses_target && known && target.length > 0) strlist_add(&info->targets, target);
    info->program = mem_strdup(string_of(root, "origin")[0] ? string_of(root, "origin") : FORMAT);
    info->source_sha256 = mem_strdup(string_of(root, "source_sha256"));
    json_free(root);
    return STATUS_OK;
}

static Status read_about(const SafeFile *file, ModelInfo *info) {
    Config config;
    FileForm form;
    const char *text, *provenance = safetensors_metadata(file, "provenance");
    TRY(check_format(file, &form));
    info->precision = PRECISIONS[form.stored];
    TRY(require(file, "config", &text));
    config_init(&config);
    Status status = config_read_json(&config, sv(text));
    config_free(&config);
    if (status != STATUS_OK) return status_context(STATUS_DATA, "its configuration");
    TRY(read_language_tokens(file, &info->targets));
    info->chooses_target = info->targets.count > 0;
    TRY(read_provenance(provenance && provenance[0] ? provenance : "{}", info));
    for (size_t i = 0; i < safetensors_count(file); i++) {
        const SafeTensor *tensor = safetensors_at(file, i);
        long long size = 1;
        for (int d = 0; d < tensor->rank; d++) size *= tensor->shape[d];
        bool is_weight =
            !sv_ends(sv(tensor->name), SV(WEIGHTS_SCALE_SUFFIX)) && !model_text_has(tensor->name);
        if (is_weight) info->parameters += size;
    }
    return STATUS_OK;
}

Status modelfile_read_info(ModelInfo *info, const char *path) {
    SafeFile *file;
    *info = (ModelInfo){0};
    TRY(safetensors_open_header(&file, path));
    info->file = *safetensors_stat(file);
    info->bytes = (long long)info->file.st_size;
    Status status = read_about(file, info);
    safetensors_close(file);
    if (status == STATUS_OK) return status;
    model_info_free(info);
    return status_context(status, "cannot use '%s' as a model", path);
}

void model_info_free(ModelInfo *info) {
    mem_free(info->source);
    strlist_free(&info->targets);
    mem_free(info->program);
    mem_free(info->source_sha256);
    *info = (ModelInfo){0};
}

/* The provenance with other languages. */
static Status write_languages(const char *provenance, StrView source, StrView target, StrBuf *out) {
    Json *root;
    TRY(json_parse(&root, sv(provenance), false));
    json_open_object(out);
    for (const Json *member = json_first(root); member; member = json_after(member)) {
        bool is_language = strcmp(json_key(member), "source_language") == 0 ||
                           strcmp(json_key(member), "target_language") == 0;
        if (is_language) continue;
        json_write_string(out, sv(json_key(member)));
        strbuf_add(out, SV(": "));
        json_write_value(out, member);
    }
    json_put_string(out, "source_language", source);
    json_put_string(out, "target_language", target);
    json_close_object(out);
    json_free(root);
    return STATUS_OK;
}

static Status copy_file(const SafeFile *file, StrView source, StrView target, const char *output) {
    size_t count = safetensors_metadata_count(file), kept = 0;
    const char *(*metadata)[2] = mem_alloc(count + 1, sizeof *metadata);
    StrBuf provenance = {0};
    SafeTensor *tensors = mem_alloc(safetensors_count(file), sizeof *tensors);
    FileForm form;
    const char *old = safetensors_metadata(file, "provenance");
    Status status = check_format(file, &form);
    if (status == STATUS_OK && source.length == 0)
        strbuf_add(&provenance, sv(old ? old : "{}"));
    else if (status == STATUS_OK)
        status = write_languages(old && old[0] ? old : "{}", source, target, &provenance);
    for (size_t i = 0; i < count; i++) {
        safetensors_metadata_at(file, i, &metadata[kept][0], &metadata[kept][1]);
        const char *key = metadata[kept][0];
        bool is_digest = /* the writer adds new ones */
            strcmp(key, SAFETENSORS_PAYLOAD_KEY) == 0 || strcmp(key, SAFETENSORS_HEADER_KEY) == 0;
        if (!is_digest && strcmp(key, "provenance") != 0) kept++;
    }
    metadata[kept][0] = "provenance", metadata[kept++][1] = strbuf_text(&provenance);
    for (size_t i = 0; i < safetensors_count(file); i++) tensors[i] = *safetensors_at(file, i);
    if (status == STATUS_OK)
        status = safetensors_write(output, tensors, safetensors_count(file),
                                   (const char *const(*)[2])metadata, kept);
    strbuf_free(&provenance);
    mem_free(tensors);
    mem_free(metadata);
    return status;
}

Status modelfile_copy(const char *path, StrView source, StrView target, const char *output) {
    SafeFile *file;
    TRY(safetensors_open(&file, path));
    Status status = copy_file(file, source, target, output);
    safetensors_close(file);
    return status;
}

bool modelfile_same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

const char *modelfile_precision(const Seq2Seq *model) { return PRECISIONS[seq2seq_params(model)->format]; }
