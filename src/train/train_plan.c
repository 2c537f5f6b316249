/* train_plan.c - see train_plan.h. */
#include "train/train_plan.h"

#include <string.h>
#include "io/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/options.h"
#include "bleu/bleu_tokenizers.h"
#include "models/modelfile.h"
#include "tokenizer/bpe.h"
#include "text/languages.h"
#include "data/columns.h"
#include "train/checkpoint.h"
#include "config/auto_config.h"

static void set_string(const TrainPlan *plan, const char *key, StrView value) {
    OptionTable tables[6];
    void *field;
    config_tables(plan->config, tables);
    const Option *row = option_by_key(tables, sv(key), &field);
    char **text = field;
    char *copy = mem_strndup(value.data, value.length);
    mem_free(*text);
    *text = copy;
    user_options_add(plan->user_options, row);
}

Status train_plan_files(const TrainPlan *plan) {
    StrList *train = &plan->config->data.train;
    const StrList *files = plan->files;
    if (!files->count) return STATUS_OK;
    bool named = option_is_given(plan->user_options, "data.train") && train->count > 0;
    if (named && plan->without_config) {
        status_fail(STATUS_USAGE, "training pairs are given twice: '%s' as FILE, '%s' as data.train",
                    files->items[0], train->items[0]);
        return status_hint(STATUS_USAGE, "give all of them as FILE");
    }
    if (named) log_info("pairs    of '%s', not of data.train", files->items[0]);
    strlist_free(train);
    for (size_t i = 0; i < files->count; i++) strlist_add(train, sv(files->items[i]));
    return STATUS_OK;
}

/* ---- resuming ------------------------------------------------------------------------------------------ */

/* These options do not come from the run: it ended because of them. */
static bool ends_run(const char *key) {
    return !strcmp(key, "train.max_updates") || !strcmp(key, "train.max_minutes") ||
           !strcmp(key, "train.patience");
}

/* Options that the user did not set come from the run, because model.size=auto must not choose twice. */
static Status take_saved(const TrainPlan *plan) {
    Config saved;
    OptionTable current[6], saved_tables[6];
    Status status = checkpoint_load_config(plan->resume, &saved);
    config_tables(plan->config, current);
    config_tables(&saved, saved_tables);
    for (int t = 0; current[t].rows && status == STATUS_OK; t++)
        for (const Option *row = current[t].rows; !option_row_ends(row); row++) {
            if (option_is_given(plan->user_options, row->key) || ends_run(row->key)) continue;
            const char *text = row->type == OPT_STRING ? *(char **)option_field(&saved_tables[t], row) : NULL;
            if (text) set_string(plan, row->key, sv(text));
            if (row->type != OPT_STRING && row->type != OPT_LIST)
                option_copy(row, option_field(&current[t], row), option_field(&saved_tables[t], row));
        }
    config_free(&saved);
    return status;
}

/* ---- languages ----------------------------------------------------------------------------------------- */

static void set_languages(const TrainPlan *plan, const Columns *columns) {
    StrBuf names = {0};
    columns_format(columns, &names);
    set_string(plan, "data.source", columns->source_name);
    set_string(plan, "data.target", columns->target_name);
    if (!option_is_given(plan->user_options, "data.columns"))
        set_string(plan, "data.columns", strbuf_view(&names));
    strbuf_free(&names);
}

/* --languages must agree with data.source and data.target of the same command line, but overrides those of a
 * configuration. */
static Status check_name(const TrainPlan *plan, const char *key, const char *name, StrView language) {
    if (!plan->without_config || !option_is_given(plan->user_options, key) ||
        language_names_match(sv(name), language))
        return STATUS_OK;
    status_fail(STATUS_USAGE, "--languages %s, but %s is '%s'", plan->languages, key, name);
    return status_hint(STATUS_USAGE, "remove one of them");
}

/* --languages contradicts neither the other options nor the first line. */
static Status check_languages(const TrainPlan *plan, const ColumnHints *hints) {
    StrView source, target;
    if (!plan->languages) return STATUS_OK;
    TRY(languages_split(plan->languages, &source, &target));
    TRY(check_name(plan, "data.source", plan->config->data.source, source));
    TRY(check_name(plan, "data.target", plan->config->data.target, target));
    return columns_check_languages(hints);
}

/* The languages of the model to start from; empty if unknown. */
typedef struct {
    StrBuf source, target;
} ModelLanguages;

/* Other languages are a warning, not an error. */
static void compare_languages(const TrainPlan *plan, const ModelLanguages *model) {
    StrView source = strbuf_view(&model->source), target = strbuf_view(&model->target);
    const DataOptions *data = &plan->config->data;
    if (!data->source || !data->target) return;
    if (!directions_differ(source, target, sv(data->source), sv(data->target))) return;
    log_warn("'%s' translates from %.*s to %.*s, these pairs are from %s to %s", plan->init, SV_ARG(source),
             SV_ARG(target), data->source, data->target);
}

