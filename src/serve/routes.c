/* routes.c - the table of routes, and those that need few lines. */
#include "io/json_write.h"
#include "serve/page.h"
#include "serve/service_private.h"

void body_writer_respond(BodyWriter *writer, void (*write)(void *context), HttpResponse response) {
    bool written = mem_scope_run(http_scope(writer->http), write, writer);
    catalog_release(writer->catalog);
    response.body = strbuf_view(&writer->body);
    if (written)
        http_respond(writer->http, &response);
    else
        http_respond_error(writer->http, 503, "out of memory");
}

void write_confidence(double confidence, StrBuf *out) {
    enum { DIGITS = 3 };
    json_put_digits(out, "confidence", 100 * confidence, DIGITS);
}

static void no_suggestions(Service *service, HttpRequest *http) {
    (void)service;
    http_respond_error(http, 404, "this server does not collect suggestions");
}

static void health(Service *service, HttpRequest *http) {
    StrView body = SV("{\"status\": \"ok\"}\n");
    (void)service;
    http_respond(http, &(HttpResponse){.status = 200, .type = "application/json", .body = body});
}

/* ---- GET /metrics ---- */

typedef struct {
    const char *name, *kind, *help;
    double (*value)(const CachedModelStats *stats);
} ModelMetric;

static double bytes_of(const CachedModelStats *stats) { return (double)stats->bytes; }
static double loads_of(const CachedModelStats *stats) { return (double)stats->loads; }
static double failures_of(const CachedModelStats *stats) { return (double)stats->failures; }
static double evictions_of(const CachedModelStats *stats) { return (double)stats->evictions; }

static const ModelMetric MODEL_METRICS[] = {
    {"model_bytes", "gauge", "memory of the model, 0 if it is not loaded", bytes_of},
    {"model_loads_total", "counter", "how often the model was loaded", loads_of},
    {"model_load_failures_total", "counter", "how often it could not be loaded", failures_of},
    {"model_evictions_total", "counter", "how often it left memory for another model", evictions_of}};

static void write_models(const Catalog *catalog, StrBuf *out) {
    for (size_t m = 0; m < sizeof MODEL_METRICS / sizeof *MODEL_METRICS; m++) {
        const ModelMetric *metric = &MODEL_METRICS[m];
        metrics_write_head(metric->name, metric->kind, metric->help, out);
        for (int i = 0; i < catalog_model_count(catalog); i++) {
            CachedModel *model = catalog_model(catalog, i);
            CachedModelStats stats = cached_model_stats(model);
            metrics_write_labelled(metric->name, "model", cached_model_name(model), metric->value(&stats),
                                   out);
        }
    }
}

static void write_metrics(void *context) {
    BodyWriter *writer = context;
    Service *service = writer->service;
    StrBuf *out = &writer->body;
    PoolStats pool = pool_stats(service->pool);
    int connections = http_connections(service->http);
    double models = (double)model_cache_bytes(pool_models(service->pool));
    metrics_write(service->metrics, out);
    metrics_write_number("waiting_texts", "gauge", "texts that wait for a thread", pool.queued_texts, out);
    metrics_write_number("waiting_characters", "gauge", "characters of these", (double)pool.queued_characters,
                         out);
    metrics_write_number("connections", "gauge", "connections that are open", connections, out);
    metrics_write_number("texts_total", "counter", "texts translated", (double)pool.texts, out);
    metrics_write_number("batches_total", "counter", "batches of texts", (double)pool.batches, out);
    metrics_write_number("reloads_total", "counter", "models loaded again, or their folders read again",
                         (double)service_reloads(service), out);
    metrics_write_number("models_bytes", "gauge", "memory of all models", models, out);
    metrics_write_number("files_bytes", "gauge", "translated files that wait to be fetched",
                         (double)file_store_bytes(service->files), out);
    write_models(writer->catalog, out);
}

static void metrics(Service *service, HttpRequest *http) {
    BodyWriter writer = {.service = service, .http = http, .catalog = service_catalog(service)};
    body_writer_respond(&writer, write_metrics,
                        (HttpResponse){.status = 200, .type = "text/plain; version=0.0.4; charset=utf-8"});
}

/* ---- the page ---- */

static void write_file(void *context) {
    BodyWriter *writer = context;
    for (const char *const *line = page_find(http_path(writer->http))->lines; *line; line++)
        strbuf_add(&writer->body, sv(*line));
}

static void page(Service *service, HttpRequest *http) {
    BodyWriter writer = {.service = service, .http = http};
    body_writer_respond(&writer, write_file,
                        (HttpResponse){.status = 200,
                                       .type = page_find(http_path(http))->type,
                                       .name = "Content-Security-Policy",
                                       .value = PAGE_POLICY});
}

typedef struct {
    const char *path, *method;
    void (*run)(Service *service, HttpRequest *http);
} Route;

static const Route ROUTES[] = {{"/translate", "POST", route_translate},
                               {"/languages", "GET", route_languages},
                               {"/frontend/settings", "GET", route_settings},
                               {"/detect", "POST", route_detect},
                               {"/suggest", "POST", no_suggestions},
                               {"/translate_file", "POST", route_translate_file},
                               {"/health", "GET", health},
                               {"/metrics", "GET", metrics},
                               {"/", "GET", page},
                               {"/page.js", "GET", page},
                               {"/page.css", "GET", page}};

static const Route DOWNLOAD = {"", "GET", route_download};

void routes_handle(void *context, HttpRequest *http) {
    Service *service = context;
    const Route *route = is_file_path(http_path(http)) ? &DOWNLOAD : NULL;
    for (size_t i = 0; i < sizeof ROUTES / sizeof *ROUTES; i++)
        if (sv_equal(http_path(http), sv(ROUTES[i].path))) route = &ROUTES[i];
    StrView method = sv_equal(http_method(http), SV("HEAD")) ? SV("GET") : http_method(http);
    if (!route)
        http_respond_error(http, 404, "not found; POST /translate translates");
    else if (!sv_equal(method, sv(route->method)))
        http_respond(http, &(HttpResponse){.status = 405,
                                           .type = "application/json",
                                           .name = "Allow",
                                           .value = route->method,
                                           .body = SV("{\"error\": \"method not allowed\"}\n")});
    else
        route->run(service, http);
}
