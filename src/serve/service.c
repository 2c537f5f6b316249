/* service.c - routes, and a request's way from its body to its answer. */
#include "serve/service.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/workers.h"
#include "serve/request.h"
#include "serve/http.h"
#include "serve/keys.h"
#include "serve/metrics.h"
#include "serve/page.h"
#include "serve/pool.h"
#include "text/languages.h"

enum { BODIES_AT_A_TIME = 64, TICK_NANOSECONDS = 250000000 };
/* What reading a request may take: so many times the largest body, and for its values. */
enum { READING_BODIES = 4, READING_BYTES = 1 << 20 };
enum { ANSWERS_BYTES = 64 << 20 /* of all answers that clients have not taken yet, at least */ };

typedef struct {
    const ServiceOptions *options;
    StrView source, target; /* language codes; empty: not known */
    Keys *keys;
    Metrics *metrics;
    Pool *pool;
    HttpServer *http;
} Service;

/* ---- languages ---- */

static bool is_code(StrView text) {
    for (size_t i = 0; i < text.length; i++)
        if (!isalnum((unsigned char)text.data[i]) && text.data[i] != '_' && text.data[i] != '-') return false;
    return text.length > 0;
}

/* As --languages says, else as the model does, which may say anything; the views may be of `trained`. */
static void find_languages(const Service *service, PoolLanguages *trained, StrView *source, StrView *target) {
    *trained = pool_languages(service->pool);
    *source = service->source;
    *target = service->target;
    if (source->length > 0) return;
    bool known = is_code(sv(trained->source)) && is_code(sv(trained->target));
    *source = known ? sv(trained->source) : SV("source");
    *target = known ? sv(trained->target) : SV("target");
}

/* ---- POST /translate ---- */

/* One request that is translated. Texts and `body` are in the scope of `request`. */
typedef struct {
    Service *service;
    HttpRequest *request;
    Job job;
    bool list, detect; /* are lists wanted in the answer, and the language of the texts? */
    StrBuf body;
} Translating;

static Status check_language(const char *given, StrView known, const char *name) {
    if (!given || known.length == 0 || strcmp(given, "auto") == 0) return STATUS_OK;
    if (language_same(sv(given), known)) return STATUS_OK;
    return status_fail(STATUS_DATA, "%s language '%.20s' is not supported; it is '%.*s' here", name, given,
                       SV_ARG(known));
}

static Status check_sizes(const ServiceOptions *options, const TranslateRequest *asked) {
    size_t characters = 0;
    for (int i = 0; i < asked->count; i++) characters += utf8_count(sv(asked->texts[i]));
    if (asked->count > options->max_texts)
        return status_fail(STATUS_DATA, "%d texts are more than %d", asked->count, options->max_texts);
    if (characters > (size_t)options->max_characters)
        return status_fail(STATUS_DATA, "%zu characters are more than %d", characters,
                           options->max_characters);
    /* An empty line would not take it either, however often it is tried. */
    if (pool_characters(asked->texts, asked->count) > (size_t)options->max_waiting / 2)
        return status_fail(STATUS_DATA, "%d texts of %zu characters are more than may wait", asked->count,
                           characters);
    double alternatives = asked->alternatives;
    if (!(alternatives >= 0 && alternatives <= options->max_alternatives) ||
        alternatives != (int)alternatives)
        return status_fail(STATUS_DATA, "'alternatives' is not 0 to %d, a whole number",
                           options->max_alternatives);
    return STATUS_OK;
}

static Status check_request(const Service *service, const TranslateRequest *asked) {
    TRY(check_language(asked->source, service->source, "source"));
    TRY(check_language(asked->target, service->target, "target"));
    TRY(check_sizes(service->options, asked));
    if (asked->format && strcmp(asked->format, "text") != 0 && strcmp(asked->format, "html") != 0)
        return status_fail(STATUS_DATA, "'format' is neither text nor html");
    if (asked->attention && strcmp(asked->attention, "word") != 0 && strcmp(asked->attention, "subword") != 0)
        return status_fail(STATUS_DATA, "'attention' is neither word nor subword");
    return STATUS_OK;
}

