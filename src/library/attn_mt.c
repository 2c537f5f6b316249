/* attn_mt.c - the public library: models, glossaries and translation memories. */
#include "library/attn_mt.h"

#include "base/mem.h"
#include "base/version.h"
#include "library/library_private.h"
#include "search/rescore.h"
#include "text/languages.h"

const char *attn_mt_version(void) { return ATTN_MT_VERSION; }

/* ---- models ---- */

typedef struct {
    const char *const *paths;
    int count;
    const char *name; /* of attn_mt_open_name, instead of paths; or NULL */
    attn_mt_precision precision;
    OpenResult result;
} OpenCall;

/* The models of the shortest route between two languages. */
static Status choose_by_languages(attn_mt_model *model, const char *name, StrView source, StrView target) {
    Registry registry;
    RegistryStep route[REGISTRY_STEPS];
    registry_open(&registry);
    model->step_count = registry_route(&registry, source, target, REGISTRY_STEPS, route);
    if (model->step_count == 0)
        return status_hint(
            status_fail(STATUS_USAGE, "no model has the name '%.200s' or these languages", name),
            "'attn-mt models' lists them");
    for (int i = 0; i < model->step_count; i++) {
        strlist_add(&model->steps[i].paths, sv(route[i].model->path));
        if (route[i].chooses_target) model->steps[i].target_language = mem_strdup(route[i].target);
    }
    registry_free(&registry);
    return STATUS_OK;
}

static Status choose_by_name(attn_mt_model *model, const char *name) {
    StrBuf path = {0};
    StrView source, target;
    StatusRecord unknown;
    status_save(&unknown, registry_path(name, &path));
    if (path.length > 0) {
        strlist_add(&model->steps[0].paths, strbuf_view(&path));
        return STATUS_OK;
    }
    if (languages_split(name, &source, &target) != STATUS_OK) return status_restore(&unknown);
    return choose_by_languages(model, name, source, target);
}

static Status choose_models(const OpenCall *call, attn_mt_model *model) {
    model->step_count = 1;
    if (call->name) return choose_by_name(model, call->name);
    TRY(check_strings("paths", call->paths, call->count));
    for (int i = 0; i < call->count; i++) strlist_add(&model->steps[0].paths, sv(call->paths[i]));
    return STATUS_OK;
}

static Status load_models(const OpenCall *call, attn_mt_model *model) {
    static const WeightFormat FORMATS[] = {WEIGHT_FLOAT32, WEIGHT_BF16, WEIGHT_INT8};
    TRY(scope_kernel_status());
    if (call->count < 1) return status_fail(STATUS_USAGE, "no model given");
    if ((int)call->precision < ATTN_MT_FLOAT32 || call->precision > ATTN_MT_INT8)
        return status_fail(STATUS_USAGE, "there is no precision %d", (int)call->precision);
    TRY(choose_models(call, model));
    for (int i = 0; i < model->step_count; i++) {
        ModelStep *step = &model->steps[i];
        TRY(ensemble_load(&step->models, &step->paths, FORMATS[call->precision], true));
        TRY(scorer_check(ensemble_items(&step->models), step->models.count));
    }
    const Ensemble *last = &last_step(model)->models;
    if (last->count == 1) model->calibration = calibration_read(strbuf_view(&last->provenance));
    return STATUS_OK;
}

static void open_models(void *context) {
    OpenCall *call = context;
    call->result.object = mem_alloc(1, sizeof(attn_mt_model));
    call->result.status = load_models(call, call->result.object);
}

static attn_mt_status run_open_call(OpenCall *call, attn_mt_model **model, attn_mt_error *error) {
    attn_mt_status status;
    *model = scope_open(&status, 0, open_models, call, &call->result, error);
    return status;
}

attn_mt_status attn_mt_open(attn_mt_model **model, const char *const *paths, int count,
                            attn_mt_precision precision, attn_mt_error *error) {
    if (!model) return fail_usage(error, "model is NULL");
    OpenCall call = {.paths = paths, .count = count, .precision = precision};
    return run_open_call(&call, model, error);
}

attn_mt_status attn_mt_open_name(attn_mt_model **model, const char *name, attn_mt_precision precision,
                                 attn_mt_error *error) {
    if (!model) return fail_usage(error, "model is NULL");
    *model = NULL;
    if (!name) return fail_usage(error, "name is NULL");
    OpenCall call = {.name = name, .count = 1, .precision = precision};
    return run_open_call(&call, model, error);
}

