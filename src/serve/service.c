/* service.c - starts and stops the server, and loads keys and models again. */
#include "serve/service.h"

#include <ctype.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/workers.h"
#include "serve/service_private.h"
#include "text/languages.h"

enum { TICK_NANOSECONDS = 250000000 };
enum { MAX_BODIES = 64 /* largest bodies of all requests together */ };
enum { FILE_SECONDS = 30 * 60 /* how long a translated file waits to be fetched */ };
enum { MIN_MAX_RESPONSES = 64 << 20 /* least value of HttpOptions.max_responses, bytes */ };

Catalog *service_catalog(Service *service) {
    pthread_mutex_lock(&service->lock);
    Catalog *catalog = catalog_retain(service->catalog);
    pthread_mutex_unlock(&service->lock);
    return catalog;
}

long service_reloads(Service *service) {
    pthread_mutex_lock(&service->lock);
    long reloads = service->reloads;
    pthread_mutex_unlock(&service->lock);
    return reloads;
}

static void on_response(void *context, int status, double seconds) {
    const Service *service = context;
    metrics_add(service->metrics, status, seconds);
}
/* ---- start ---- */

static bool is_code(StrView text) {
    for (size_t i = 0; i < text.length; i++)
        if (!isalnum((unsigned char)text.data[i]) && text.data[i] != '_' && text.data[i] != '-') return false;
    return text.length > 0;
}

/* Splits --languages, as in "en-fr". */
static Status read_languages(Service *service) {
    const char *text = service->options->languages;
    if (!text) return STATUS_OK;
    TRY(languages_split(text, &service->pair.source, &service->pair.target));
    if (is_code(service->pair.source) && is_code(service->pair.target)) return STATUS_OK;
    status_fail(STATUS_USAGE, "--languages '%s' is not a pair of language codes", text);
    return status_hint(STATUS_USAGE, "codes have letters, digits and _, as in en-fr");
}

/* A browser sends scheme and host, without a path. */
static Status check_origin(const char *origin) {
    if (!origin || strcmp(origin, "*") == 0) return STATUS_OK;
    const char *host = strstr(origin, "://");
    bool sound = host && host > origin && host[3] && !strchr(host + 3, '/');
    for (const char *c = origin; *c; c++) sound = sound && *c > ' ' && *c <= '~';
    if (sound) return STATUS_OK;
    status_fail(STATUS_USAGE, "--allow-origin '%s' is not the origin of a page", origin);
    return status_hint(STATUS_USAGE, "scheme, host and port, as in https://example.org, or * for all");
}

/* Bytes of all models: --max-memory, or half of the machine's. */
static size_t model_memory(const ServiceOptions *options) {
    if (options->max_memory > 0) return (size_t)options->max_memory << 20;
    return (size_t)sysconf(_SC_PHYS_PAGES) / 2 * (size_t)sysconf(_SC_PAGESIZE);
}

static Status open_folders(const Service *service, const Catalog *old, Catalog **catalog) {
    const ServiceOptions *options = service->options;
    PairFiles files;
    Status status = pair_files_read(&files, &options->glossaries, &options->memories);
    if (status == STATUS_OK)
        status = catalog_open_folders(catalog, pool_models(service->pool), old, service->pair, &files,
                                      options->quiet);
    pair_files_free(&files);
    return status;
}

/* `old`: the catalog before, or NULL. */
static Status open_catalog(const Service *service, const Catalog *old, Catalog **catalog) {
    const ServiceOptions *options = service->options;
    ModelGuide guide = {.glossaries = options->glossaries, .memories = options->memories};
    *catalog = NULL;
    if (options->models.count == 0) return open_folders(service, old, catalog);
    if (old) return catalog_reopen_fixed(catalog, old, service->pair);
    return catalog_open_fixed(catalog, pool_models(service->pool), &options->models, service->pair, &guide);
}