static JobKind kind_of(const TranslateRequest *asked) {
    JobKind kind = {.html = asked->format && strcmp(asked->format, "html") == 0,
                    .n_best = asked->alternatives >= 1 ? 1 + (int)asked->alternatives : 0};
    if (asked->attention) kind.attention = asked->attention[0] == 'w' ? ATTN_MT_WORDS : ATTN_MT_SUBWORDS;
    return kind;
}

/* ---- its answer ---- */

static void write_alternatives(const Job *job, int text, StrBuf *out) {
    const attn_mt_candidate *candidate;
    strbuf_add_char(out, '[');
    for (int rank = 1; rank < job->kind.n_best && (candidate = job_candidate(job, text, rank)); rank++) {
        if (rank > 1) strbuf_add(out, SV(", "));
        json_write_string(out, sv(candidate->text));
    }
    strbuf_add_char(out, ']');
}

static void write_labels(const char *const *labels, int count, StrBuf *out) {
    for (int i = 0; i < count; i++) {
        strbuf_add(out, i > 0 ? SV(", ") : SV("["));
        json_write_string(out, sv(labels[i]));
    }
    strbuf_add_char(out, ']');
}

static void write_attention(const Job *job, int text, StrBuf *out) {
    const attn_mt_matrix *matrix = job_attention(job, text);
    if (!matrix) {
        strbuf_add(out, SV("null"));
        return;
    }
    strbuf_add(out, SV("{\"source\": "));
    write_labels(matrix->column_labels, matrix->columns, out);
    strbuf_add(out, SV(", \"target\": "));
    write_labels(matrix->row_labels, matrix->rows, out);
    strbuf_add(out, SV(", \"weights\": ["));
    for (int t = 0; t < matrix->rows; t++) {
        const float *row = matrix->weights + (size_t)t * (size_t)matrix->columns;
        for (int s = 0; s < matrix->columns; s++)
            strbuf_format(out, "%s%.4g", s > 0 ? ", " : t > 0 ? "], [" : "[", (double)row[s]);
    }
    strbuf_add(out, SV("]]}"));
}

static void write_text(const Job *job, int text, StrBuf *out) {
    json_write_string(out, sv(job_candidate(job, text, 0)->text));
}

/* Nobody looked which language it is: the model has but one. */
static void write_detected(const Job *job, int text, StrBuf *out) {
    const Translating *t = job->context;
    PoolLanguages trained;
    StrView source, target;
    (void)text;
    find_languages(t->service, &trained, &source, &target);
    strbuf_format(out, "{\"confidence\": 0, \"language\": \"%.*s\"}", SV_ARG(source));
}

/* A member of the answer: of one text, or the list of all texts'. */
static void write_member(const Translating *t, const char *name,
                         void (*write)(const Job *job, int text, StrBuf *out), StrBuf *out) {
    strbuf_format(out, "%s\"%s\": %s", out->length > 1 ? ", " : "", name, t->list ? "[" : "");
    for (int i = 0; i < t->job.count; i++) {
        if (i > 0) strbuf_add(out, SV(", "));
        write(&t->job, i, out);
    }
    if (t->list) strbuf_add_char(out, ']');
}

static void write_answer(void *context) {
    Translating *t = context;
    StrBuf *out = &t->body;
    strbuf_add_char(out, '{');
    write_member(t, "translatedText", write_text, out);
    if (t->job.kind.n_best > 0) write_member(t, "alternatives", write_alternatives, out);
    if (t->job.kind.attention) write_member(t, "attention", write_attention, out);
    if (t->detect) write_member(t, "detectedLanguage", write_detected, out);
    strbuf_add(out, SV("}\n"));
}

/* The worst that happened to a text of the job. */
static attn_mt_status job_status(const Job *job) {
    attn_mt_status worst = ATTN_MT_OK;
    for (int i = 0; i < job->count; i++)
        if (job->items[i].status > worst) worst = job->items[i].status;
    return worst;
}

/* Answer, and forget the request. */
static void finish(Translating *t, int status, const char *message) {
    HttpRequest *request = t->request;
    if (status == 200 && !mem_scope_run(http_scope(request), write_answer, t)) {
        status = 503;
        message = "the answer takes more memory than there is";
    }
    HttpAnswer answer = {.status = 200, .type = "application/json", .body = strbuf_view(&t->body)};
    job_release(&t->job);
    free(t->job.items);
    free(t);
    if (status == 200)
        http_answer(request, &answer);
    else
        http_answer_error(request, status, message);
}