/* Without names the columns are source and target, which files named by a pattern cannot be. */
static Status check_neutral_names(const TrainPlan *plan) {
    const StrList *files = &plan->config->data.train;
    for (size_t i = 0; i < files->count; i++)
        if (strstr(files->items[i], "{}"))
            return status_hint(
                status_fail(STATUS_USAGE, "which languages does {} in '%s' stand for?", files->items[i]),
                "name them: --languages en-de");
    log_info("columns  source and target; --languages en-de names the languages");
    return STATUS_OK;
}

static bool names_are_set(const TrainPlan *plan) {
    return option_is_given(plan->user_options, "data.source") ||
           option_is_given(plan->user_options, "data.target") ||
           option_is_given(plan->user_options, "data.columns");
}

static bool is_read(const TrainPlan *plan, StrView language) {
    return language_names_match(language, sv(plan->config->data.source)) ||
           language_names_match(language, sv(plan->config->data.target));
}

/* If only data.columns is set and names two languages, the pairs are from the first to the second, unless
 * data.source and data.target are these two. */
static void use_columns(const TrainPlan *plan) {
    StrView two[2];
    if (option_is_given(plan->user_options, "data.source") ||
        option_is_given(plan->user_options, "data.target"))
        return;
    if (columns_languages(plan->config->data.columns, two) != 2) return;
    if (is_read(plan, two[0]) && is_read(plan, two[1])) return;
    set_string(plan, "data.source", two[0]);
    set_string(plan, "data.target", two[1]);
}

/* A configuration names the languages, unless --languages or a header does. */
static Status use_hints(const TrainPlan *plan, const ColumnHints *hints) {
    Columns columns;
    TRY(check_languages(plan, hints));
    TRY(columns_choose(hints, &columns));
    bool weak = columns.reason == COLUMNS_DEFAULT || columns.reason == COLUMNS_MODEL;
    if (weak && !plan->without_config) return STATUS_OK;
    if (columns.reason == COLUMNS_DEFAULT) TRY(check_neutral_names(plan));
    columns_log(&columns, hints->path);
    set_languages(plan, &columns);
    return STATUS_OK;
}

static Status choose_languages(const TrainPlan *plan, const ModelLanguages *model) {
    if (!plan->languages && names_are_set(plan)) {
        use_columns(plan);
        return STATUS_OK;
    }
    const DataOptions *data = &plan->config->data;
    const char *path = data->train.count > 0 ? data->train.items[0] : NULL;
    StrBuf first_line = {0};
    Status status = columns_read_first_line(path, plan->languages, &first_line);
    if (status == STATUS_OK)
        status = use_hints(plan, &(ColumnHints){.path = path,
                                                .first_line = strbuf_view(&first_line),
                                                .languages = plan->languages,
                                                .names = option_is_given(plan->user_options, "data.columns")
                                                             ? data->columns
                                                             : NULL,
                                                .model_source = strbuf_view(&model->source),
                                                .model_target = strbuf_view(&model->target)});
    strbuf_free(&first_line);
    return status;
}

static Status find_languages(const TrainPlan *plan, StrView provenance) {
    ModelLanguages model = {{0}, {0}};
    modelfile_languages(provenance, &model.source, &model.target);
    Status status = choose_languages(plan, &model);
    if (status == STATUS_OK) compare_languages(plan, &model);
    strbuf_free(&model.source);
    strbuf_free(&model.target);
    return status;
}

static void choose_tokenizer(const TrainPlan *plan) {
    const char *target = plan->config->data.target;
    if (!target || option_is_given(plan->user_options, "train.bleu_tokenizer")) return;
    int tokenizer = bleu_tokenizer_for(sv(target));
    if (tokenizer == 0) return;
    plan->config->train.bleu_tokenizer = tokenizer;
    log_info("BLEU     of characters, as '%s' has no spaces: train.bleu_tokenizer=%s", target,
             BLEU_TOKENIZERS[tokenizer].name);
}

/* The merges decide how words are marked; the option has no effect. */
static void compare_marker(const TrainPlan *plan) {
    static const char *const NAMES[] = {[BPE_PREFIX] = "prefix", [BPE_SUFFIX] = "suffix"};
    const TextOptions *text = &plan->config->text;
    Tokenizer *codes;
    if (text->tokenizer != TOKENIZER_BPE || !text->bpe_codes || !text->bpe_codes[0]) return;
    if (!option_is_given(plan->user_options, "text.bpe_marker")) return;
    if (tokenizer_begin(&codes, text) != STATUS_OK) return; /* training reports the error */
    int marker = tokenizer_marks_ends(codes) ? BPE_SUFFIX : BPE_PREFIX;
    if (text->bpe_marker != marker)
        log_warn("text.bpe_marker=%s has no effect: the merges in '%s' are of text.bpe_marker=%s",
                 NAMES[text->bpe_marker], text->bpe_codes, NAMES[marker]);
    tokenizer_free(codes);
}

