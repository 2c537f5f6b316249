/* model_cache.c - a list of models, and the thread that loads and closes them. */
#include "serve/model_cache.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/signals.h"

static const double RETRY_SECONDS = 10, PATIENCE_SECONDS = 0.5, LOOK_SECONDS = 0.1;

/* What translations into a language need. */
typedef struct {
    char *target;               /* as in ModelGuide */
    attn_mt_glossary *glossary; /* or NULL */
    attn_mt_memory *memory;     /* or NULL */
} OpenedGuide;

typedef struct {
    attn_mt_model *handle;
    OpenedGuide *guides; /* [guide_count] */
    int guide_count;
} OpenedModel;

struct LoadedModel {
    ModelCache *cache;
    OpenedModel opened;
    size_t bytes;
    int references;
    LoadedModel *next; /* of ModelCache.closing */
};

struct CachedModel {
    ModelCache *cache;
    CachedModel *next;
    char *name;
    StrList paths;
    char *languages;    /* of describe_languages; NULL: any */
    struct stat file;   /* that has these languages */
    ModelGuide *guides; /* [guide_count] */
    int guide_count;
    size_t bytes; /* an estimate before the first load */
    bool fixed;
    int references;
    int waiting;          /* texts in the queue */
    LoadedModel *current; /* NULL: not in memory */
    double awaited_at;    /* since when jobs wait for it to be loaded */
    double used_at, loaded_at, failed_at;
    bool served;            /* a batch, since it was loaded */
    attn_mt_status failure; /* of the last attempt to load it */
    char reason[512];
    CachedModelStats stats;
};

struct ModelCache {
    ModelCacheOptions options;
    pthread_t thread;
    bool started;
    /* Under the lock: */
    pthread_cond_t wake; /* of the thread */
    CachedModel *first;
    LoadedModel *closing;        /* no batch uses them any more */
    size_t bytes, leaving_bytes; /* of all models in memory; of those that are no model's current one */
    StatusRecord failure;        /* that model_cache_take_failure returns */
    bool stop;
};

static void lock(const ModelCache *cache) { pthread_mutex_lock(cache->options.lock); }
static void unlock(const ModelCache *cache) { pthread_mutex_unlock(cache->options.lock); }

/* ---- loading and closing ---- */

static void close_model(OpenedModel *opened) {
    for (int i = 0; i < opened->guide_count; i++) {
        attn_mt_glossary_close(opened->guides[i].glossary);
        attn_mt_memory_close(opened->guides[i].memory);
        mem_free(opened->guides[i].target);
    }
    mem_free(opened->guides);
    attn_mt_close(opened->handle);
    *opened = (OpenedModel){0};
}

static attn_mt_status open_guide(const ModelGuide *guide, const attn_mt_model *model, OpenedGuide *opened,
                                 attn_mt_error *error) {
    const StrList *terms = &guide->glossaries, *pairs = &guide->memories;
    attn_mt_status failed = ATTN_MT_OK;
    if (guide->target) opened->target = mem_strdup(guide->target);
    if (terms->count > 0)
        failed = attn_mt_glossary_open(&opened->glossary, model, (const char *const *)terms->items,
                                       (int)terms->count, error);
    if (!failed && pairs->count > 0)
        failed = attn_mt_memory_open(&opened->memory, model, (const char *const *)pairs->items,
                                     (int)pairs->count, ATTN_MT_NO_ACCELERATOR, error);
    return failed;
}

static attn_mt_status open_guides(const CachedModel *model, OpenedModel *opened, attn_mt_error *error) {
    attn_mt_status failed = ATTN_MT_OK;
    opened->guides = mem_alloc((size_t)model->guide_count, sizeof *opened->guides);
    opened->guide_count = model->guide_count;
    for (int i = 0; i < model->guide_count && !failed; i++)
        failed = open_guide(&model->guides[i], opened->handle, &opened->guides[i], error);
    return failed;
}

/* "en > de, fr" */
static char *describe_languages(const ModelInfo *info) {
    StrBuf text = {0};
    strbuf_format(&text, "%s >", info->source);
    for (size_t i = 0; i < info->targets.count; i++)
        strbuf_format(&text, "%s %s", i ? "," : "", info->targets.items[i]);
    return text.data;
}

