/* models_add.c - see models_add.h. */
#include "cli/models_add.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/workers.h"
#include "config/config.h"
#include "foreign/import.h"
#include "io/fileio.h"
#include "models/registry.h"
#include "search/ensemble.h"
#include "text/languages.h"
#include "translate/translator.h"

/* ---- the name ---- */

static bool is_best(StrView name) { return sv_equal(name, SV("best")) || sv_equal(name, SV("last")); }

/* The last part of a path, without slashes at its end; what is before it goes to *folder. */
static StrView last_part(StrView path, StrView *folder) {
    while (path.length > 1 && path.data[path.length - 1] == '/') path.length--;
    size_t start = path.length;
    while (start > 0 && path.data[start - 1] != '/') start--;
    *folder = (StrView){path.data, start};
    return (StrView){path.data + start, path.length - start};
}

/* "opus-mt-en-fr" of "models/opus-mt-en-fr.zip"; "mine" of "runs/mine/best.safetensors". */
static void name_from_path(const char *path, StrBuf *name) {
    static const char *const EXTENSIONS[] = {"safetensors", "argosmodel", "zip", "tar", "npz", "bin", "gz"};
    StrView folder, part = last_part(sv(path), &folder), rest;
    bool cut = !foreign_is_archive(path) || file_size(path) >= 0; /* the name of a folder stays whole */
    for (size_t i = 0; cut && i < 2 * sizeof EXTENSIONS / sizeof *EXTENSIONS; i++)
        sv_cut_extension(&part, sv(EXTENSIONS[i % (sizeof EXTENSIONS / sizeof *EXTENSIONS)]));
    if (is_best(part) && folder.length > 0) part = last_part(folder, &rest);
    strbuf_add(name, part);
}

static Status check_name(StrView name) {
    enum { LONGEST = 200 };
    bool path = memchr(name.data, '/', name.length);
    if (name.length > 0 && name.length <= LONGEST && name.data[0] != '.' && !path) return STATUS_OK;
    status_fail(STATUS_USAGE, "'%.*s' cannot be the name of a model", SV_ARG(name));
    return status_hint(STATUS_USAGE,
                       "--name gives another; a name has no '/', does not begin with '.', and has "
                       "at most 200 bytes");
}

/* ---- the trial ---- */

/* "Where is the station?" */
static const char *const SENTENCES[][2] = {
    {"en", "Where is the station?"},
    {"de", "Wo ist der Bahnhof?"},
    {"fr", "Où est la gare ?"},
    {"es", "¿Dónde está la estación?"},
    {"pt", "Onde fica a estação?"},
    {"it", "Dov'è la stazione?"},
    {"nl", "Waar is het station?"},
    {"pl", "Gdzie jest dworzec?"},
    {"cs", "Kde je nádraží?"},
    {"ru", "Где вокзал?"},
    {"uk", "Де вокзал?"},
    {"sv", "Var ligger stationen?"},
    {"da", "Hvor er stationen?"},
    {"tr", "İstasyon nerede?"},
    {"zh", "车站在哪里？"},
    {"ja", "駅はどこですか。"},
    {"ko", "역은 어디에 있습니까?"},
    {"ar", "أين المحطة؟"},
};

static const char *sentence_of(StrView language) {
    StrView code = language_code(language);
    for (size_t i = 0; i < sizeof SENTENCES / sizeof *SENTENCES; i++)
        if (sv_equal(code, sv(SENTENCES[i][0]))) return SENTENCES[i][1];
    return NULL;
}

static Status translate_sentence(const Ensemble *models, const ModelInfo *info, const char *sentence) {
    TranslatorOptions options = {.quiet = true, .search.n_best = 1, .translate_symbols = true};
    UserOptions none = {0};
    OptionTable tables[] = {{DECODE_OPTIONS, &options.search.decode}, {0}};
    options_defaults(tables);
    ensemble_apply_defaults(models, &none, &options.search.decode);
    if (info->chooses_target && info->targets.count > 0) options.target_language = info->targets.items[0];
    Workers *workers = workers_new(workers_default_count());
    Translator *translator;
    Translation translation = {0};
    StrView line = sv(sentence);
    Status status = translator_new(&translator, ensemble_items(models), models->count, &options, workers);
    if (status == STATUS_OK) {
        translator_run(translator, &line, NULL, 1, 1, &translation);
        if (translator_first_nonfinite(translator) >= 0)
            status = status_fail(STATUS_DATA, "the model computes scores that are not finite");
        else
            log_info("test     %s -> %.*s", sentence, SV_ARG(strbuf_view(&translation.items[0].text)));
        translation_free(&translation);
        translator_free(translator);
    }
    workers_free(workers);
    return status;
}

/* Loads the file, and translates a sentence if its language is known. */
static Status try_model(const char *path, const ModelInfo *info) {
    Ensemble models = {0};
    StrList paths = {0};
    strlist_add(&paths, sv(path));
    Status status = ensemble_load(&models, &paths, WEIGHT_FLOAT32, false);
    const char *sentence = sentence_of(sv(info->source));
    if (status == STATUS_OK && sentence) status = translate_sentence(&models, info, sentence);
    ensemble_free(&models);
    strlist_free(&paths);
    return status;
}

