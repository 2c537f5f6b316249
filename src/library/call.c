/* call.c - translates and scores on the calling thread. */
#include <string.h>
#include "base/mem.h"
#include "documents/html.h"
#include "library/library_private.h"
#include "search/rescore.h"

enum { MAX_BEAM = 1000, MAX_BATCH = 100000 };

static Status check_options(const attn_mt_model *model, const attn_mt_options *options, int count) {
    if (count < 0) return status_fail(STATUS_USAGE, "%d texts", count);
    if (options->beam_size < 0 || options->beam_size > MAX_BEAM)
        return status_fail(STATUS_USAGE, "beam_size is %d, not 0 to %d", options->beam_size, MAX_BEAM);
    if (options->n_best < 0 || options->n_best > MAX_BEAM)
        return status_fail(STATUS_USAGE, "n_best is %d, not 0 to %d", options->n_best, MAX_BEAM);
    if (options->beam_size > 0 && options->n_best > options->beam_size)
        return status_fail(STATUS_USAGE, "n_best is %d, but beam_size %d", options->n_best,
                           options->beam_size);
    if (options->batch_size < 0 || options->batch_size > MAX_BATCH)
        return status_fail(STATUS_USAGE, "batch_size is %d, not 0 to %d", options->batch_size, MAX_BATCH);
    if (options->attention < ATTN_MT_NO_ATTENTION || options->attention > ATTN_MT_SUBWORDS)
        return status_fail(STATUS_USAGE, "there is no level %d of attention", options->attention);
    TRY(check_accelerator(options->accelerator));
    if (options->shortlist < 0 || options->shortlist > SHORTLIST_MAX)
        return status_fail(STATUS_USAGE, "shortlist is %d, not 0 to %d", options->shortlist, SHORTLIST_MAX);
    for (int i = 0; i < model->step_count && options->shortlist > 0; i++)
        TRY(ensemble_check_shortlists(&model->steps[i].models, &model->steps[i].paths));
    for (size_t i = 0; i < sizeof options->reserved / sizeof *options->reserved; i++)
        if (options->reserved[i] != 0) return status_fail(STATUS_USAGE, "reserved[%zu] is not 0", i);
    return STATUS_OK;
}

/* Copies the program's guide, which can be shorter or longer than ours. */
static Status read_guide(const attn_mt_model *model, const attn_mt_guide *given, attn_mt_guide *guide) {
    enum { MAX_SIZE = 4096 };
    *guide = (attn_mt_guide){.memory_threshold = 0.75};
    if (!given) return STATUS_OK;
    if (given->size < offsetof(attn_mt_guide, glossary) || given->size > MAX_SIZE)
        return status_fail(STATUS_USAGE, "guide->size is not sizeof(attn_mt_guide)");
    for (size_t i = sizeof *guide; i < given->size; i++)
        if (((const char *)given)[i] != 0)
            return status_fail(STATUS_USAGE, "the guide has options of a later version of the library");
    guide->memory_threshold = 0;
    memcpy(guide, given, given->size < sizeof *guide ? given->size : sizeof *guide);
    if (guide->memory_threshold == 0) guide->memory_threshold = 0.75;
    if (!(guide->memory_threshold >= 0.3 && guide->memory_threshold <= 1))
        return status_fail(STATUS_USAGE, "memory_threshold is %g, not 0.3 to 1", guide->memory_threshold);
    if (guide->glossary && guide->glossary->model != model)
        return status_fail(STATUS_USAGE, "the glossary was made for another model");
    if (guide->memory && model->step_count > 1)
        return status_fail(STATUS_USAGE, "a translation memory needs a model of both languages");
    return STATUS_OK;
}

