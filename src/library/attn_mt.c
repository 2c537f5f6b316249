/* attn_mt.c - the public library. Each call works in a memory scope of its own. */
#include "library/attn_mt.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/mem_scope.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "base/version.h"
#include "documents/html.h"
#include "kern/kern.h"
#include "models/registry.h"
#include "search/ensemble.h"
#include "search/rescore.h"
#include "text/languages.h"
#include "postprocess/alignment.h"
#include "postprocess/confidence.h"
#include "translate/translator.h"

enum { MOST_BEAM = 1000, MOST_BATCH = 100000 };

/* A model and a result live in the scope that they own. */
struct attn_mt_model {
    MemScope *scope;
    StrList paths;
    Ensemble models;
    char *target_language; /* that attn_mt_open_name chose, of several; or NULL */
    Calibration calibration;
};

struct attn_mt_glossary {
    MemScope *scope;
    const attn_mt_model *model;
    Glossary *terms;
};

struct attn_mt_memory {
    MemScope *scope;
    Memory *pairs;
};

typedef struct {
    attn_mt_candidate *candidates;   /* [count] best first */
    attn_mt_matrix *matrices;        /* [count] or NULL */
    attn_mt_confidence *confidences; /* [count] or NULL */
    const char *const **tokens;      /* [count] of each candidate [tokens] */
    attn_mt_match match;             /* with a source of NULL: there is none */
    int count;
} Text;

struct attn_mt_result {
    MemScope *scope;
    Text *texts; /* [count] */
    int count;
};

const char *attn_mt_version(void) { return ATTN_MT_VERSION; }

/* ---- errors ---- */

/* Copies `text`, which can contain the bytes of file names, as one line of UTF-8. Allocates nothing, because
 * the error can be that memory has run out. */
static void copy_line(char *to, size_t size, const char *text) {
    StrView from = sv(text);
    size_t length = 0;
    for (size_t position = 0; position < from.length;) {
        size_t start = position;
        int code_point = utf8_next(from, &position);
        StrView character = {from.data + start, position - start};
        if (code_point == UTF8_REPLACEMENT) character = SV("\xEF\xBF\xBD");
        if (unicode_is_control(code_point) || code_point == 0x2028 || code_point == 0x2029)
            character = SV("?");
        if (length + character.length >= size) break;
        memcpy(to + length, character.data, character.length);
        length += character.length;
    }
    to[length] = '\0';
}

static attn_mt_status fail(attn_mt_error *error, attn_mt_status status, const char *message,
                           const char *hint) {
    if (!error) return status;
    error->status = status;
    copy_line(error->message, sizeof error->message, message);
    copy_line(error->hint, sizeof error->hint, hint);
    return status;
}

static attn_mt_status fail_memory(attn_mt_error *error, size_t limit) {
    return fail(error, ATTN_MT_MEMORY, limit > 0 ? "memory_limit is not enough for this" : "out of memory",
                limit > 0 ? "raise it, or ask for less at a time" : "");
}

static attn_mt_status fail_null(attn_mt_error *error, const char *message) {
    return fail(error, ATTN_MT_USAGE, message, "");
}

/* None of the strings [count] may be NULL; without any, the array may be NULL too. */
static Status check_strings(const char *name, const char *const *strings, int count) {
    if (count > 0 && !strings) return status_fail(STATUS_USAGE, "%s is NULL", name);
    for (int i = 0; i < count; i++)
        if (!strings[i]) return status_fail(STATUS_USAGE, "%s[%d] is NULL", name, i);
    return STATUS_OK;
}

/* Numbers have a decimal point in every locale of the calling program. */
static locale_t c_locale;
static StatusRecord kernel_status; /* of the environment variable ATTN_MT_SIMD */

