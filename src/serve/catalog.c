/* catalog.c - opens catalogs: which languages there are, and the route of each pair. */
#include "serve/catalog.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "serve/catalog_private.h"

enum { MODEL_OVERHEAD = 256 << 10 }; /* bytes: about what a model takes beside its weights */

static Catalog *catalog_new(void) {
    Catalog *catalog = mem_alloc(1, sizeof *catalog);
    atomic_init(&catalog->references, 1);
    return catalog;
}

Catalog *catalog_retain(Catalog *catalog) {
    atomic_fetch_add(&catalog->references, 1);
    return catalog;
}

void catalog_release(Catalog *catalog) {
    if (!catalog || atomic_fetch_sub(&catalog->references, 1) > 1) return;
    for (int i = 0; i < catalog->model_count; i++) {
        cached_model_release(catalog->models[i].cached);
        mem_free(catalog->models[i].path);
    }
    for (int i = 0; i < catalog->count; i++) {
        mem_free(catalog->languages[i].code);
        mem_free(catalog->languages[i].name);
    }
    size_t pairs = (size_t)catalog->count * (size_t)catalog->count;
    for (size_t p = 0; catalog->routes && p < pairs; p++)
        for (int s = 0; s < catalog->routes[p].count; s++)
            mem_free((char *)catalog->routes[p].steps[s].target);
    detector_close(catalog->detector);
    mem_free(catalog->models);
    mem_free(catalog->languages);
    mem_free(catalog->routes);
    mem_free(catalog);
}

/* ---- languages ---- */

static bool is_code(StrView text) {
    for (size_t i = 0; i < text.length; i++)
        if (!isalnum((unsigned char)text.data[i]) && text.data[i] != '_' && text.data[i] != '-') return false;
    return text.length > 0;
}

/* Is `name` the name of a language, and not "source" or "target"? */
static bool is_language(StrView name) {
    Language language;
    return is_code(name) && language_read(name, &language) && language.code.length <= 3;
}

/* "English"; pt-BR is "Portuguese (BR)". */
static char *make_name(StrView code) {
    StrView base = language_code(code), known = language_name(base.length > 0 ? base : code);
    StrBuf name = {0};
    strbuf_add_char(&name, (char)toupper((unsigned char)known.data[0]));
    strbuf_add(&name, (StrView){known.data + 1, known.length - 1});
    size_t part = 0;
    while (part < code.length && !strchr("-_", code.data[part])) part++;
    if (base.length > 0 && part + 1 < code.length)
        strbuf_format(&name, " (%.*s)", (int)(code.length - part) - 1, code.data + part + 1);
    return name.data;
}

static void add_language(Catalog *catalog, StrView name) {
    CatalogLanguage *language;
    MEM_GROW(catalog->languages, catalog->capacity, (size_t)catalog->count + 1);
    language = &catalog->languages[catalog->count++];
    *language = (CatalogLanguage){.code = mem_strndup(name.data, name.length)};
    language->known = language_read(sv(language->code), &language->language);
}

static bool is_listed(const Catalog *catalog, StrView name) {
    Language language;
    bool known = language_read(name, &language);
    for (int i = 0; i < catalog->count; i++) {
        const CatalogLanguage *other = &catalog->languages[i];
        if (!known || !other->known ? sv_equal(sv(other->code), name)
                                    : languages_match(&language, &other->language) &&
                                          strcmp(language.region, other->language.region) == 0)
            return true;
    }
    return false;
}

/* Is there the same language in another script, and if it has a region, in the same region? */
static bool has_other_script(const Catalog *catalog, const Language *language) {
    for (int i = 0; i < catalog->count; i++) {
        const CatalogLanguage *other = &catalog->languages[i];
        if (other->known && sv_equal(other->language.code, language->code) &&
            strcmp(other->language.script, language->script) != 0 &&
            (!language->region[0] || strcmp(other->language.region, language->region) == 0))
            return true;
    }
    return false;
}