/* A file that was replaced since the server read its folder can be for other languages. */
static attn_mt_status check_languages(const CachedModel *model, attn_mt_error *error) {
    ModelInfo info;
    struct stat file;
    if (!model->languages) return ATTN_MT_OK;
    bool same_file = stat(model->paths.items[0], &file) == 0 && modelfile_same(&file, &model->file);
    if (same_file) return ATTN_MT_OK;
    if (modelfile_read_info(&info, model->paths.items[0]) != STATUS_OK) {
        snprintf(error->message, sizeof error->message, "%s", status_message());
        return ATTN_MT_DATA;
    }
    char *languages = describe_languages(&info);
    bool same = strcmp(languages, model->languages) == 0;
    if (!same)
        snprintf(error->message, sizeof error->message,
                 "its file was replaced by one for %.100s, and was for %.100s; SIGHUP reads the folder again",
                 languages, model->languages);
    mem_free(languages);
    model_info_free(&info);
    return same ? ATTN_MT_OK : ATTN_MT_DATA;
}

static attn_mt_status open_model(const CachedModel *model, OpenedModel *opened, attn_mt_error *error) {
    const ModelCacheOptions *options = &model->cache->options;
    attn_mt_options translation = {.shortlist = options->shortlist};
    attn_mt_result *empty = NULL;
    *opened = (OpenedModel){0};
    attn_mt_status failed = attn_mt_open(&opened->handle, (const char *const *)model->paths.items,
                                         (int)model->paths.count, options->precision, error);
    /* Without texts, this checks the options. */
    if (!failed) failed = attn_mt_translate(opened->handle, NULL, 0, &translation, &empty, error);
    attn_mt_release(empty);
    if (!failed) failed = check_languages(model, error);
    if (!failed) failed = open_guides(model, opened, error);
    if (failed) close_model(opened);
    return failed;
}

/* The functions below need the lock. Those that load or close models release it meanwhile. */

void loaded_model_release(LoadedModel *loaded) {
    ModelCache *cache = loaded->cache;
    if (--loaded->references > 0) return;
    loaded->next = cache->closing;
    cache->closing = loaded;
    pthread_cond_signal(&cache->wake);
}

/* The model's current handle leaves. */
static void drop_current(CachedModel *model) {
    LoadedModel *old = model->current;
    if (!old) return;
    model->current = NULL;
    model->cache->leaving_bytes += old->bytes;
    model->awaited_at = clock_seconds();
    loaded_model_release(old);
}

static void set_current(CachedModel *model, const OpenedModel *opened) {
    ModelCache *cache = model->cache;
    LoadedModel *loaded = mem_alloc(1, sizeof *loaded);
    *loaded = (LoadedModel){cache, *opened, attn_mt_model_bytes(opened->handle), 1, NULL};
    drop_current(model);
    model->current = loaded;
    model->bytes = loaded->bytes;
    model->loaded_at = model->used_at = clock_seconds();
    model->failure = ATTN_MT_OK;
    model->served = false;
    model->stats.loads++;
    cache->bytes += loaded->bytes;
}

static void close_all(ModelCache *cache) {
    LoadedModel *list = cache->closing;
    size_t bytes = 0;
    cache->closing = NULL;
    unlock(cache);
    for (LoadedModel *next; list; list = next) {
        next = list->next;
        bytes += list->bytes;
        close_model(&list->opened);
        mem_free(list);
    }
    mem_trim(); /* memory of other threads may lie between the weights */
    lock(cache);
    cache->bytes -= bytes;
    cache->leaving_bytes -= bytes;
}

/* The message without the folder of the model's file, which is not for clients. */
static void copy_reason(CachedModel *model, const char *message) {
    const char *path = model->paths.items[0], *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash + 1 - path) : 0, length = 0;
    while (*message && length + 1 < sizeof model->reason) {
        if (folder > 0 && strncmp(message, path, strlen(path)) == 0)
            message += folder;
        else
            model->reason[length++] = *message++;
    }
    model->reason[length] = '\0';
}

static void fail(CachedModel *model, attn_mt_status failure, const char *message) {
    model->failure = failure;
    model->failed_at = clock_seconds();
    model->stats.failures++;
    copy_reason(model, message);
    status_fail(STATUS_RUNTIME, "model '%s' cannot be loaded: %s", model->name, message);
    status_save(&model->cache->failure, STATUS_RUNTIME);
}

static void load(CachedModel *model) {
    ModelCache *cache = model->cache;
    attn_mt_error error;
    OpenedModel opened;
    model->references++;
    unlock(cache);
    attn_mt_status failed = open_model(model, &opened, &error);
    lock(cache);
    if (failed)
        fail(model, failed, error.message);
    else
        set_current(model, &opened);
    pthread_cond_broadcast(cache->options.changed);
}

/* ---- which model is loaded next, and which ones leave ---- */

static bool is_absent(const CachedModel *model) { return !model->current && !model->failure; }

static CachedModel *next_to_load(const ModelCache *cache) {
    CachedModel *next = NULL;
    for (CachedModel *model = cache->first; model; model = model->next)
        if (model->waiting > 0 && is_absent(model) && (!next || model->awaited_at < next->awaited_at))
            next = model;
    return next;
}

