/* explore.c - the explorer page. */
#include "base/mem.h"
#include "explain/heatmap_page.h"
#include "library/library_private.h"

typedef struct {
    const attn_mt_model *model;
    const char *const *texts;
    int count;
    OpenResult result;
} ExploreCall;

/* The models of the step, with tokenizers of this call. */
static Ensemble view_models(const ModelStep *step) {
    Ensemble models = step->models;
    models.items = mem_alloc((size_t)models.count, sizeof *models.items);
    for (int m = 0; m < models.count; m++) models.items[m] = seq2seq_view(step->models.items[m]);
    return models;
}

static Status explore(ExploreCall *call) {
    if (call->count < 1) return status_fail(STATUS_USAGE, "%d texts", call->count);
    TRY(check_strings("texts", call->texts, call->count));
    if (call->model->step_count > 1)
        return status_fail(STATUS_USAGE, "the explorer needs a model of both languages, and there is none");
    const ModelStep *step = last_step(call->model);
    Ensemble models = view_models(step);
    TranslatorOptions options = {.translate_symbols = true,
                                 .read_unknown = true,
                                 .target_language = step->target_language,
                                 .quiet = true};
    options.search.decode = decode_options_bound(seq2seq_config(models.items[0])->decode);
    options.search.n_best = 1;
    StrView *lines = mem_alloc((size_t)call->count, sizeof *lines);
    for (int i = 0; i < call->count; i++) lines[i] = sv(call->texts[i]);
    HeatmapPage page = {.models = &models,
                        .paths = &step->paths,
                        .translating = &options,
                        .lines = lines,
                        .count = call->count};
    StrBuf out = {0};
    TRY(heatmap_page_write(&page, &out));
    for (int m = 0; m < models.count; m++) seq2seq_free(models.items[m]);
    mem_free(models.items);
    mem_free(lines);
    attn_mt_result *result = call->result.object = mem_alloc(1, sizeof *result);
    result->page = strbuf_text(&out);
    return STATUS_OK;
}

static void explore_in_scope(void *context) {
    ExploreCall *call = context;
    call->result.status = explore(call);
}

attn_mt_status attn_mt_explore(const attn_mt_model *model, const char *const *texts, int count,
                               attn_mt_result **result, attn_mt_error *error) {
    ExploreCall call = {.model = model, .texts = texts, .count = count};
    attn_mt_status status;
    if (!result) return fail_usage(error, "result is NULL");
    *result = NULL;
    if (!model) return fail_usage(error, "model is NULL");
    *result = scope_open(&status, 0, explore_in_scope, &call, &call.result, error);
    return status;
}

const char *attn_mt_page(const attn_mt_result *result) { return result ? result->page : NULL; }
