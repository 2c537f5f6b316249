/* registry.c - see registry.h. */
#include "models/registry.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/mem.h"
#include "io/fileio.h"

#define BEST "best" MODEL_SUFFIX

/* ---- folders ---- */

/* The value of a variable that is set and not empty; NULL: none. */
static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

/* The XDG Base Directory Specification ignores relative paths. */
static const char *absolute_variable(const char *name) {
    const char *value = variable(name);
    return value && value[0] == '/' ? value : NULL;
}

static bool add_user_folder(StrBuf *path) {
    const char *models = variable("ATTN_MT_MODELS"), *data = absolute_variable("XDG_DATA_HOME"),
               *home = variable("HOME");
    if (models)
        strbuf_format(path, "%s", models);
    else if (data)
        strbuf_format(path, "%s/attn-mt/models", data);
    else if (home)
        strbuf_format(path, "%s/.local/share/attn-mt/models", home);
    return models || data || home;
}

Status registry_user_folder(StrBuf *path) {
    if (add_user_folder(path)) return STATUS_OK;
    status_fail(STATUS_USAGE, "no folder of models: HOME is not set");
    return status_hint(STATUS_USAGE, "set ATTN_MT_MODELS to a folder");
}

/* Returns false if there is no folder of the user's own. */
static bool list_folders(StrList *folders) {
    StrBuf own = {0};
    bool has_own = add_user_folder(&own);
    const char *shared = variable("XDG_DATA_DIRS");
    StrView rest = sv(shared ? shared : "/usr/local/share:/usr/share"), folder;
    if (has_own) strlist_add(folders, strbuf_view(&own));
    while (sv_next(&rest, ':', &folder)) {
        while (sv_ends(folder, SV("/"))) folder.length--;
        if (sv_starts(folder, SV("/"))) strlist_format(folders, "%.*s/attn-mt/models", SV_ARG(folder));
    }
    strbuf_free(&own);
    return has_own;
}