/* ---- starting from a model ----------------------------------------------------------------------------- */

/* May the option differ from the model to start from? It does not show in the weights or the vocabulary. */
static bool is_independent(const Option *row) {
    return row->type == OPT_STRING || strstr(row->key, "dropout") || !strcmp(row->key, "model.size") ||
           !strcmp(row->key, "model.embedding_scale") || !strcmp(row->key, "text.min_count") ||
           !strcmp(row->key, "text.max_vocab");
}

static Status check_same(const TrainPlan *plan, const Option *row, const void *value,
                         const void *model_value) {
    bool vocabulary = plan->vocabulary_only;
    StrBuf a = {0}, b = {0};
    option_to_json(row, model_value, &a);
    option_to_json(row, value, &b);
    Status s = STATUS_OK;
    if (!sv_equal(strbuf_view(&a), strbuf_view(&b))) {
        s = status_fail(STATUS_USAGE, "%s'%s' cannot be %s: its %s is %s, here it is %s",
                        vocabulary ? "the vocabulary of " : "", plan->init,
                        vocabulary ? "taken" : "started from", row->key, strbuf_text(&a), strbuf_text(&b));
        status_hint(s, "remove %s: a model has %sits own vocabulary", row->key,
                    vocabulary ? "" : "its sizes and ");
    }
    strbuf_free(&a);
    strbuf_free(&b);
    return s;
}

/* Takes the sections text and model, or text alone. */
static Status take_model(const TrainPlan *plan, const Seq2Seq *model) {
    Config model_config = config_view(seq2seq_config(model));
    OptionTable current[6], model_tables[6];
    config_tables(plan->config, current);
    config_tables(&model_config, model_tables);
    for (int t = 1; t <= (plan->vocabulary_only ? 1 : 2); t++)
        for (const Option *row = current[t].rows; !option_row_ends(row); row++) {
            void *field = option_field(&current[t], row);
            const void *model_field = option_field(&model_tables[t], row);
            if (!option_is_given(plan->user_options, row->key) && row->type != OPT_STRING &&
                strcmp(row->key, "model.size") != 0) {
                option_copy(row, field, model_field);
                user_options_add(plan->user_options, row);
            } else if (!is_independent(row)) {
                TRY(check_same(plan, row, field, model_field));
            }
        }
    return STATUS_OK;
}

/* ---- the whole plan ------------------------------------------------------------------------------------ */

static Status choose_sizes(const TrainPlan *plan) {
    Config *c = plan->config;
    bool hold_out =
        plan->without_config && !c->data.valid.count && !option_is_given(plan->user_options, "data.held_out");
    DataSize size;
    if (!c->data.train.count || (c->model.size != SIZE_AUTO && !hold_out)) return STATUS_OK;
    Workers *workers = workers_new(plan->threads ? plan->threads : workers_default_count());
    Status status = auto_config_measure(c, workers, &size);
    workers_free(workers);
    TRY(status);
    if (hold_out) {
        c->data.held_out = auto_config_held_out_fraction(size.pairs);
        log_info("held out a share of %g of the pairs, for validation; --set data.valid=FILE names others",
                 c->data.held_out);
    }
    if (c->model.size == SIZE_AUTO)
        auto_config_choose(c, plan->user_options, size, plan->init && !plan->vocabulary_only);
    return STATUS_OK;
}

Status train_plan(const TrainPlan *plan, Seq2Seq **init) {
    Config *c = plan->config;
    StrBuf provenance = {0};
    *init = NULL;
    if (plan->without_config && !option_is_given(plan->user_options, "model.size")) c->model.size = SIZE_AUTO;
    Status status = STATUS_OK;
    bool saved = plan->resume && c->model.size == SIZE_AUTO;
    if (plan->init) status = modelfile_load_exact(init, plan->init, &provenance);
    if (status == STATUS_OK && saved) status = take_saved(plan);
    if (status == STATUS_OK && *init && !saved) status = take_model(plan, *init);
    if (status == STATUS_OK) status = find_languages(plan, strbuf_view(&provenance));
    if (status == STATUS_OK && !saved) choose_tokenizer(plan);
    if (status == STATUS_OK && !*init) compare_marker(plan);
    if (status == STATUS_OK && !saved) status = choose_sizes(plan);
    strbuf_free(&provenance);
    return status;
}