/* Gives all languages codes of one form, instead of the names in the models' files. */
static void set_codes(Catalog *catalog) {
    for (int i = 0; i < catalog->count; i++) {
        CatalogLanguage *entry = &catalog->languages[i];
        const Language *language = &entry->language;
        StrBuf code = {0};
        if (!entry->known) continue;
        strbuf_add(&code, language->code);
        if (language->script[0] && has_other_script(catalog, language))
            strbuf_format(&code, "-%s", language->script);
        if (language->region[0]) strbuf_format(&code, "-%s", language->region);
        mem_free(entry->code);
        entry->code = code.data;
    }
}

static int compare_names(const void *a, const void *b) {
    const CatalogLanguage *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->code, y->code);
}

/* A detector that does not know two of the languages tells nothing. */
static void open_detector(Catalog *catalog) {
    StrView *codes = mem_alloc((size_t)catalog->count, sizeof *codes);
    int known = 0;
    for (int i = 0; i < catalog->count; i++) codes[i] = sv(catalog->languages[i].code);
    if (detector_open(&catalog->detector, codes, catalog->count) == STATUS_OK) {
        for (int i = 0; i < catalog->count; i++) known += detector_knows(catalog->detector, i);
        if (known < 2) {
            detector_close(catalog->detector);
            catalog->detector = NULL;
        }
    }
    mem_free(codes);
}

/* ---- routes ---- */

static CachedModel *find_model(const Catalog *catalog, const char *path) {
    for (int i = 0; i < catalog->model_count; i++)
        if (strcmp(catalog->models[i].path, path) == 0) return catalog->models[i].cached;
    return NULL;
}

static void set_route(Catalog *catalog, int source, int target, const RegistryStep *steps, int count) {
    CatalogRoute *route = &catalog->routes[source * catalog->count + target];
    route->count = count;
    for (int s = 0; s < count; s++) {
        route->steps[s].model = find_model(catalog, steps[s].model->path);
        if (steps[s].chooses_target) route->steps[s].target = mem_strdup(steps[s].target);
    }
    catalog->languages[source].is_source = catalog->languages[target].is_target = true;
}

/* `one_way`: only from the first language to the others. */
static void find_routes(Catalog *catalog, const Registry *registry, bool one_way) {
    size_t count = (size_t)catalog->count;
    RegistryRoutes *routes = registry_routes_new(registry);
    RegistryStep steps[REGISTRY_STEPS];
    catalog->routes = mem_alloc(count * count, sizeof *catalog->routes);
    for (int s = 0; s < (one_way ? 1 : catalog->count); s++) {
        StrView source = sv(catalog->languages[s].code);
        registry_routes_from(routes, source);
        for (int t = 0; t < catalog->count; t++) {
            StrView target = sv(catalog->languages[t].code);
            if (language_names_match(source, target)) continue;
            int length = registry_routes_to(routes, target, REGISTRY_STEPS, steps);
            if (length > 0) set_route(catalog, s, t, steps, length);
        }
    }
    registry_routes_free(routes);
}

/* ---- fixed models ---- */

static void add_fixed_route(Catalog *catalog, const char *token) {
    catalog->routes = mem_alloc(4, sizeof *catalog->routes);
    CatalogRoute *route = &catalog->routes[1];
    *route = (CatalogRoute){1, {{catalog->models[0].cached, token ? mem_strdup(token) : NULL}}};
    catalog->languages[0].is_source = catalog->languages[1].is_target = true;
}

/* The language token of the model for a target of --languages; NULL: it has none. */
static const char *find_token(const ModelInfo *info, StrView target) {
    for (size_t i = 0; i < info->targets.count && info->chooses_target; i++)
        if (language_names_match(sv(info->targets.items[i]), target)) return info->targets.items[i];
    return NULL;
}

