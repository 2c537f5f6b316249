/* catalog_choice.c - from the names of languages in a request to a pair of the catalog. */
#include <string.h>
#include "base/mem.h"
#include "serve/catalog_private.h"

int catalog_count(const Catalog *catalog) { return catalog->count; }

StrView catalog_code(const Catalog *catalog, int language) { return sv(catalog->languages[language].code); }

StrView catalog_name(const Catalog *catalog, int language) { return sv(catalog->languages[language].name); }

const CatalogRoute *catalog_route(const Catalog *catalog, int source, int target) {
    return &catalog->routes[source * catalog->count + target];
}

bool catalog_is_source(const Catalog *catalog, int language) {
    return catalog->languages[language].is_source;
}

bool catalog_is_target(const Catalog *catalog, int language) {
    return catalog->languages[language].is_target;
}

int catalog_model_count(const Catalog *catalog) { return catalog->model_count; }

CachedModel *catalog_model(const Catalog *catalog, int model) { return catalog->models[model].cached; }

const Detector *catalog_detector(const Catalog *catalog) { return catalog->detector; }

/* ---- a name in a request ---- */

/* A language of a request. */
typedef struct {
    const char *name; /* NULL: none, or "auto" */
    Language language;
    bool known;
} RequestedLanguage;

static RequestedLanguage read_requested(const char *name) {
    RequestedLanguage requested = {.name = name && strcmp(name, "auto") != 0 ? name : NULL};
    requested.known = requested.name && language_read(sv(requested.name), &requested.language);
    return requested;
}

/* How well the language serves: 0 not at all; any language serves if none is named. */
static int serves(const Catalog *catalog, const RequestedLanguage *requested, int index) {
    const CatalogLanguage *language = &catalog->languages[index];
    if (!requested->name || catalog->any) return 1;
    if (strcmp(requested->name, language->code) == 0) return 3;
    if (!requested->known || !language->known)
        return 2 * language_names_match(sv(requested->name), sv(language->code));
    return 2 * languages_match(&requested->language, &language->language);
}

/* ---- messages ---- */

/* "'en'", or "one of en, fr": the languages that satisfy the condition. */
static void list_codes(const Catalog *catalog, bool (*condition)(const Catalog *, int), StrBuf *out) {
    enum { MOST = 100 };
    int count = 0, last = 0;
    StrBuf list = {0};
    for (int i = 0; i < catalog->count; i++) {
        if (!condition(catalog, i)) continue;
        if (count < MOST) strbuf_format(&list, "%s%s", count ? ", " : "", catalog->languages[i].code);
        count++;
        last = i;
    }
    if (count == 1)
        strbuf_format(out, "it is '%s' here", catalog->languages[last].code);
    else
        strbuf_format(out, "there are %s%s", strbuf_text(&list), count > MOST ? ", ..." : "");
    strbuf_free(&list);
}

static Status fail_language(const Catalog *catalog, const char *which, const char *name,
                            bool (*condition)(const Catalog *, int)) {
    StrBuf codes = {0};
    list_codes(catalog, condition, &codes);
    if (name)
        status_fail(STATUS_DATA, "%s language '%.20s' is not supported; %s", which, name,
                    strbuf_text(&codes));
    else
        status_fail(STATUS_DATA, "'%s', the language, is missing; %s", which, strbuf_text(&codes));
    strbuf_free(&codes);
    return STATUS_DATA;
}

static Status fail_pair(const Catalog *catalog, const RequestedLanguage *source,
                        const RequestedLanguage *target) {
    StrBuf targets = {0};
    int count = 0;
    for (int s = 0; s < catalog->count; s++)
        for (int t = 0; t < catalog->count && serves(catalog, source, s) > 0; t++)
            if (catalog_route(catalog, s, t)->count > 0)
                strbuf_format(&targets, "%s%s", count++ ? ", " : "", catalog->languages[t].code);
    status_fail(STATUS_DATA, "no model translates from '%.20s' to '%.20s'; the targets are %s", source->name,
                target->name, strbuf_text(&targets));
    strbuf_free(&targets);
    return STATUS_DATA;
}

/* ---- the choice ---- */

static bool is_any(const Catalog *catalog, const RequestedLanguage *requested,
                   bool (*condition)(const Catalog *, int)) {
    for (int i = 0; i < catalog->count; i++)
        if (condition(catalog, i) && serves(catalog, requested, i) > 0) return true;
    return false;
}

/* How many routes lead from `source` (-1: from any language) to `target`. */
static int count_routes(const Catalog *catalog, int source, int target) {
    int count = 0;
    for (int s = 0; s < catalog->count; s++)
        count += (source < 0 || s == source) && catalog_route(catalog, s, target)->count > 0;
    return count;
}

/* The best target that there is a route to; -1: none. *several: no name tells which. */
static int choose_target(const Catalog *catalog, const RequestedLanguage *source,
                         const RequestedLanguage *target, bool *several) {
    int best = -1, best_quality = 0;
    *several = false;
    for (int t = 0; t < catalog->count; t++) {
        int quality = serves(catalog, target, t), reached = 0;
        for (int s = 0; s < catalog->count && !reached; s++)
            reached = serves(catalog, source, s) > 0 && catalog_route(catalog, s, t)->count > 0;
        if (!reached || quality == 0) continue;
        *several = *several || (best >= 0 && !target->name);
        if (quality > best_quality) best = t, best_quality = quality;
    }
    return best;
}

static int choose_named_source(const Catalog *catalog, const RequestedLanguage *source, int target) {
    int best = -1, best_quality = 0;
    for (int s = 0; s < catalog->count; s++) {
        int quality = catalog_route(catalog, s, target)->count > 0 ? serves(catalog, source, s) : 0;
        if (quality > best_quality) best = s, best_quality = quality;
    }
    return best;
}

/* The most probable of the languages that reach the target; the first of them if nothing can be told. */
static int detect_source(const Catalog *catalog, int target, const char *const *texts, int count) {
    StrBuf sample = {0};
    Detection *ranked = mem_alloc((size_t)catalog->count, sizeof *ranked);
    int found = -1;
    for (int i = 0; i < count && sample.length < DETECT_BYTES; i++)
        strbuf_format(&sample, "%.*s\n", (int)DETECT_BYTES, texts[i]);
    detector_run(catalog->detector, strbuf_view(&sample), ranked);
    for (int i = 0; i < catalog->count && found < 0; i++)
        if (catalog_route(catalog, ranked[i].candidate, target)->count > 0) found = ranked[i].candidate;
    mem_free(ranked);
    strbuf_free(&sample);
    return found;
}

Status catalog_choose(const Catalog *catalog, const char *source_name, const char *target_name,
                      const char *const *texts, int count, int *source, int *target) {
    RequestedLanguage from = read_requested(source_name), to = read_requested(target_name);
    bool several;
    if (!is_any(catalog, &from, catalog_is_source))
        return fail_language(catalog, "source", from.name, catalog_is_source);
    if (!is_any(catalog, &to, catalog_is_target))
        return fail_language(catalog, "target", to.name, catalog_is_target);
    *target = choose_target(catalog, &from, &to, &several);
    if (*target < 0) return fail_pair(catalog, &from, &to);
    if (several) return fail_language(catalog, "target", NULL, catalog_is_target);
    *source = choose_named_source(catalog, &from, *target);
    if (from.name || count_routes(catalog, -1, *target) == 1) return STATUS_OK;
    if (!catalog->detector) return fail_language(catalog, "source", NULL, catalog_is_source);
    *source = detect_source(catalog, *target, texts, count);
    return STATUS_OK;
}
