/* model_choice.c - see model_choice.h. */
#include "cli/model_choice.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/log.h"
#include "base/mem.h"
#include "models/registry.h"
#include "text/detect.h"
#include "text/languages.h"

#define RUNS "runs"

Status model_choice_list(const StrList *models, StrList *paths) {
    Status status = STATUS_OK;
    for (size_t i = 0; i < models->count && status == STATUS_OK; i++) {
        StrBuf path = {0};
        status = registry_path(models->items[i], &path);
        if (status == STATUS_OK && file_exists(models->items[i]) &&
            strcmp(models->items[i], path.data) != 0 && !sv_starts(strbuf_view(&path), sv(models->items[i])))
            log_warn(
                "'%s' is both a model of 'attn-mt models' and a file here; this is the model, and './%s' the "
                "file",
                models->items[i], models->items[i]);
        if (status == STATUS_OK) strlist_add(paths, strbuf_view(&path));
        strbuf_free(&path);
    }
    return status;
}

Status model_choice_paths(StrList *models) {
    StrList paths = {0};
    Status status = model_choice_list(models, &paths);
    if (status != STATUS_OK) {
        strlist_free(&paths);
        return status;
    }
    strlist_free(models);
    *models = paths;
    return STATUS_OK;
}

/* ---- models that are given, and --languages ---- */

static void set_target(char **target, const char *name) {
    if (target && !*target) *target = mem_strdup(name);
}

/* "fra, eng": at most 20. */
static void list_targets(const ModelInfo *info, StrBuf *out) {
    enum { MOST = 20 };
    for (size_t i = 0; i < info->targets.count && i < MOST; i++)
        strbuf_format(out, "%s%s", i ? ", " : "", info->targets.items[i]);
    if (info->targets.count > MOST) strbuf_add(out, SV(", ..."));
}

static Status fail_languages(const char *path, const ModelInfo *info, StrView source, StrView target) {
    StrBuf targets = {0};
    list_targets(info, &targets);
    status_fail(STATUS_USAGE, "'%.400s' translates from %s to %s, not from %.*s to %.*s", path, info->source,
                strbuf_text(&targets), SV_ARG(source), SV_ARG(target));
    strbuf_free(&targets);
    return status_hint(STATUS_USAGE, "without --model, --languages chooses a model");
}

/* Does this model translate the pair? Then *step tells with which language token. */
static bool translates(const RegistryModel *model, StrView source, StrView target, RegistryStep *step) {
    RegistryStep steps[REGISTRY_STEPS];
    Registry alone = {.items = (RegistryModel *)model, .count = 1};
    if (registry_route(&alone, source, target, 1, steps) == 0) return false;
    *step = steps[0];
    return true;
}

/* Can this model translate the pair? If its languages are unknown, it may. */
static Status check_languages(const char *path, StrView source, StrView target, char **token) {
    ModelInfo info;
    RegistryStep step;
    TRY(modelfile_read_info(&info, path));
    RegistryModel model = {.name = (char *)path, .path = (char *)path, .info = info};
    Status status = STATUS_OK;
    if (info.source[0] && info.targets.count > 0) {
        if (!translates(&model, source, target, &step))
            status = fail_languages(path, &info, source, target);
        else if (step.chooses_target)
            set_target(token, step.target);
    }
    model_info_free(&info);
    return status;
}

/* ---- models that are not given ---- */

static void warn_of_damaged(const Registry *registry, bool quiet) {
    for (size_t i = 0; i < registry->damaged_count && !quiet; i++)
        log_warn("left out: %s", registry->damaged[i].reason);
}

/* Takes the model, and says why. */
static void take(StrList *models, const RegistryModel *model, bool quiet, const char *why) {
    if (!quiet) log_info("model    '%s': %s", model->info.source[0] ? model->name : model->path, why);
    strlist_add(models, sv(model->path));
}