/* Is one of the targets another language than the source? */
static bool are_languages(const ModelInfo *info) {
    bool codes = is_language(sv(info->source)), known = false;
    for (size_t i = 0; i < info->targets.count; i++) {
        codes = codes && is_code(sv(info->targets.items[i]));
        known = known || (is_language(sv(info->targets.items[i])) &&
                          !language_names_match(sv(info->targets.items[i]), sv(info->source)));
    }
    return codes && known;
}

static void describe_fixed(Catalog *catalog, const ModelInfo *info, CatalogPair pair) {
    bool named = pair.source.length > 0;
    StrView source = named ? pair.source : sv(info->source);
    const char *path = catalog->models[0].path;
    if (!named && are_languages(info)) {
        RegistryModel model = {.name = (char *)path, .path = (char *)path, .info = *info};
        add_language(catalog, source);
        for (size_t i = 0; i < info->targets.count; i++)
            if (!is_listed(catalog, sv(info->targets.items[i])))
                add_language(catalog, sv(info->targets.items[i]));
        find_routes(catalog, &(Registry){.items = &model, .count = 1}, true);
    } else {
        StrView target = named ? pair.target : sv(info->targets.count ? info->targets.items[0] : "");
        catalog->any = !named;
        bool codes = is_code(source) && is_code(target);
        add_language(catalog, codes ? source : SV("source"));
        add_language(catalog, codes ? target : SV("target"));
        add_fixed_route(catalog, find_token(info, target));
    }
    for (int i = 0; i < catalog->count; i++)
        catalog->languages[i].name = make_name(sv(catalog->languages[i].code));
    if (!catalog->any && is_language(sv(catalog->languages[0].code))) open_detector(catalog);
}

/* Describes a model that is loaded. */
static Catalog *make_fixed(CachedModel *model, const char *path, CatalogPair pair) {
    Catalog *catalog = catalog_new();
    ModelInfo info = {.source = ""};
    bool readable = modelfile_read_info(&info, path) == STATUS_OK;
    catalog->models = mem_alloc(1, sizeof *catalog->models);
    catalog->models[0] = (CatalogModel){.cached = model, .path = mem_strdup(path)};
    catalog->model_count = 1;
    describe_fixed(catalog, readable ? &info : &(ModelInfo){.source = ""}, pair);
    if (readable) model_info_free(&info);
    return catalog;
}

Status catalog_open_fixed(Catalog **catalog, ModelCache *models, const StrList *paths, CatalogPair pair,
                          const ModelGuide *guide) {
    const char *path = paths->items[0], *slash = strrchr(path, '/');
    ModelSource source = {
        .name = slash ? slash + 1 : path, .paths = paths, .guides = guide, .guide_count = 1};
    CachedModel *model = model_cache_add(models, &source);
    Status status = cached_model_load(model);
    *catalog = status == STATUS_OK ? make_fixed(model, path, pair) : NULL;
    if (status != STATUS_OK) cached_model_release(model);
    return status;
}

Status catalog_reopen_fixed(Catalog **catalog, const Catalog *old, CatalogPair pair) {
    CachedModel *model = old->models[0].cached;
    TRY(cached_model_load(model));
    cached_model_retain(model);
    *catalog = make_fixed(model, old->models[0].path, pair);
    return STATUS_OK;
}

/* ---- the folders of models ---- */