void attn_mt_close(attn_mt_model *model) {
    if (model) mem_scope_free(model->scope);
}

static const char *name_or_null(const StrBuf *name) { return name->length > 0 ? strbuf_text(name) : NULL; }

const char *attn_mt_source_language(const attn_mt_model *model) {
    return model ? name_or_null(&model->steps[0].models.source_language) : NULL;
}

const char *attn_mt_target_language(const attn_mt_model *model) {
    if (!model) return NULL;
    const ModelStep *last = last_step(model);
    return last->target_language ? last->target_language : name_or_null(&last->models.target_language);
}

size_t attn_mt_model_bytes(const attn_mt_model *model) { return model ? mem_scope_bytes(model->scope) : 0; }

/* ---- glossaries and translation memories ---- */

typedef struct {
    const attn_mt_model *model;
    const char *const *paths;
    int count, accelerator;
    OpenResult result;
} ReadCall;

static Status read_paths(const ReadCall *call, StrList *paths) {
    if (call->count < 1) return status_fail(STATUS_USAGE, "no file given");
    TRY(check_strings("paths", call->paths, call->count));
    for (int i = 0; i < call->count; i++) strlist_add(paths, sv(call->paths[i]));
    return STATUS_OK;
}

/* Terms and memories are of two languages, which one of the models must have both. */
static Status refuse_pivot(const attn_mt_model *model, const char *what) {
    if (model->step_count == 1) return STATUS_OK;
    return status_fail(STATUS_USAGE, "%s needs a model of both languages, and there is none", what);
}

static Status read_glossary(ReadCall *call) {
    StrList paths = {0};
    const Ensemble *models = &last_step(call->model)->models;
    TRY(refuse_pivot(call->model, "a glossary"));
    TRY(read_paths(call, &paths));
    TRY(model_require_left_to_right(models->items[0], "a glossary"));
    attn_mt_glossary *glossary = call->result.object = mem_alloc(1, sizeof *glossary);
    glossary->model = call->model;
    return glossary_read(&glossary->terms, &paths, &seq2seq_config(models->items[0])->text,
                         strbuf_view(&models->source_language), strbuf_view(&models->target_language));
}

static void read_glossary_in_scope(void *context) {
    ReadCall *call = context;
    call->result.status = read_glossary(call);
}

attn_mt_status attn_mt_glossary_open(attn_mt_glossary **glossary, const attn_mt_model *model,
                                     const char *const *paths, int count, attn_mt_error *error) {
    ReadCall call = {.model = model, .paths = paths, .count = count};
    attn_mt_status status;
    if (!glossary) return fail_usage(error, "glossary is NULL");
    *glossary = NULL;
    if (!model) return fail_usage(error, "model is NULL");
    *glossary = scope_open(&status, 0, read_glossary_in_scope, &call, &call.result, error);
    return status;
}

void attn_mt_glossary_close(attn_mt_glossary *glossary) {
    if (glossary) mem_scope_free(glossary->scope);
}

static Status read_memory(ReadCall *call) {
    StrList paths = {0};
    TRY(refuse_pivot(call->model, "a translation memory"));
    TRY(read_paths(call, &paths));
    TRY(check_accelerator(call->accelerator));
    attn_mt_memory *memory = call->result.object = mem_alloc(1, sizeof *memory);
    const char *source = attn_mt_source_language(call->model);
    const char *target = attn_mt_target_language(call->model);
    return memory_read(&memory->pairs, &paths, source ? source : "", target ? target : "",
                       (AcceleratorKind)call->accelerator);
}

static void read_memory_in_scope(void *context) {
    ReadCall *call = context;
    call->result.status = read_memory(call);
}

attn_mt_status attn_mt_memory_open(attn_mt_memory **memory, const attn_mt_model *model,
                                   const char *const *paths, int count, int accelerator,
                                   attn_mt_error *error) {
    ReadCall call = {.model = model, .paths = paths, .count = count, .accelerator = accelerator};
    attn_mt_status status;
    if (!memory) return fail_usage(error, "memory is NULL");
    *memory = NULL;
    if (!model) return fail_usage(error, "model is NULL");
    *memory = scope_open(&status, 0, read_memory_in_scope, &call, &call.result, error);
    return status;
}

void attn_mt_memory_close(attn_mt_memory *memory) {
    if (memory) mem_scope_free(memory->scope);
}