static bool is_unwanted(void *context) {
    const Translating *t = context;
    return http_hung_up(t->request);
}

static void on_translated(void *context, Job *job) {
    attn_mt_status status = job_status(job);
    if (job->dropped)
        finish(context, HTTP_HUNG_UP, "the client closed its side of the connection before the answer");
    else if (status == ATTN_MT_OK)
        finish(context, 200, "");
    else if (status == ATTN_MT_MEMORY)
        finish(context, 503, "translating this takes more memory than there is");
    else if (status == ATTN_MT_USAGE) /* the rest of what is asked was checked */
        finish(context, 400, "the model has no attention, which 'attention' and format 'html' need");
    else
        finish(context, 500, "the model cannot translate this");
}

/* ---- its way ---- */

/* What is needed to read a request, in a scope of its own, and no longer. */
typedef struct {
    Translating *t;
    TranslateRequest asked;
    Status status;
    bool allowed;
} Reading;

/* Read it; who may not ask is told no more. */
static void read_request(void *context) {
    Reading *reading = context;
    const Service *service = reading->t->service;
    const HttpRequest *request = reading->t->request;
    reading->status = translate_request_read(&reading->asked, http_content_type(request), http_body(request),
                                             service->options->max_texts);
    reading->allowed = reading->status != STATUS_OK || keys_allow(service->keys, reading->asked.api_key);
    if (reading->status == STATUS_OK && reading->allowed)
        reading->status = check_request(service, &reading->asked);
}

/* Keep what the translation and its answer need. */
static void keep_request(void *context) {
    const Reading *reading = context;
    const TranslateRequest *asked = &reading->asked;
    Translating *t = reading->t;
    t->list = asked->list;
    t->detect = asked->source && strcmp(asked->source, "auto") == 0;
    t->job = (Job){.kind = kind_of(asked),
                   .texts = translate_request_copy(asked),
                   .count = asked->count,
                   .done = on_translated,
                   .unwanted = is_unwanted,
                   .context = t};
}

/* Put its texts into the line. */
static void submit(Translating *t) {
    t->job.items = calloc((size_t)t->job.count, sizeof *t->job.items);
    if (t->job.items && pool_submit(t->service->pool, &t->job)) return;
    t->job.count = 0;
    finish(t, 503, t->job.items ? "too much text is waiting: try again later" : "out of memory");
}

static void translate_with(Translating *t, MemScope *scope) {
    Reading reading = {.t = t};
    bool whole = mem_scope_run(scope, read_request, &reading);
    bool sound = whole && reading.allowed && reading.status == STATUS_OK;
    if (sound) whole = mem_scope_run(http_scope(t->request), keep_request, &reading);
    mem_scope_free(scope);
    if (whole) http_forget_body(t->request);
    if (!whole)
        finish(t, 413, "reading this takes more memory than there is");
    else if (!reading.allowed)
        finish(t, 403, "the API key is missing or not valid");
    else if (reading.status != STATUS_OK)
        finish(t, 400, status_message());
    else if (t->job.count == 0)
        finish(t, 200, "");
    else
        submit(t);
}

static void translate(Service *service, HttpRequest *request) {
    Translating *t = calloc(1, sizeof *t);
    MemScope *scope = mem_scope_new(READING_BODIES * (size_t)service->options->max_body + READING_BYTES);
    if (!t || !scope) {
        free(t);
        mem_scope_free(scope);
        http_answer_error(request, 503, "out of memory");
        return;
    }
    *t = (Translating){.service = service, .request = request};
    translate_with(t, scope);
}

/* ---- the other routes ---- */

/* What a route writes in the scope of its request. */
typedef struct {
    Service *service;
    HttpRequest *request;
    const PageFile *file;
    StrBuf body;
} Writing;

static void answer_writing(Writing *writing, void (*write)(void *context), HttpAnswer answer) {
    if (!mem_scope_run(http_scope(writing->request), write, writing)) {
        http_answer_error(writing->request, 503, "out of memory");
        return;
    }
    answer.body = strbuf_view(&writing->body);
    http_answer(writing->request, &answer);
}

