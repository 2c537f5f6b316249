/* model_cache.h - the models of the server: which ones are in memory, and how they get there.
 *
 *     absent --a job waits for it--> loading --> in memory --another needs the place--> absent
 *                                       |
 *                                       +--> failed: jobs get the reason; a job that comes RETRY_SECONDS
 *                                            later begins again
 *
 * One thread of the cache loads and closes models, so that threads that translate never wait for it. It loads
 * the model that jobs have waited for longest. If that would pass ModelCacheOptions.most_bytes, models leave,
 * least recently used first: those that no text waits for, and after PATIENCE_SECONDS also the others, in the
 * order in which they came, but none before it has served a batch and half a second. So models that do not
 * fit side by side take turns. A model that leaves is closed when its last batch ends.
 *
 * A fixed model is loaded at once, never leaves, and is loaded again by a reload.
 *
 *   Bytes     of models in memory, also while their last batches run; without the memory of the batches.
 *             A model that is larger than all places together fails
 *   Threads   all functions take the lock of ModelCacheOptions, except those that need it ("under the lock")
 *   Owner     a CachedModel is counted: its catalogs hold it (catalog.h). The jobs of a request hold the
 *             catalog
 */
#ifndef SERVE_MODEL_CACHE_H
#define SERVE_MODEL_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include "base/status.h"
#include "base/strview.h"
#include "library/attn_mt.h"
#include "models/modelfile.h"

typedef struct ModelCache ModelCache;
typedef struct CachedModel CachedModel;
typedef struct LoadedModel LoadedModel; /* counted: the cache and each batch hold it */

typedef struct {
    attn_mt_precision precision;
    int shortlist;     /* as in attn_mt_options: models without a list fail */
    size_t most_bytes; /* 0: no limit */
    pthread_mutex_t *lock;
    pthread_cond_t *changed; /* signalled when a model was loaded or failed */
} ModelCacheOptions;

Status model_cache_new(ModelCache **cache, const ModelCacheOptions *options);
void model_cache_free(ModelCache *cache); /* no job may be left */
size_t model_cache_bytes(ModelCache *cache);
/* Copies the reason of a failure that this function has not returned before. False: there is none. */
bool model_cache_take_failure(ModelCache *cache, StatusRecord *failure);

/* Glossaries and translation memories for translations into a language. */
typedef struct {
    char *target;                 /* language token of the model; NULL: any */
    StrList glossaries, memories; /* files */
} ModelGuide;

void model_guides_free(ModelGuide *guides, int count); /* with the array */

/* Everything is copied. */
typedef struct {
    const char *name;
    const StrList *paths;     /* an ensemble if they are several */
    size_t bytes;             /* about what it will take */
    const ModelInfo *info;    /* its file must still have these languages when it is loaded; NULL: any */
    const ModelGuide *guides; /* [guide_count] */
    int guide_count;
} ModelSource;

CachedModel *model_cache_add(ModelCache *cache, const ModelSource *source);
/* Loads a model that becomes fixed, or loads it again. If that fails, the old one stays. */
Status cached_model_load(CachedModel *model);
void cached_model_retain(CachedModel *model);
void cached_model_release(CachedModel *model);
const char *cached_model_name(const CachedModel *model);

typedef struct {
    size_t bytes; /* 0: not in memory */
    long loads, failures, evictions;
} CachedModelStats;
CachedModelStats cached_model_stats(CachedModel *model);

/* Under the lock: */

void cached_model_await(CachedModel *model, int texts); /* texts of a job join the queue, */
void cached_model_leave(CachedModel *model, int texts); /* or leave it */
int cached_model_waiting(const CachedModel *model);     /* texts in the queue */
/* Can a batch begin? It can if the model has failed: then the batch fails. */
bool cached_model_is_ready(const CachedModel *model);
/* A reference to the model in memory; NULL: it has failed. */
LoadedModel *cached_model_take(CachedModel *model);
/* ATTN_MT_OK unless the model has failed. The reason is for clients: without the folder of the file. */
attn_mt_status cached_model_failure(const CachedModel *model, const char **reason);
void loaded_model_release(LoadedModel *loaded);
const attn_mt_model *loaded_model_handle(const LoadedModel *loaded);
/* With the glossary and the translation memory for this target, as in ModelGuide. */
attn_mt_guide loaded_model_guide(const LoadedModel *loaded, const char *target);

#endif