/* Of the runs below runs/ the newest that translates the pair; any if `source` is empty. */
static bool take_newest_run(StrList *models, StrView source, StrView target, bool quiet, char **token) {
    Registry runs;
    RegistryStep step = {0}, newest_step = {0};
    registry_open_runs(&runs, RUNS);
    const RegistryModel *newest = NULL;
    struct stat info, newest_info = {0};
    for (size_t i = 0; i < runs.count; i++) {
        if (source.length > 0 && !translates(&runs.items[i], source, target, &step)) continue;
        if (stat(runs.items[i].path, &info) != 0) continue;
        bool newer = !newest || info.st_mtim.tv_sec > newest_info.st_mtim.tv_sec ||
                     (info.st_mtim.tv_sec == newest_info.st_mtim.tv_sec &&
                      info.st_mtim.tv_nsec > newest_info.st_mtim.tv_nsec);
        if (newer) newest = &runs.items[i], newest_info = info, newest_step = step;
    }
    if (newest) {
        if (newest_step.chooses_target) set_target(token, newest_step.target);
        if (!quiet)
            log_info("model    %s: the newest below " RUNS "/%s", newest->path,
                     source.length ? " of these languages" : "");
        strlist_add(models, sv(newest->path));
    }
    warn_of_damaged(&runs, quiet || newest);
    registry_free(&runs);
    return newest;
}

/* "en-de, de-en": the pairs of all models, at most 20. */
static void list_pairs(const Registry *registry, StrBuf *out) {
    enum { MOST = 20 };
    size_t count = 0;
    for (size_t i = 0; i < registry->count; i++) {
        const ModelInfo *info = &registry->items[i].info;
        for (size_t t = 0; t < info->targets.count && info->source[0]; t++)
            if (count++ < MOST)
                strbuf_format(out, "%s%s-%s", out->length ? ", " : "", info->source, info->targets.items[t]);
    }
    if (count > MOST) strbuf_add(out, SV(", ..."));
}

static Status fail_pair(const Registry *registry, StrView source, StrView target) {
    StrBuf pairs = {0};
    char *near_source = language_nearest(source), *near_target = language_nearest(target);
    list_pairs(registry, &pairs);
    status_fail(STATUS_USAGE, "no model translates from %.*s to %.*s", SV_ARG(source), SV_ARG(target));
    if (near_source || near_target)
        status_hint(STATUS_USAGE, "did you mean '%s'?", near_source ? near_source : near_target);
    else if (pairs.length > 0)
        status_hint(STATUS_USAGE, "there are %s; 'attn-mt models add PATH' adds one", strbuf_text(&pairs));
    else
        status_hint(STATUS_USAGE, "no models are installed: 'attn-mt models add PATH' adds one");
    mem_free(near_source);
    mem_free(near_target);
    strbuf_free(&pairs);
    return STATUS_USAGE;
}

/* "fr to en to de" */
static void log_route(const RegistryStep *steps, int count) {
    StrBuf text = {0};
    strbuf_format(&text, "'%s'", steps[0].model->name);
    for (int i = 1; i < count; i++) strbuf_format(&text, ", then '%s'", steps[i].model->name);
    strbuf_format(&text, ": translates from %s", steps[0].source);
    for (int i = 0; i < count; i++) strbuf_format(&text, " to %s", steps[i].target);
    log_info("model    %s", strbuf_text(&text));
    strbuf_free(&text);
}

static Status choose_by_languages(StrList *models, const Registry *registry, StrView source, StrView target,
                                  bool quiet, char **token, PivotRoute *route) {
    RegistryStep steps[REGISTRY_STEPS];
    int count = registry_route(registry, source, target, 1, steps);
    if (count == 0 && take_newest_run(models, source, target, quiet, token)) return STATUS_OK;
    if (count == 0 && route) count = registry_route(registry, source, target, REGISTRY_STEPS, steps);
    if (count == 0) return fail_pair(registry, source, target);
    if (!quiet) log_route(steps, count);
    for (int i = 0; i < count - 1; i++) {
        strlist_add(&route->paths, sv(steps[i].model->path));
        strlist_add(&route->targets, sv(steps[i].chooses_target ? steps[i].target : ""));
    }
    if (steps[count - 1].chooses_target) set_target(token, steps[count - 1].target);
    strlist_add(models, sv(steps[count - 1].model->path));
    return STATUS_OK;
}