/* `patient`: only if no text waits for it. Otherwise its turn must be over. */
static bool may_leave(const CachedModel *model, bool patient) {
    if (!model->current || model->fixed) return false;
    if (model->waiting == 0 && model->current->references == 1) return true;
    return !patient && model->served && clock_seconds() > model->loaded_at + PATIENCE_SECONDS;
}

static CachedModel *next_to_leave(const ModelCache *cache, bool patient) {
    CachedModel *next = NULL;
    for (CachedModel *model = cache->first; model; model = model->next) {
        if (!may_leave(model, patient)) continue;
        bool earlier =
            next && (patient ? model->used_at < next->used_at : model->loaded_at < next->loaded_at);
        if (!next || earlier) next = model;
    }
    return next;
}

/* Has models leave until `bytes` more fit when they are closed. */
static void make_room(ModelCache *cache, size_t bytes, bool patient) {
    size_t most = cache->options.most_bytes;
    CachedModel *model;
    while (cache->bytes - cache->leaving_bytes + bytes > most && (model = next_to_leave(cache, patient))) {
        model->stats.evictions++;
        drop_current(model);
    }
}

static bool fits(const ModelCache *cache, size_t bytes) {
    return cache->options.most_bytes == 0 || cache->bytes + bytes <= cache->options.most_bytes;
}

/* An estimate can be too small. */
static void check_size(CachedModel *model) {
    ModelCache *cache = model->cache;
    if (!model->current || fits(cache, 0)) return;
    if (model->bytes <= cache->options.most_bytes) {
        make_room(cache, 0, false);
        return;
    }
    drop_current(model); /* try_to_load knows its size now */
}

static void wait_for(ModelCache *cache, double seconds) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(1e9 * seconds) + 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&cache->wake, cache->options.lock, &until);
}

/* Loads the model, or waits for something that has to happen before. */
static void try_to_load(CachedModel *model) {
    ModelCache *cache = model->cache;
    size_t most = cache->options.most_bytes;
    size_t bytes = model->bytes;
    double patience = PATIENCE_SECONDS - (clock_seconds() - model->awaited_at);
    if (most > 0 && bytes > most && model->stats.loads == 0)
        bytes = most; /* it may take less than estimated */
    if (most > 0 && bytes > most) {
        char message[128], needs[32], has[32];
        snprintf(message, sizeof message, "it takes %s of memory, and all models together may take %s",
                 str_bytes((double)model->bytes, needs), str_bytes((double)most, has));
        fail(model, ATTN_MT_MEMORY, message);
        pthread_cond_broadcast(cache->options.changed);
        return;
    }
    if (!fits(cache, bytes)) make_room(cache, bytes, patience > 0);
    if (cache->closing) return;
    if (fits(cache, bytes)) {
        load(model);
        check_size(model);
        unlock(cache);
        cached_model_release(model);
        lock(cache);
    } else {
        wait_for(cache, patience > 0 ? patience : LOOK_SECONDS); /* or until a model can be closed */
    }
}

static void *cache_thread(void *context) {
    ModelCache *cache = context;
    lock(cache);
    while (!cache->stop) {
        CachedModel *model = next_to_load(cache);
        if (cache->closing)
            close_all(cache);
        else if (model)
            try_to_load(model);
        else
            pthread_cond_wait(&cache->wake, cache->options.lock);
    }
    close_all(cache);
    unlock(cache);
    return NULL;
}

/* ---- jobs ---- */

void cached_model_await(CachedModel *model, int texts) {
    if (model->waiting == 0) model->awaited_at = clock_seconds();
    model->waiting += texts;
    bool old = model->failure && clock_seconds() > model->failed_at + RETRY_SECONDS;
    if (old && !model->current) model->failure = ATTN_MT_OK;
    if (!model->current) pthread_cond_signal(&model->cache->wake);
}

void cached_model_leave(CachedModel *model, int texts) { model->waiting -= texts; }

int cached_model_waiting(const CachedModel *model) { return model->waiting; }

bool cached_model_is_ready(const CachedModel *model) { return model->current || model->failure; }

LoadedModel *cached_model_take(CachedModel *model) {
    LoadedModel *loaded = model->current;
    if (!loaded) return NULL;
    model->used_at = clock_seconds();
    model->served = true;
    loaded->references++;
    return loaded;
}

attn_mt_status cached_model_failure(const CachedModel *model, const char **reason) {
    *reason = model->reason;
    return model->failure;
}

const attn_mt_model *loaded_model_handle(const LoadedModel *loaded) { return loaded->opened.handle; }