/* The model of `old` if its file is the same, or a new one: also if it has guides, which are read again. */
static CachedModel *cached_model_of(ModelCache *models, const Catalog *old, const RegistryModel *model,
                                    PairFiles *files) {
    int guide_count;
    ModelGuide *guides = pair_files_guides(files, &model->info, &guide_count);
    for (int i = 0; old && i < old->model_count && guide_count == 0; i++) {
        const CatalogModel *entry = &old->models[i];
        if (strcmp(entry->path, model->path) != 0 || !modelfile_same(&entry->file, &model->info.file))
            continue;
        model_guides_free(guides, guide_count);
        cached_model_retain(entry->cached);
        return entry->cached;
    }
    StrList paths = {0};
    strlist_add(&paths, sv(model->path));
    ModelSource source = {.name = model->name,
                          .paths = &paths,
                          .bytes = (size_t)model->info.bytes + MODEL_OVERHEAD,
                          .info = &model->info,
                          .guides = guides,
                          .guide_count = guide_count};
    CachedModel *result = model_cache_add(models, &source);
    model_guides_free(guides, guide_count);
    strlist_free(&paths);
    return result;
}

static void add_models(Catalog *catalog, ModelCache *models, const Catalog *old, const Registry *registry,
                       PairFiles *files) {
    catalog->models = mem_alloc(registry->count, sizeof *catalog->models);
    for (size_t i = 0; i < registry->count; i++) {
        const RegistryModel *model = &registry->items[i];
        CatalogModel *entry = &catalog->models[catalog->model_count++];
        *entry = (CatalogModel){.cached = cached_model_of(models, old, model, files),
                                .path = mem_strdup(model->path),
                                .file = model->info.file};
    }
}

static void add_languages(Catalog *catalog, const Registry *registry, CatalogPair pair) {
    for (size_t i = 0; i < registry->count; i++) {
        const ModelInfo *info = &registry->items[i].info;
        if (!is_code(sv(info->source))) continue;
        if (!is_listed(catalog, sv(info->source))) add_language(catalog, sv(info->source));
        for (size_t t = 0; t < info->targets.count; t++) {
            StrView target = sv(info->targets.items[t]);
            if (is_code(target) && !is_listed(catalog, target)) add_language(catalog, target);
        }
    }
    set_codes(catalog);
    if (pair.source.length > 0) {
        while (catalog->count > 0) mem_free(catalog->languages[--catalog->count].code);
        add_language(catalog, pair.source);
        add_language(catalog, pair.target);
    }
    for (int i = 0; i < catalog->count; i++)
        catalog->languages[i].name = make_name(sv(catalog->languages[i].code));
    if (pair.source.length == 0 && catalog->count > 0)
        qsort(catalog->languages, (size_t)catalog->count, sizeof *catalog->languages, compare_names);
}

static bool has_routes(const Catalog *catalog) {
    for (int i = 0; i < catalog->count; i++)
        if (catalog->languages[i].is_source) return true;
    return false;
}

static Status fail_without_routes(const Registry *registry, CatalogPair pair) {
    const char *folder = registry->no_own ? "" : registry->folders.items[0];
    if (pair.source.length > 0 && registry->count > 0)
        status_fail(STATUS_USAGE, "no model translates from %.*s to %.*s", SV_ARG(pair.source),
                    SV_ARG(pair.target));
    else
        status_fail(STATUS_USAGE, "no model given, and no model with two languages in '%.300s'", folder);
    return status_hint(STATUS_USAGE, "'attn-mt models add PATH' adds one; or name one: --model FILE");
}

Status catalog_open_folders(Catalog **result, ModelCache *models, const Catalog *old, CatalogPair pair,
                            PairFiles *files, bool quiet) {
    Registry registry;
    Catalog *catalog = catalog_new();
    registry_open(&registry);
    for (size_t i = 0; i < registry.damaged_count && !quiet; i++)
        log_warn("left out: %s", registry.damaged[i].reason);
    add_models(catalog, models, old, &registry, files);
    add_languages(catalog, &registry, pair);
    find_routes(catalog, &registry, pair.source.length > 0);
    Status status = has_routes(catalog) ? pair_files_check(files) : fail_without_routes(&registry, pair);
    if (status == STATUS_OK) {
        open_detector(catalog);
    } else {
        catalog_release(catalog);
        catalog = NULL;
    }
    registry_free(&registry);
    *result = catalog;
    return status;
}