/* Of step `number`. Only the last step has what a result shows. */
static TranslatorOptions translator_options(const Call *call, int number) {
    const attn_mt_options *requested = &call->options;
    const attn_mt_guide *guide = &call->guide;
    const ModelStep *step = &call->model->steps[number];
    bool last = step == last_step(call->model);
    const char *target = last && guide->target_language ? guide->target_language : step->target_language;
    TranslatorOptions options = {.split = requested->split,
                                 .wrapped = requested->markup || guide->wrapped,
                                 .tags = requested->markup || guide->tags,
                                 .tags_aside = requested->markup || guide->tags_aside,
                                 .accelerator = (AcceleratorKind)requested->accelerator,
                                 .translate_symbols = step->models.translates_symbols,
                                 .target_language = (char *)target,
                                 .memory_threshold = guide->memory_threshold,
                                 .quiet = true};
    DecodeOptions *decode = &options.search.decode;
    *decode = decode_options_bound(seq2seq_config(step->models.items[0])->decode);
    if (requested->beam_size > 0) decode->beam_size = requested->beam_size;
    if (requested->batch_size > 0) decode->mini_batch = requested->batch_size;
    options.search.shortlist = requested->shortlist;
    options.search.n_best = 1;
    options.search.choice = (AttentionChoice){ATTENTION_MEAN, ATTENTION_MEAN};
    if (number > 0) options.pivot = call->steps[number - 1].translator;
    if (!last) return options;
    if (requested->n_best > decode->beam_size) decode->beam_size = requested->n_best;
    if (requested->n_best > 1) options.search.n_best = decode->beam_size; /* several can have the same text */
    options.search.attention = requested->attention != ATTN_MT_NO_ATTENTION;
    options.glossary = guide->glossary ? guide->glossary->terms : NULL;
    options.memory = guide->memory ? guide->memory->pairs : NULL;
    options.progress = requested->progress;
    options.progress_context = requested->progress_context;
    return options;
}

static Status step_begin(Call *call, int number) {
    const Ensemble *models = &call->model->steps[number].models;
    TranslatorOptions options = translator_options(call, number);
    const Seq2Seq **views = mem_alloc((size_t)models->count, sizeof *views);
    for (int m = 0; m < models->count; m++) views[m] = seq2seq_view(models->items[m]);
    call->steps[number].views = views;
    return translator_new(&call->steps[number].translator, views, models->count, &options, call->workers);
}

/* Prepares the search. */
static Status call_begin(Call *call) {
    call->workers = workers_new(1);
    if (!call->options.markup)
        call->translations = mem_alloc((size_t)call->count, sizeof *call->translations);
    for (int i = 0; i < call->model->step_count; i++) TRY(step_begin(call, i));
    return STATUS_OK;
}

static Translator *last_translator(const Call *call) {
    return call->steps[call->model->step_count - 1].translator;
}

/* The attributes of all texts, as further texts. */
typedef struct {
    HtmlTags *tags; /* [count] */
    int *first;     /* [count] the text of its first attribute */
    StrView *texts; /* [total] those of the call, and the attributes */
    int total;
} Attributes;

static void find_attributes(const Call *call, Attributes *attributes) {
    size_t count = (size_t)call->count, capacity = count;
    *attributes = (Attributes){mem_alloc(count, sizeof(HtmlTags)), mem_alloc(count, sizeof(int)),
                               mem_alloc(count, sizeof(StrView)), call->count};
    if (count > 0) memcpy(attributes->texts, call->texts, count * sizeof *call->texts);
    for (int t = 0; t < call->count; t++) {
        HtmlTags *tags = &attributes->tags[t];
        html_tags_find(call->texts[t], tags);
        attributes->first[t] = attributes->total;
        MEM_GROW(attributes->texts, capacity, (size_t)(attributes->total + tags->attribute_count));
        for (int a = 0; a < tags->attribute_count; a++)
            attributes->texts[attributes->total++] = tags->attributes[a].value;
    }
}

/* Translates the attributes with the texts, and writes them into all candidates. */
static void translate_html(Call *call) {
    Attributes attributes;
    find_attributes(call, &attributes);
    call->translations = mem_alloc((size_t)attributes.total, sizeof *call->translations);
    translator_run(last_translator(call), attributes.texts, NULL, attributes.total, 1, call->translations);
    StrView *values = mem_alloc((size_t)attributes.total, sizeof *values);
    StrBuf language = {0};
    html_language(strbuf_view(&last_step(call->model)->models.target_language), &language);
    for (int i = call->count; i < attributes.total; i++)
        values[i] = strbuf_view(&call->translations[i].items[0].text);
    for (int t = 0; t < call->count; t++) {
        const HtmlTags *tags = &attributes.tags[t];
        Translation *translation = &call->translations[t];
        for (int rank = 0; tags->count > 0 && rank < translation->count; rank++) {
            StrBuf text = {0};
            html_tags_apply(tags, 0, tags->count, values + attributes.first[t], strbuf_view(&language),
                            strbuf_view(&translation->items[rank].text), &text);
            strbuf_free(&translation->items[rank].text);
            translation->items[rank].text = text;
        }
    }
    strbuf_free(&language);
    mem_free(values);
    mem_free(attributes.first);
    for (int t = 0; t < call->count; t++) html_tags_free(&attributes.tags[t]);
    mem_free(attributes.tags);
    mem_free(attributes.texts);
}