/* The name in "name.safetensors"; empty for other files. */
static StrView name_of(const char *file) {
    StrView name = sv(file);
    if (file[0] == '.' || !sv_ends(name, SV(MODEL_SUFFIX))) return SV("");
    return (StrView){file, name.length - strlen(MODEL_SUFFIX)};
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends names in order. errno is 0, or the reason why the folder cannot be read. */
static void list_entries(const char *folder, bool models, StrList *names) {
    size_t first = names->count;
    DIR *entries = opendir(folder);
    if (!entries) return;
    for (struct dirent *entry; (entry = readdir(entries));) {
        StrView name = models ? name_of(entry->d_name) : sv(entry->d_name);
        if (name.length > 0 && name.data[0] != '.') strlist_add(names, name);
    }
    closedir(entries);
    if (names->count > first)
        qsort(names->items + first, names->count - first, sizeof(char *), compare_texts);
    errno = 0;
}

void registry_names(StrList *names) {
    StrList folders = {0};
    list_folders(&folders);
    for (size_t i = 0; i < folders.count; i++) list_entries(folders.items[i], true, names);
    strlist_free(&folders);
}

/* ---- reading ---- */

static void add_damaged(Registry *registry, const char *path, const char *reason) {
    MEM_GROW(registry->damaged, registry->damaged_capacity, registry->damaged_count + 1);
    registry->damaged[registry->damaged_count++] = (DamagedModel){mem_strdup(path), mem_strdup(reason)};
}

static void add_model(Registry *registry, const char *name, const char *path, bool own) {
    ModelInfo info;
    if (modelfile_read_info(&info, path) != STATUS_OK) {
        add_damaged(registry, path, status_message());
        return;
    }
    MEM_GROW(registry->items, registry->capacity, registry->count + 1);
    registry->items[registry->count++] = (RegistryModel){mem_strdup(name), mem_strdup(path), own, info};
}

static void add_folder(Registry *registry, const char *folder, bool own) {
    StrList names = {0};
    StrBuf path = {0};
    list_entries(folder, true, &names);
    if (errno != 0 && errno != ENOENT) add_damaged(registry, folder, strerror(errno));
    for (size_t i = 0; i < names.count; i++) {
        if (registry_find(registry, names.items[i])) continue;
        strbuf_clear(&path);
        strbuf_format(&path, "%s/%s" MODEL_SUFFIX, folder, names.items[i]);
        add_model(registry, names.items[i], strbuf_text(&path), own);
    }
    strbuf_free(&path);
    strlist_free(&names);
}

static int compare_models(const void *a, const void *b) {
    const RegistryModel *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static void sort_models(Registry *registry) {
    if (registry->count > 0) qsort(registry->items, registry->count, sizeof *registry->items, compare_models);
}

void registry_open(Registry *registry) {
    *registry = (Registry){0};
    registry->no_own = !list_folders(&registry->folders);
    for (size_t i = 0; i < registry->folders.count; i++)
        add_folder(registry, registry->folders.items[i], i == 0 && !registry->no_own);
    sort_models(registry);
}

void registry_open_runs(Registry *registry, const char *folder) {
    StrList names = {0};
    StrBuf path = {0};
    *registry = (Registry){.no_own = true};
    list_entries(folder, false, &names);
    for (size_t i = 0; i < names.count; i++) {
        strbuf_clear(&path);
        strbuf_format(&path, "%s/%s/" BEST, folder, names.items[i]);
        if (file_exists(strbuf_text(&path))) add_model(registry, names.items[i], strbuf_text(&path), false);
    }
    strbuf_free(&path);
    strlist_free(&names);
}

void registry_free(Registry *registry) {
    for (size_t i = 0; i < registry->count; i++) {
        mem_free(registry->items[i].name);
        mem_free(registry->items[i].path);
        model_info_free(&registry->items[i].info);
    }
    for (size_t i = 0; i < registry->damaged_count; i++) {
        mem_free(registry->damaged[i].path);
        mem_free(registry->damaged[i].reason);
    }
    mem_free(registry->items);
    mem_free(registry->damaged);
    strlist_free(&registry->folders);
    *registry = (Registry){0};
}

/* ---- by name ---- */

const RegistryModel *registry_find(const Registry *registry, const char *name) {
    for (size_t i = 0; i < registry->count; i++)
        if (strcmp(registry->items[i].name, name) == 0) return &registry->items[i];
    return NULL;
}

static Status fail_name(const char *model) {
    StrList names = {0};
    registry_names(&names);
    const char *nearest = str_nearest(model, (const char *const *)names.items, names.count);
    status_fail(STATUS_USAGE, "no model is called '%.300s'", model);
    if (nearest)
        status_hint(STATUS_USAGE, "did you mean '%.300s'?", nearest);
    else
        status_hint(STATUS_USAGE,
                    "'attn-mt models' lists the names; a path has a '/' or ends in " MODEL_SUFFIX);
    strlist_free(&names);
    return STATUS_USAGE;
}

/* Appends the path of NAME.safetensors in one of the folders; false if there is none. */
static bool add_named(const char *name, StrBuf *path) {
    StrList folders = {0};
    StrBuf candidate = {0};
    bool found = false;
    list_folders(&folders);
    for (size_t i = 0; i < folders.count && name[0] != '.' && !found; i++) {
        strbuf_clear(&candidate);
        strbuf_format(&candidate, "%s/%s" MODEL_SUFFIX, folders.items[i], name);
        found = file_exists(strbuf_text(&candidate));
    }
    if (found) strbuf_add(path, strbuf_view(&candidate));
    strbuf_free(&candidate);
    strlist_free(&folders);
    return found;
}

Status registry_path(const char *model, StrBuf *path) {
    bool is_path = strchr(model, '/') || sv_ends(sv(model), SV(MODEL_SUFFIX)) || strcmp(model, "-") == 0;
    size_t start = path->length;
    if (!is_path && model[0] && add_named(model, path)) return STATUS_OK;
    if (!is_path && !file_exists(model)) return fail_name(model);
    struct stat info;
    strbuf_add(path, sv(model));
    if (stat(model, &info) != 0 || !S_ISDIR(info.st_mode)) return STATUS_OK;
    strbuf_add(path, sv_ends(sv(model), SV("/")) ? SV(BEST) : SV("/" BEST));
    if (!file_exists(path->data + start)) strbuf_cut(path, start + strlen(model)); /* no run */
    return STATUS_OK;
}