/* {"code": "en", "name": "English", "targets": ["fr"]}; pt-BR is "Portuguese (BR)" */
static void write_language(StrView code, StrView target, StrBuf *out) {
    StrView base = language_code(code), name = language_name(base.length > 0 ? base : code);
    strbuf_format(out, "{\"code\": \"%.*s\", \"name\": \"%c%.*s", SV_ARG(code),
                  toupper((unsigned char)name.data[0]), (int)name.length - 1, name.data + 1);
    if (base.length == 2 && code.length > 3 && strchr("-_", code.data[2]))
        strbuf_format(out, " (%.*s)", (int)code.length - 3, code.data + 3);
    strbuf_add(out, SV("\", \"targets\": ["));
    if (target.length > 0) json_write_string(out, target);
    strbuf_add(out, SV("]}"));
}

static void write_languages(void *context) {
    Writing *writing = context;
    PoolLanguages trained;
    StrView source, target;
    find_languages(writing->service, &trained, &source, &target);
    strbuf_add_char(&writing->body, '[');
    write_language(source, target, &writing->body);
    strbuf_add(&writing->body, SV(", "));
    write_language(target, (StrView){0}, &writing->body);
    strbuf_add(&writing->body, SV("]\n"));
}

static void languages(Service *service, HttpRequest *request) {
    Writing writing = {.service = service, .request = request};
    answer_writing(&writing, write_languages, (HttpAnswer){.status = 200, .type = "application/json"});
}

static void health(Service *service, HttpRequest *request) {
    StrView body = SV("{\"status\": \"ok\"}\n");
    (void)service;
    http_answer(request, &(HttpAnswer){.status = 200, .type = "application/json", .body = body});
}

static void write_metrics(void *context) {
    Writing *writing = context;
    Service *service = writing->service;
    StrBuf *out = &writing->body;
    PoolFigures pool = pool_figures(service->pool);
    int connections = http_connections(service->http);
    metrics_write(service->metrics, out);
    metrics_write_number("waiting_texts", "gauge", "texts that wait for a thread", pool.waiting, out);
    metrics_write_number("waiting_characters", "gauge", "characters of these", (double)pool.characters, out);
    metrics_write_number("connections", "gauge", "connections that are open", connections, out);
    metrics_write_number("texts_total", "counter", "texts translated", (double)pool.texts, out);
    metrics_write_number("batches_total", "counter", "batches of texts", (double)pool.batches, out);
    metrics_write_number("reloads_total", "counter", "models loaded again", (double)pool.reloads, out);
}

static void metrics(Service *service, HttpRequest *request) {
    Writing writing = {.service = service, .request = request};
    answer_writing(&writing, write_metrics,
                   (HttpAnswer){.status = 200, .type = "text/plain; version=0.0.4; charset=utf-8"});
}

static void write_file(void *context) {
    Writing *writing = context;
    for (const char *const *line = writing->file->lines; *line; line++) strbuf_add(&writing->body, sv(*line));
}

static void page(Service *service, HttpRequest *request) {
    Writing writing = {.service = service, .request = request, .file = page_find(http_path(request))};
    answer_writing(&writing, write_file,
                   (HttpAnswer){.status = 200,
                                .type = writing.file->type,
                                .name = "Content-Security-Policy",
                                .value = PAGE_POLICY});
}

typedef struct {
    const char *path, *method;
    void (*run)(Service *service, HttpRequest *request);
} Route;

static const Route ROUTES[] = {{"/translate", "POST", translate},
                               {"/languages", "GET", languages},
                               {"/health", "GET", health},
                               {"/metrics", "GET", metrics},
                               {"/", "GET", page},
                               {"/page.js", "GET", page},
                               {"/page.css", "GET", page}};

static void on_request(void *context, HttpRequest *request) {
    Service *service = context;
    const Route *route = NULL;
    for (size_t i = 0; i < sizeof ROUTES / sizeof *ROUTES; i++)
        if (sv_equal(http_path(request), sv(ROUTES[i].path))) route = &ROUTES[i];
    StrView method = sv_equal(http_method(request), SV("HEAD")) ? SV("GET") : http_method(request);
    if (!route)
        http_answer_error(request, 404, "there is nothing here; POST /translate translates");
    else if (!sv_equal(method, sv(route->method)))
        http_answer(request, &(HttpAnswer){.status = 405,
                                           .type = "application/json",
                                           .name = "Allow",
                                           .value = route->method,
                                           .body = SV("{\"error\": \"not with this method\"}\n")});
    else
        route->run(service, request);
}