attn_mt_guide loaded_model_guide(const LoadedModel *loaded, const char *target) {
    const OpenedModel *opened = &loaded->opened;
    attn_mt_guide guide = {.size = sizeof guide, .target_language = target};
    for (int i = 0; i < opened->guide_count; i++) {
        const char *own = opened->guides[i].target;
        if (own && (!target || strcmp(own, target) != 0)) continue;
        guide.glossary = opened->guides[i].glossary;
        guide.memory = opened->guides[i].memory;
    }
    return guide;
}

/* ---- without the lock ---- */

void model_guides_free(ModelGuide *guides, int count) {
    for (int i = 0; i < count; i++) {
        mem_free(guides[i].target);
        strlist_free(&guides[i].glossaries);
        strlist_free(&guides[i].memories);
    }
    mem_free(guides);
}

static void copy_list(const StrList *from, StrList *to) {
    for (size_t i = 0; i < from->count; i++) strlist_add(to, sv(from->items[i]));
}

CachedModel *model_cache_add(ModelCache *cache, const ModelSource *source) {
    CachedModel *model = mem_alloc(1, sizeof *model);
    *model = (CachedModel){
        .cache = cache, .name = mem_strdup(source->name), .bytes = source->bytes, .references = 1};
    copy_list(source->paths, &model->paths);
    if (source->info) {
        model->languages = describe_languages(source->info);
        model->file = source->info->file;
    }
    model->guides = mem_alloc((size_t)source->guide_count, sizeof *model->guides);
    model->guide_count = source->guide_count;
    for (int i = 0; i < source->guide_count; i++) {
        const ModelGuide *guide = &source->guides[i];
        if (guide->target) model->guides[i].target = mem_strdup(guide->target);
        copy_list(&guide->glossaries, &model->guides[i].glossaries);
        copy_list(&guide->memories, &model->guides[i].memories);
    }
    lock(cache);
    model->next = cache->first;
    cache->first = model;
    unlock(cache);
    return model;
}

Status cached_model_load(CachedModel *model) {
    attn_mt_error error;
    OpenedModel opened;
    attn_mt_status failed = open_model(model, &opened, &error);
    if (failed) {
        Status status = failed == ATTN_MT_MEMORY ? STATUS_RUNTIME : (Status)failed;
        status_fail(status, "%s", error.message);
        if (error.hint[0]) status_hint(status, "%s", error.hint);
        return status;
    }
    lock(model->cache);
    model->fixed = true;
    set_current(model, &opened);
    unlock(model->cache);
    return STATUS_OK;
}

void cached_model_retain(CachedModel *model) {
    lock(model->cache);
    model->references++;
    unlock(model->cache);
}

void cached_model_release(CachedModel *model) {
    ModelCache *cache = model->cache;
    lock(cache);
    bool last = --model->references == 0;
    if (last) {
        CachedModel **link = &cache->first;
        while (*link != model) link = &(*link)->next;
        *link = model->next;
        drop_current(model);
    }
    unlock(cache);
    if (!last) return;
    mem_free(model->name);
    mem_free(model->languages);
    model_guides_free(model->guides, model->guide_count);
    strlist_free(&model->paths);
    mem_free(model);
}

const char *cached_model_name(const CachedModel *model) { return model->name; }

CachedModelStats cached_model_stats(CachedModel *model) {
    lock(model->cache);
    CachedModelStats stats = model->stats;
    stats.bytes = model->current ? model->current->bytes : 0;
    unlock(model->cache);
    return stats;
}

size_t model_cache_bytes(ModelCache *cache) {
    lock(cache);
    size_t bytes = cache->bytes;
    unlock(cache);
    return bytes;
}

bool model_cache_take_failure(ModelCache *cache, StatusRecord *failure) {
    lock(cache);
    bool failed = cache->failure.code != STATUS_OK;
    if (failed) *failure = cache->failure;
    cache->failure.code = STATUS_OK;
    unlock(cache);
    return failed;
}

Status model_cache_new(ModelCache **result, const ModelCacheOptions *options) {
    ModelCache *cache = mem_alloc(1, sizeof *cache);
    cache->options = *options;
    pthread_cond_init(&cache->wake, NULL);
    sigset_t before = signals_block();
    cache->started = pthread_create(&cache->thread, NULL, cache_thread, cache) == 0;
    signals_restore(before);
    *result = cache;
    return cache->started ? STATUS_OK : status_fail(STATUS_RUNTIME, "cannot start a thread");
}

void model_cache_free(ModelCache *cache) {
    if (!cache) return;
    lock(cache);
    cache->stop = true;
    pthread_cond_signal(&cache->wake);
    unlock(cache);
    if (cache->started) pthread_join(cache->thread, NULL);
    pthread_cond_destroy(&cache->wake);
    mem_free(cache);
}