/* ---- adding ---- */

static Status fail_taken(const char *path, const char *name) {
    status_fail(STATUS_USAGE, "there is a model '%s' already: '%s'", name, path);
    return status_hint(STATUS_USAGE, "--name gives another name, --overwrite replaces it");
}

/* Does the file lack languages, and is the name a pair of known ones, "en-pt"? */
static bool take_languages(const char *hidden, const char *name, StrView *source, StrView *target) {
    ModelInfo info;
    Language language;
    if (modelfile_read_info(&info, hidden) != STATUS_OK) return false;
    bool unknown = !info.source[0] && info.targets.count == 0;
    model_info_free(&info);
    return unknown && languages_split(name, source, target) == STATUS_OK &&
           language_read(*source, &language) && language_read(*target, &language);
}

/* Writes the model to the hidden file `hidden`. Languages that nothing else tells may be in its name. */
static Status write_model(const char *path, const ModelsAddOptions *options, const char *name,
                          const char *hidden) {
    StrView source = {0}, target = {0};
    bool copies = !foreign_is_archive(path) && options->convert.precision == PRECISION_AUTO;
    if (options->languages) TRY(languages_split(options->languages, &source, &target));
    if (copies)
        TRY(modelfile_copy(path, source, target, hidden));
    else
        TRY(model_convert(path, &options->convert, hidden, NULL));
    bool missing = options->languages ? !copies : take_languages(hidden, name, &source, &target);
    return missing ? modelfile_copy(hidden, source, target, hidden) : STATUS_OK;
}

/* Gives the file its name. link fails if the name exists. */
static Status publish(const char *hidden, const char *path, const char *name, bool overwrite) {
    bool failed = overwrite ? rename(hidden, path) != 0 : link(hidden, path) != 0;
    if (!failed) return STATUS_OK;
    if (errno == EEXIST) return fail_taken(path, name);
    return status_fail(STATUS_RUNTIME, "cannot write '%.700s': %s", path, strerror(errno));
}

static void report(const ModelInfo *info, const char *name) {
    StrBuf targets = {0};
    for (size_t i = 0; i < info->targets.count && i < 5; i++)
        strbuf_format(&targets, "%s%s", i ? ", " : "", info->targets.items[i]);
    if (info->source[0] && targets.length > 0)
        log_info("added    '%s': from %s to %s%s", name, info->source, strbuf_text(&targets),
                 info->targets.count > 5 ? ", ..." : "");
    else
        log_info("added    '%s', whose languages are unknown: --languages en-de --overwrite names them",
                 name);
    strbuf_free(&targets);
}

static Status add_to(const char *folder, const char *name, const char *path,
                     const ModelsAddOptions *options) {
    StrBuf hidden = {0}, final = {0};
    ModelInfo info;
    strbuf_format(&hidden, "%s/.%s.%ld", folder, name, (long)getpid());
    strbuf_format(&final, "%s/%s" MODEL_SUFFIX, folder, name);
    const char *to = strbuf_text(&final);
    Status status = !options->overwrite && file_exists(to) ? fail_taken(to, name) : STATUS_OK;
    if (status == STATUS_OK) status = write_model(path, options, name, strbuf_text(&hidden));
    if (status == STATUS_OK && (status = modelfile_read_info(&info, strbuf_text(&hidden))) == STATUS_OK) {
        status = try_model(strbuf_text(&hidden), &info);
        if (status == STATUS_OK) status = publish(strbuf_text(&hidden), to, name, options->overwrite);
        if (status == STATUS_OK) report(&info, name);
        model_info_free(&info);
    }
    unlink(strbuf_text(&hidden));
    strbuf_free(&hidden);
    strbuf_free(&final);
    return status;
}

Status models_add(const char *path, const ModelsAddOptions *options) {
    StrBuf name = {0}, folder = {0}, file = {0};
    bool is_name = !strchr(path, '/') && !sv_ends(sv(path), SV(MODEL_SUFFIX));
    if (is_name && !file_exists(path))
        return status_fail(STATUS_RUNTIME, "cannot open '%.700s': %s", path, strerror(ENOENT));
    if (options->name)
        strbuf_add(&name, sv(options->name));
    else
        name_from_path(path, &name);
    Status status = check_name(strbuf_view(&name));
    if (status == STATUS_OK && !strchr(path, '/') && file_exists(path)) strbuf_add(&file, SV("./"));
    strbuf_add(&file, sv(path));
    StrBuf model = {0};
    if (status == STATUS_OK) status = registry_path(strbuf_text(&file), &model);
    if (status == STATUS_OK) status = registry_user_folder(&folder);
    if (status == STATUS_OK) status = file_make_dirs(strbuf_text(&folder), NULL);
    if (status == STATUS_OK)
        status = add_to(strbuf_text(&folder), strbuf_text(&name), strbuf_text(&model), options);
    strbuf_free(&model);
    strbuf_free(&name);
    strbuf_free(&folder);
    strbuf_free(&file);
    return status;
}