static void translate(Call *call) {
    int most = call->options.n_best > 1 ? call->options.n_best : 1;
    if (call->options.markup)
        translate_html(call);
    else
        translator_run(last_translator(call), call->texts, NULL, call->count, 1, call->translations);
    for (int i = 0; i < call->count; i++) translation_keep_different(&call->translations[i], most);
}

static Status search(Call *call) {
    if (call->references)
        translator_force(last_translator(call), call->texts, call->references, call->count,
                         call->translations);
    else
        translate(call);
    for (int i = 0; i < call->model->step_count; i++)
        TRY(translator_check_finite(call->steps[i].translator, &call->model->steps[i].paths));
    return STATUS_OK;
}

/* Frees the search; texts and scores stay, because candidates point to them. */
static void call_end(Call *call) {
    for (int i = call->model->step_count - 1; i >= 0; i--) {
        translator_free(call->steps[i].translator);
        for (int m = 0; m < call->model->steps[i].models.count; m++)
            seq2seq_free((Seq2Seq *)call->steps[i].views[m]);
        mem_free(call->steps[i].views);
    }
    workers_free(call->workers);
}

/* The arguments of a call, and its result. */
typedef struct {
    const attn_mt_model *model;
    bool score; /* attn_mt_score; otherwise `translations` is unused */
    const char *const *texts, *const *translations;
    int count;
    const attn_mt_options *options;
    OpenResult result;
} CallArguments;

static StrView *views_of(const char *const *texts, int count) {
    StrView *views = mem_alloc((size_t)count, sizeof *views);
    for (int i = 0; i < count; i++) views[i] = sv(texts[i]);
    return views;
}

/* Scoring ignores the options of the search and of markup. */
static attn_mt_options options_of(const CallArguments *arguments) {
    attn_mt_options options = {0};
    if (arguments->options) options = *arguments->options;
    if (arguments->score)
        options.beam_size = options.n_best = options.split = options.markup = options.shortlist =
            options.accelerator = 0;
    if (arguments->score) options.guide = NULL;
    return options;
}

static Status run_call(CallArguments *arguments) {
    Call call = {.model = arguments->model, .options = options_of(arguments), .count = arguments->count};
    TRY(check_options(call.model, &call.options, arguments->count));
    TRY(read_guide(call.model, call.options.guide, &call.guide));
    TRY(check_strings("texts", arguments->texts, arguments->count));
    if (arguments->score && call.model->step_count > 1)
        return status_fail(STATUS_USAGE, "scores need a model of both languages, and there is none");
    if (arguments->score) TRY(check_strings("translations", arguments->translations, arguments->count));
    call.texts = views_of(arguments->texts, arguments->count);
    call.references = arguments->score ? views_of(arguments->translations, arguments->count) : NULL;
    TRY(call_begin(&call));
    TRY(search(&call));
    attn_mt_result *result = arguments->result.object = mem_alloc(1, sizeof *result);
    result->texts = mem_alloc((size_t)call.count, sizeof *result->texts);
    result->count = call.count;
    for (int t = 0; t < call.count; t++) result->texts[t] = result_text(&call, t);
    call_end(&call);
    return STATUS_OK;
}

static void run_call_in_scope(void *context) {
    CallArguments *arguments = context;
    arguments->result.status = run_call(arguments);
}

static attn_mt_status start_call(CallArguments *arguments, attn_mt_result **result, attn_mt_error *error) {
    attn_mt_status status;
    if (!result) return fail_usage(error, "result is NULL");
    *result = NULL;
    if (!arguments->model) return fail_usage(error, "model is NULL");
    size_t limit = arguments->options ? arguments->options->memory_limit : 0;
    *result = scope_open(&status, limit, run_call_in_scope, arguments, &arguments->result, error);
    return status;
}

attn_mt_status attn_mt_translate(const attn_mt_model *model, const char *const *texts, int count,
                                 const attn_mt_options *options, attn_mt_result **result,
                                 attn_mt_error *error) {
    CallArguments arguments = {.model = model, .texts = texts, .count = count, .options = options};
    return start_call(&arguments, result, error);
}

attn_mt_status attn_mt_score(const attn_mt_model *model, const char *const *texts,
                             const char *const *translations, int count, const attn_mt_options *options,
                             attn_mt_result **result, attn_mt_error *error) {
    CallArguments arguments = {.model = model,
                               .score = true,
                               .texts = texts,
                               .translations = translations,
                               .count = count,
                               .options = options};
    return start_call(&arguments, result, error);
}