static void library_begin(void) {
    status_save(&kernel_status, kern_select());
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Calls `work` in a new scope. If it succeeds, *scope is the scope, otherwise NULL. *status is the result of
 * the work. */
static attn_mt_status run(MemScope **scope, size_t limit, void (*work)(void *context), void *context,
                          const Status *status, attn_mt_error *error) {
    attn_mt_status result = ATTN_MT_OK;
    locale_t callers = uselocale(c_locale);
    bool silent = log_set_silent(true);
    *scope = mem_scope_new(limit);
    bool done = *scope && mem_scope_run(*scope, work, context);
    uselocale(callers);
    log_set_silent(silent);
    if (!done)
        result = fail_memory(error, limit);
    else if (*status != STATUS_OK)
        result = fail(error, (attn_mt_status)*status, status_message(), status_hint_text());
    if (result != ATTN_MT_OK) {
        mem_scope_free(*scope);
        *scope = NULL;
    } else if (error) {
        *error = (attn_mt_error){ATTN_MT_OK, "", ""};
    }
    return result;
}

/* ---- models ---- */

typedef struct {
    const char *const *paths;
    int count;
    const char *name; /* of attn_mt_open_name, instead of paths; or NULL */
    attn_mt_precision precision;
    attn_mt_model *model;
    Status status;
} Opening;

/* The model of two languages. */
static Status choose_by_languages(attn_mt_model *model, const char *name, StrView source, StrView target) {
    Registry registry;
    RegistryStep step[REGISTRY_STEPS];
    registry_open(&registry);
    if (registry_route(&registry, source, target, 1, step) == 0)
        return status_hint(
            status_fail(STATUS_USAGE, "no model has the name '%.200s' or these languages", name),
            "'attn-mt models' lists them");
    strlist_add(&model->paths, sv(step[0].model->path));
    if (step[0].chooses_target) model->target_language = mem_strdup(step[0].target);
    return STATUS_OK;
}

static Status choose_by_name(attn_mt_model *model, const char *name) {
    StrBuf path = {0};
    StrView source, target;
    StatusRecord unknown;
    status_save(&unknown, registry_path(name, &path));
    if (path.length > 0) {
        strlist_add(&model->paths, strbuf_view(&path));
        return STATUS_OK;
    }
    if (languages_split(name, &source, &target) != STATUS_OK) return status_restore(&unknown);
    return choose_by_languages(model, name, source, target);
}

static Status choose_models(const Opening *opening, attn_mt_model *model) {
    if (opening->name) return choose_by_name(model, opening->name);
    TRY(check_strings("paths", opening->paths, opening->count));
    for (int i = 0; i < opening->count; i++) strlist_add(&model->paths, sv(opening->paths[i]));
    return STATUS_OK;
}

static Status load_models(const Opening *opening, attn_mt_model *model) {
    static const WeightFormat FORMATS[] = {WEIGHT_FLOAT32, WEIGHT_BF16, WEIGHT_INT8};
    TRY(status_restore(&kernel_status));
    if (opening->count < 1) return status_fail(STATUS_USAGE, "no model given");
    if ((int)opening->precision < ATTN_MT_FLOAT32 || opening->precision > ATTN_MT_INT8)
        return status_fail(STATUS_USAGE, "there is no precision %d", (int)opening->precision);
    TRY(choose_models(opening, model));
    TRY(ensemble_load(&model->models, &model->paths, FORMATS[opening->precision]));
    if (opening->count == 1) model->calibration = calibration_read(strbuf_view(&model->models.provenance));
    return scorer_check(ensemble_items(&model->models), model->models.count);
}

static void open_models(void *context) {
    Opening *opening = context;
    opening->model = mem_alloc(1, sizeof *opening->model);
    opening->status = load_models(opening, opening->model);
}

static attn_mt_status start_opening(Opening *opening, attn_mt_model **model, attn_mt_error *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    MemScope *scope;
    pthread_once(&once, library_begin);
    attn_mt_status status = run(&scope, 0, open_models, opening, &opening->status, error);
    *model = status == ATTN_MT_OK ? opening->model : NULL;
    if (*model) (*model)->scope = scope;
    return status;
}

attn_mt_status attn_mt_open(attn_mt_model **model, const char *const *paths, int count,
                            attn_mt_precision precision, attn_mt_error *error) {
    if (!model) return fail_null(error, "model is NULL");
    Opening opening = {.paths = paths, .count = count, .precision = precision};
    return start_opening(&opening, model, error);
}

attn_mt_status attn_mt_open_name(attn_mt_model **model, const char *name, attn_mt_precision precision,
                                 attn_mt_error *error) {
    if (!model) return fail_null(error, "model is NULL");
    *model = NULL;
    if (!name) return fail_null(error, "name is NULL");
    Opening opening = {.name = name, .count = 1, .precision = precision};
    return start_opening(&opening, model, error);
}

void attn_mt_close(attn_mt_model *model) {
    if (model) mem_scope_free(model->scope);
}

static const char *name_or_null(const StrBuf *name) { return name->length > 0 ? strbuf_text(name) : NULL; }

const char *attn_mt_source_language(const attn_mt_model *model) {
    return model ? name_or_null(&model->models.source_language) : NULL;
}

const char *attn_mt_target_language(const attn_mt_model *model) {
    if (!model) return NULL;
    return model->target_language ? model->target_language : name_or_null(&model->models.target_language);
}

/* ---- glossaries and translation memories ---- */

typedef struct {
    const attn_mt_model *model;
    const char *const *paths;
    int count, accelerator;
    attn_mt_glossary *glossary;
    attn_mt_memory *memory;
    Status status;
} Reading;

static Status read_paths(const Reading *reading, StrList *paths) {
    if (reading->count < 1) return status_fail(STATUS_USAGE, "no file given");
    TRY(check_strings("paths", reading->paths, reading->count));
    for (int i = 0; i < reading->count; i++) strlist_add(paths, sv(reading->paths[i]));
    return STATUS_OK;
}

static Status check_accelerator(int accelerator) {
    if (accelerator < ATTN_MT_NO_ACCELERATOR || accelerator > ATTN_MT_ACCELERATOR_AUTO)
        return status_fail(STATUS_USAGE, "there is no accelerator %d", accelerator);
    return STATUS_OK;
}

static Status read_glossary(Reading *reading) {
    StrList paths = {0};
    const Ensemble *models = &reading->model->models;
    TRY(read_paths(reading, &paths));
    TRY(model_require_left_to_right(models->items[0], "a glossary"));
    reading->glossary = mem_alloc(1, sizeof *reading->glossary);
    reading->glossary->model = reading->model;
    return glossary_read(&reading->glossary->terms, &paths, &seq2seq_config(models->items[0])->text,
                         strbuf_view(&models->source_language), strbuf_view(&models->target_language));
}

static void read_glossary_in_scope(void *context) {
    Reading *reading = context;
    reading->status = read_glossary(reading);
}

attn_mt_status attn_mt_glossary_open(attn_mt_glossary **glossary, const attn_mt_model *model,
                                     const char *const *paths, int count, attn_mt_error *error) {
    Reading reading = {.model = model, .paths = paths, .count = count};
    MemScope *scope;
    if (!glossary) return fail_null(error, "glossary is NULL");
    *glossary = NULL;
    if (!model) return fail_null(error, "model is NULL");
    attn_mt_status status = run(&scope, 0, read_glossary_in_scope, &reading, &reading.status, error);
    if (status != ATTN_MT_OK) return status;
    *glossary = reading.glossary;
    reading.glossary->scope = scope;
    return ATTN_MT_OK;
}

void attn_mt_glossary_close(attn_mt_glossary *glossary) {
    if (glossary) mem_scope_free(glossary->scope);
}

static Status read_memory(Reading *reading) {
    StrList paths = {0};
    TRY(read_paths(reading, &paths));
    TRY(check_accelerator(reading->accelerator));
    reading->memory = mem_alloc(1, sizeof *reading->memory);
    const char *source = attn_mt_source_language(reading->model);
    const char *target = attn_mt_target_language(reading->model);
    return memory_read(&reading->memory->pairs, &paths, source ? source : "", target ? target : "",
                       (AcceleratorKind)reading->accelerator);
}

static void read_memory_in_scope(void *context) {
    Reading *reading = context;
    reading->status = read_memory(reading);
}

attn_mt_status attn_mt_memory_open(attn_mt_memory **memory, const attn_mt_model *model,
                                   const char *const *paths, int count, int accelerator,
                                   attn_mt_error *error) {
    Reading reading = {.model = model, .paths = paths, .count = count, .accelerator = accelerator};
    MemScope *scope;
    if (!memory) return fail_null(error, "memory is NULL");
    *memory = NULL;
    if (!model) return fail_null(error, "model is NULL");
    attn_mt_status status = run(&scope, 0, read_memory_in_scope, &reading, &reading.status, error);
    if (status != ATTN_MT_OK) return status;
    *memory = reading.memory;
    reading.memory->scope = scope;
    return ATTN_MT_OK;
}

void attn_mt_memory_close(attn_mt_memory *memory) {
    if (memory) mem_scope_free(memory->scope);
}

/* ---- calls ---- */

/* One call of attn_mt_translate or attn_mt_score. */
typedef struct {
    const attn_mt_model *model;
    attn_mt_options options;
    attn_mt_guide guide;
    StrView *texts, *references; /* [count]; references: translations to score, or NULL */
    int count;
    const Seq2Seq **views; /* [models] */
    Workers *workers;
    Translator *translator;
    Translation *translations; /* [count] */
} Call;

static Status check_options(const attn_mt_model *model, const attn_mt_options *options, int count) {
    if (count < 0) return status_fail(STATUS_USAGE, "%d texts", count);
    if (options->beam_size < 0 || options->beam_size > MOST_BEAM)
        return status_fail(STATUS_USAGE, "beam_size is %d, not 0 to %d", options->beam_size, MOST_BEAM);
    if (options->n_best < 0 || options->n_best > MOST_BEAM)
        return status_fail(STATUS_USAGE, "n_best is %d, not 0 to %d", options->n_best, MOST_BEAM);
    if (options->beam_size > 0 && options->n_best > options->beam_size)
        return status_fail(STATUS_USAGE, "n_best is %d, but beam_size %d", options->n_best,
                           options->beam_size);
    if (options->batch_size < 0 || options->batch_size > MOST_BATCH)
        return status_fail(STATUS_USAGE, "batch_size is %d, not 0 to %d", options->batch_size, MOST_BATCH);
    if (options->attention < ATTN_MT_NO_ATTENTION || options->attention > ATTN_MT_SUBWORDS)
        return status_fail(STATUS_USAGE, "there is no level %d of attention", options->attention);
    TRY(check_accelerator(options->accelerator));
    if (options->shortlist < 0 || options->shortlist > SHORTLIST_MOST)
        return status_fail(STATUS_USAGE, "shortlist is %d, not 0 to %d", options->shortlist, SHORTLIST_MOST);
    if (options->shortlist > 0) TRY(ensemble_check_shortlists(&model->models, &model->paths));
    for (size_t i = 0; i < sizeof options->reserved / sizeof *options->reserved; i++)
        if (options->reserved[i] != 0) return status_fail(STATUS_USAGE, "reserved[%zu] is not 0", i);
    return STATUS_OK;
}

/* Copies the program's guide, which can be shorter or longer than ours. */
static Status read_guide(const attn_mt_model *model, const attn_mt_guide *given, attn_mt_guide *guide) {
    enum { MOST_SIZE = 4096 };
    *guide = (attn_mt_guide){.memory_threshold = 0.75};
    if (!given) return STATUS_OK;
    if (given->size < offsetof(attn_mt_guide, glossary) || given->size > MOST_SIZE)
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
    return STATUS_OK;
}

static TranslatorOptions translator_options(const Call *call) {
    const attn_mt_options *requested = &call->options;
    const attn_mt_guide *guide = &call->guide;
    const char *target = guide->target_language ? guide->target_language : call->model->target_language;
    TranslatorOptions options = {.split = requested->split,
                                 .wrapped = requested->markup,
                                 .tags = requested->markup || guide->tags,
                                 .tags_aside = requested->markup,
                                 .accelerator = (AcceleratorKind)requested->accelerator,
                                 .translate_symbols = call->model->models.translates_symbols,
                                 .target_language = (char *)target,
                                 .glossary = guide->glossary ? guide->glossary->terms : NULL,
                                 .memory = guide->memory ? guide->memory->pairs : NULL,
                                 .memory_threshold = guide->memory_threshold,
                                 .quiet = true,
                                 .progress = requested->progress,
                                 .progress_context = requested->progress_context};
    DecodeOptions *decode = &options.search.decode;
    *decode = decode_options_bound(seq2seq_config(call->model->models.items[0])->decode);
    if (requested->beam_size > 0) decode->beam_size = requested->beam_size;
    if (requested->n_best > decode->beam_size) decode->beam_size = requested->n_best;
    if (requested->batch_size > 0) decode->mini_batch = requested->batch_size;
    options.search.shortlist = requested->shortlist;
    options.search.n_best =
        requested->n_best > 1 ? decode->beam_size : 1; /* several hypotheses can have the same text */
    options.search.attention = requested->attention != ATTN_MT_NO_ATTENTION;
    options.search.choice = (AttentionChoice){ATTENTION_MEAN, ATTENTION_MEAN};
    return options;
}

/* Prepares the search. Each call has its own tokenizers. */
static Status call_begin(Call *call) {
    const Ensemble *models = &call->model->models;
    TranslatorOptions options = translator_options(call);
    call->views = mem_alloc((size_t)models->count, sizeof *call->views);
    for (int m = 0; m < models->count; m++) call->views[m] = seq2seq_view(models->items[m]);
    call->workers = workers_new(1);
    if (!call->options.markup)
        call->translations = mem_alloc((size_t)call->count, sizeof *call->translations);
    return translator_new(&call->translator, call->views, models->count, &options, call->workers);
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
    translator_run(call->translator, attributes.texts, NULL, attributes.total, 1, call->translations);
    StrView *values = mem_alloc((size_t)attributes.total, sizeof *values);
    StrBuf language = {0};
    html_language(strbuf_view(&call->model->models.target_language), &language);
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
        translator_run(call->translator, call->texts, NULL, call->count, 1, call->translations);
    for (int i = 0; i < call->count; i++) translation_keep_different(&call->translations[i], most);
}

static Status search(Call *call) {
    if (call->references)
        translator_force(call->translator, call->texts, call->references, call->count, call->translations);
    else
        translate(call);
    return translator_check_finite(call->translator, &call->model->paths);
}

static attn_mt_candidate candidate_of(const Call *call, int text, const TranslationItem *item) {
    attn_mt_candidate candidate = {
        strbuf_text(&item->text), item->score, item->normalized, item->steps, item->token_scores, 0};
    for (int kind = 0; kind < PROBLEM_KINDS; kind++)
        if (item->problems[kind] && !call->references) candidate.problems |= 1 << kind;
    bool impossible =
        call->references && call->translations[text].chunks == 0 && !unicode_is_blank(call->references[text]);
    if (impossible) candidate.log_p = candidate.score = -INFINITY;
    return candidate;
}

static attn_mt_matrix matrix_of(const Call *call, const Translation *translation, int rank) {
    Alignment alignment;
    AlignmentLevel level = call->options.attention == ATTN_MT_WORDS ? ALIGNMENT_WORD : ALIGNMENT_SUBWORD;
    alignment_make(&alignment, translation, rank, level, seq2seq_source(call->views[0]),
                   seq2seq_target(call->views[0]));
    return (attn_mt_matrix){alignment.rows, alignment.columns, alignment_matrix(&alignment),
                            (const char *const *)alignment.row_labels,
                            (const char *const *)alignment.column_labels};
}

/* The text of tokens [count] of the target; `unknown`: texts of the <unk>s from here on, which it skips. */
static const char *spell(const Call *call, const int *ids, int count, StrList *unknown) {
    StrBuf text = {0};
    tokenizer_decode_spelled(seq2seq_target(call->views[0]), ids, (size_t)count, unknown, &text);
    unknown_skip(unknown, ids, count);
    return strbuf_text(&text);
}

static const char *const *tokens_of(const Call *call, const TranslationItem *item) {
    const Tokenizer *target = seq2seq_target(call->views[0]);
    const char **tokens = mem_alloc((size_t)item->steps, sizeof *tokens);
    for (int t = 0; t < item->steps; t++) {
        StrBuf label = {0};
        if (t < item->length) tokenizer_label(target, item->ids[t], &label);
        tokens[t] = t < item->length ? strbuf_text(&label) : "</s>";
    }
    return tokens;
}

static attn_mt_confidence confidence_at(const Call *call, const Translation *translation, int rank) {
    const TranslationItem *item = &translation->items[rank];
    double *words = mem_alloc((size_t)item->words, sizeof *words);
    const char **labels = mem_alloc((size_t)item->words, sizeof *labels);
    const Calibration *calibration = &call->model->calibration;
    double whole = confidence_of(calibration, item, words);
    StrList unknown = translation->target_unknown;
    for (int t = 0, w = 0; t < item->length; w++) {
        int first = t;
        while (t < item->length && item->word[t] == item->word[first]) t++;
        labels[w] = spell(call, item->ids + first, t - first, &unknown);
    }
    return (attn_mt_confidence){whole, calibration->words > 0, item->words, labels, words};
}

static const char *copy_of(StrView text) {
    StrBuf copy = {0};
    strbuf_add(&copy, text);
    return strbuf_text(&copy);
}

static Text text_of(const Call *call, int t) {
    const Translation *translation = &call->translations[t];
    const MemoryMatch *match = &translation->match;
    size_t count = (size_t)translation->count;
    bool attention = call->options.attention != ATTN_MT_NO_ATTENTION && translation->chunks > 0;
    Text text = {.candidates = mem_alloc(count, sizeof *text.candidates), .count = translation->count};
    bool confidence = call->guide.confidence && translation->chunks > 0;
    if (attention) text.matrices = mem_alloc(count, sizeof *text.matrices);
    if (confidence) text.confidences = mem_alloc(count, sizeof *text.confidences);
    text.tokens = mem_alloc(count, sizeof *text.tokens);
    for (int rank = 0; rank < translation->count; rank++) {
        text.candidates[rank] = candidate_of(call, t, &translation->items[rank]);
        text.tokens[rank] = tokens_of(call, &translation->items[rank]);
        if (attention) text.matrices[rank] = matrix_of(call, translation, rank);
        if (confidence) text.confidences[rank] = confidence_at(call, translation, rank);
    }
    if (match->similarity > 0)
        text.match = (attn_mt_match){match->similarity, copy_of(match->source), copy_of(match->target),
                                     translation->from_memory};
    return text;
}

/* Frees the search; texts and scores stay, because candidates point to them. */
static void call_end(Call *call) {
    translator_free(call->translator);
    workers_free(call->workers);
    for (int m = 0; m < call->model->models.count; m++) seq2seq_free((Seq2Seq *)call->views[m]);
    mem_free(call->views);
}

/* The arguments of a call, and its result. */
typedef struct {
    const attn_mt_model *model;
    bool score; /* attn_mt_score; otherwise `translations` is unused */
    const char *const *texts, *const *translations;
    int count;
    const attn_mt_options *options;
    attn_mt_result *result;
    Status status;
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
    if (arguments->score) TRY(check_strings("translations", arguments->translations, arguments->count));
    call.texts = views_of(arguments->texts, arguments->count);
    call.references = arguments->score ? views_of(arguments->translations, arguments->count) : NULL;
    TRY(call_begin(&call));
    TRY(search(&call));
    attn_mt_result *result = mem_alloc(1, sizeof *result);
    result->texts = mem_alloc((size_t)call.count, sizeof *result->texts);
    result->count = call.count;
    for (int t = 0; t < call.count; t++) result->texts[t] = text_of(&call, t);
    call_end(&call);
    arguments->result = result;
    return STATUS_OK;
}

static void run_call_in_scope(void *context) {
    CallArguments *arguments = context;
    arguments->status = run_call(arguments);
}

static attn_mt_status start_call(CallArguments *arguments, attn_mt_result **result, attn_mt_error *error) {
    MemScope *scope;
    if (!result) return fail_null(error, "result is NULL");
    *result = NULL;
    if (!arguments->model) return fail_null(error, "model is NULL");
    size_t limit = arguments->options ? arguments->options->memory_limit : 0;
    attn_mt_status status = run(&scope, limit, run_call_in_scope, arguments, &arguments->status, error);
    if (status != ATTN_MT_OK) return status;
    arguments->result->scope = scope;
    *result = arguments->result;
    return ATTN_MT_OK;
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

/* ---- results ---- */

static const Text *text_at(const attn_mt_result *result, int text, int rank) {
    if (!result || text < 0 || text >= result->count || rank < 0 || rank >= result->texts[text].count)
        return NULL;
    return &result->texts[text];
}

const attn_mt_candidate *attn_mt_candidate_at(const attn_mt_result *result, int text, int rank) {
    const Text *entry = text_at(result, text, rank);
    return entry ? &entry->candidates[rank] : NULL;
}

const attn_mt_matrix *attn_mt_attention(const attn_mt_result *result, int text, int rank) {
    const Text *entry = text_at(result, text, rank);
    return entry && entry->matrices ? &entry->matrices[rank] : NULL;
}

const char *const *attn_mt_tokens_at(const attn_mt_result *result, int text, int rank) {
    const Text *entry = text_at(result, text, rank);
    return entry ? entry->tokens[rank] : NULL;
}

const attn_mt_confidence *attn_mt_confidence_at(const attn_mt_result *result, int text, int rank) {
    const Text *entry = text_at(result, text, rank);
    return entry && entry->confidences ? &entry->confidences[rank] : NULL;
}

const attn_mt_match *attn_mt_match_at(const attn_mt_result *result, int text) {
    const Text *entry = text_at(result, text, 0);
    return entry && entry->match.source ? &entry->match : NULL;
}

void attn_mt_release(attn_mt_result *result) {
    if (result) mem_scope_free(result->scope);
}