static void on_answered(void *context, int status, double seconds) {
    const Service *service = context;
    metrics_add(service->metrics, status, seconds);
}

/* ---- the server ---- */

/* "en-fr". */
static Status read_languages(Service *service) {
    const char *text = service->options->languages;
    if (!text) return STATUS_OK;
    TRY(languages_split(text, &service->source, &service->target));
    if (is_code(service->source) && is_code(service->target)) return STATUS_OK;
    status_fail(STATUS_USAGE, "--languages '%s' has more than letters and digits", text);
    return status_hint(STATUS_USAGE, "codes of languages, as in en-fr");
}

/* As a browser sends it, scheme and host, without a path. */
static Status check_origin(const char *origin) {
    if (!origin || strcmp(origin, "*") == 0) return STATUS_OK;
    const char *host = strstr(origin, "://");
    bool sound = host && host > origin && host[3] && !strchr(host + 3, '/');
    for (const char *c = origin; *c; c++) sound = sound && *c > ' ' && *c <= '~';
    if (sound) return STATUS_OK;
    status_fail(STATUS_USAGE, "--allow-origin '%s' is no origin of pages", origin);
    return status_hint(STATUS_USAGE, "scheme, host and port, as in https://example.org, or * for all");
}

static Status service_begin(Service *service) {
    const ServiceOptions *options = service->options;
    PoolOptions pool = {.models = &options->models,
                        .precision = (attn_mt_precision)options->precision,
                        .threads = options->threads > 0 ? options->threads : workers_default_count(),
                        .batch = options->mini_batch,
                        .beam_size = options->beam_size,
                        .shortlist = options->shortlist,
                        .split = options->split,
                        .most_waiting = (size_t)options->max_waiting,
                        .memory = (size_t)options->max_memory << 20};
    HttpOptions http = {.socket = options->socket,
                        .address = options->address,
                        .port = options->port,
                        .connections = options->connections,
                        .body = (size_t)options->max_body,
                        .bodies = (size_t)options->max_body * BODIES_AT_A_TIME,
                        .answers = (size_t)options->max_body * BODIES_AT_A_TIME,
                        .timeout = options->timeout,
                        .origin = options->origin,
                        .handler = on_request,
                        .watch = on_answered,
                        .context = service};
    if (http.answers < ANSWERS_BYTES) http.answers = ANSWERS_BYTES;
    TRY(read_languages(service));
    TRY(check_origin(options->origin));
    if (options->models.count == 0) {
        status_fail(STATUS_USAGE, "no model given");
        return status_hint(STATUS_USAGE, "name one with --model FILE (training writes best.safetensors)");
    }
    if (options->api_key_file) TRY(keys_read(service->keys, options->api_key_file));
    TRY(pool_new(&service->pool, &pool));
    return http_start(&service->http, &http);
}

/* Keys and models, or neither. */
static Status load_both(const Service *service) {
    const char *path = service->options->api_key_file;
    Keys *fresh = keys_new();
    Status status = path ? keys_read(fresh, path) : STATUS_OK;
    if (status == STATUS_OK) status = pool_reload(service->pool);
    if (status == STATUS_OK) keys_swap(service->keys, fresh);
    keys_free(fresh);
    return status;
}

static void load_again(const Service *service) {
    if (load_both(service) == STATUS_OK) {
        if (!service->options->quiet) log_info("loaded again");
        return;
    }
    log_failure();
    log_warn("what was loaded before is served on");
}

Status service_run(const ServiceOptions *options, const volatile sig_atomic_t *stop,
                   volatile sig_atomic_t *reload, Status (*ready)(const char *address, int port)) {
    Service service = {.options = options, .keys = keys_new(), .metrics = metrics_new()};
    Status status = service_begin(&service);
    if (status == STATUS_OK) status = ready(http_address(service.http), http_port(service.http));
    while (status == STATUS_OK && !*stop) {
        nanosleep(&(struct timespec){.tv_nsec = TICK_NANOSECONDS}, NULL);
        if (http_tick(service.http)) pool_trim(service.pool);
        if (!*reload) continue;
        *reload = 0;
        load_again(&service);
    }
    if (service.http) http_stop(service.http);
    pool_free(service.pool);
    metrics_free(service.metrics);
    keys_free(service.keys);
    return status;
}