static Status service_begin(Service *service) {
    const ServiceOptions *options = service->options;
    PoolOptions pool = {.precision = (attn_mt_precision)options->precision,
                        .threads = options->threads > 0 ? options->threads : workers_default_count(),
                        .max_batch = options->mini_batch,
                        .beam_size = options->beam_size,
                        .shortlist = options->shortlist,
                        .split = options->split,
                        .max_queued = (size_t)options->max_waiting,
                        .batch_memory = (size_t)options->batch_memory << 20,
                        .model_memory = model_memory(options)};
    HttpOptions http = {.socket = options->socket,
                        .address = options->address,
                        .port = options->port,
                        .max_connections = options->connections,
                        .max_body = (size_t)options->max_body,
                        .max_bodies = (size_t)options->max_body * MAX_BODIES,
                        .max_responses = (size_t)options->max_body * MAX_BODIES,
                        .timeout = options->timeout,
                        .origin = options->origin,
                        .handler = routes_handle,
                        .observer = on_response,
                        .context = service};
    if (http.max_responses < MIN_MAX_RESPONSES) http.max_responses = MIN_MAX_RESPONSES;
    TRY(read_languages(service));
    TRY(check_origin(options->origin));
    if (options->api_key_file) TRY(keys_read(service->keys, options->api_key_file));
    service->files = file_store_new(http.max_bodies, FILE_SECONDS);
    if (!service->files) return status_fail(STATUS_RUNTIME, "out of memory");
    TRY(pool_new(&service->pool, &pool));
    TRY(open_catalog(service, NULL, &service->catalog));
    return http_start(&service->http, &http);
}

/* ---- reload, and the loop ---- */

static void set_catalog(Service *service, Catalog *new_catalog) {
    pthread_mutex_lock(&service->lock);
    Catalog *old = service->catalog;
    service->catalog = new_catalog;
    service->reloads++;
    pthread_mutex_unlock(&service->lock);
    catalog_release(old);
}

/* Replaces keys and models, or neither. */
static Status reload_keys_and_models(Service *service) {
    const char *path = service->options->api_key_file;
    Keys *new_keys = keys_new();
    Catalog *catalog;
    Status status = path ? keys_read(new_keys, path) : STATUS_OK;
    if (status == STATUS_OK) status = open_catalog(service, service->catalog, &catalog);
    if (status == STATUS_OK) {
        keys_swap(service->keys, new_keys);
        set_catalog(service, catalog);
    }
    keys_free(new_keys);
    return status;
}

static void reload_all(Service *service) {
    if (reload_keys_and_models(service) == STATUS_OK) {
        if (!service->options->quiet) log_info("loaded again");
        return;
    }
    log_failure();
    log_warn("the server continues with the old models and keys");
}

/* Models that could not be loaded. */
static void warn_of_failures(const Service *service) {
    StatusRecord failure;
    if (model_cache_take_failure(pool_models(service->pool), &failure)) log_warn("%s", failure.message);
}

Status service_run(const ServiceOptions *options, const volatile sig_atomic_t *stop,
                   volatile sig_atomic_t *reload, Status (*ready)(const char *address, int port)) {
    Service service = {.options = options, .keys = keys_new(), .metrics = metrics_new()};
    pthread_mutex_init(&service.lock, NULL);
    Status status = service_begin(&service);
    if (status == STATUS_OK) status = ready(http_address(service.http), http_port(service.http));
    while (status == STATUS_OK && !*stop) {
        nanosleep(&(struct timespec){.tv_nsec = TICK_NANOSECONDS}, NULL);
        file_store_expire(service.files, clock_seconds());
        if (http_tick(service.http)) pool_trim(service.pool);
        warn_of_failures(&service);
        if (!*reload) continue;
        *reload = 0;
        reload_all(&service);
    }
    if (service.http) http_stop(service.http);
    catalog_release(service.catalog);
    pool_free(service.pool);
    file_store_free(service.files);
    pthread_mutex_destroy(&service.lock);
    metrics_free(service.metrics);
    keys_free(service.keys);
    return status;
}