static Status fail_none(const Registry *registry) {
    const char *folder = registry->no_own ? "" : registry->folders.items[0];
    StrBuf names = {0};
    for (size_t i = 0; i < registry->count && i < 20; i++)
        strbuf_format(&names, "%s%s", i ? ", " : "", registry->items[i].name);
    if (registry->count > 0) {
        status_fail(STATUS_USAGE, "no model given, and several are installed: %s%s", strbuf_text(&names),
                    registry->count > 20 ? ", ..." : "");
        status_hint(STATUS_USAGE, "name one with --model NAME or with --languages, as in --languages en-de; "
                                  "ATTN_MT_MODEL can name the usual one");
    } else {
        status_fail(STATUS_USAGE, "no model given, and none is installed in '%.300s' or below " RUNS "/",
                    folder);
        status_hint(STATUS_USAGE,
                    "train one: attn-mt train mine.tsv --languages en-de --run runs/mine; add one: attn-mt "
                    "models add PATH; or name one: --model FILE");
    }
    strbuf_free(&names);
    return STATUS_USAGE;
}

static Status choose_default(StrList *models, const Registry *registry, bool quiet) {
    const char *usual = getenv("ATTN_MT_MODEL");
    if (usual && usual[0]) {
        if (!quiet) log_info("model    '%s': ATTN_MT_MODEL names it", usual);
        strlist_add(models, sv(usual));
        Status status = model_choice_paths(models);
        return status == STATUS_OK ? status : status_context(status, "ATTN_MT_MODEL");
    }
    if (registry->count == 1) {
        take(models, &registry->items[0], quiet, "the only one in the folders of models");
        return STATUS_OK;
    }
    return take_newest_run(models, (StrView){0}, (StrView){0}, quiet, NULL) ? STATUS_OK : fail_none(registry);
}

Status model_choice(StrList *models, const char *languages, bool quiet, char **target, PivotRoute *route) {
    StrView from, to;
    TRY(model_choice_paths(models));
    if (languages) TRY(languages_split(languages, &from, &to));
    for (size_t i = 0; i < models->count && languages; i++)
        TRY(check_languages(models->items[i], from, to, target));
    if (models->count > 0) return STATUS_OK;
    Registry registry;
    registry_open(&registry);
    warn_of_damaged(&registry, quiet);
    Status status = languages ? choose_by_languages(models, &registry, from, to, quiet, target, route)
                              : choose_default(models, &registry, quiet);
    registry_free(&registry);
    return status;
}

/* ---- the language of a text ---- */

static bool has_language(const StrList *languages, const char *name) {
    for (size_t i = 0; i < languages->count; i++)
        if (language_names_match(sv(languages->items[i]), sv(name))) return true;
    return false;
}

/* The languages from which there is a route to `target`, each once. */
static void list_sources(const Registry *registry, StrView target, StrList *sources) {
    RegistryStep steps[REGISTRY_STEPS];
    for (size_t i = 0; i < registry->count; i++) {
        const char *source = registry->items[i].info.source;
        if (!source[0] || has_language(sources, source) || language_names_match(sv(source), target)) continue;
        if (registry_route(registry, sv(source), target, REGISTRY_STEPS, steps) > 0)
            strlist_add(sources, sv(source));
    }
}

static Status detect_among(const StrList *sources, StrView sample, bool quiet, StrBuf *source) {
    StrView *candidates = mem_alloc(sources->count, sizeof *candidates);
    Detection *ranked = mem_alloc(sources->count, sizeof *ranked);
    Detector *detector;
    for (size_t i = 0; i < sources->count; i++) candidates[i] = sv(sources->items[i]);
    Status status = detector_open(&detector, candidates, (int)sources->count);
    if (status == STATUS_OK) {
        detector_run(detector, sample, ranked);
        strbuf_add(source, candidates[ranked[0].candidate]);
        bool sure = ranked[0].confidence >= DETECT_SURE;
        if (!quiet)
            log_info("language %s, with a confidence of %.2f%s", strbuf_text(source), ranked[0].confidence,
                     sure ? "" : ": too short to tell; --languages can name it");
        detector_close(detector);
    }
    mem_free(candidates);
    mem_free(ranked);
    return status;
}

Status model_choice_detect(StrView sample, StrView target, bool quiet, StrBuf *source) {
    Registry registry;
    StrList sources = {0};
    registry_open(&registry);
    list_sources(&registry, target, &sources);
    Status status = sources.count > 0 ? detect_among(&sources, sample, quiet, source)
                                      : fail_pair(&registry, SV("any language"), target);
    strlist_free(&sources);
    registry_free(&registry);
    return status;
}
