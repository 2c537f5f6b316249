/* translate_route.c - POST /translate and /translate_file: a request becomes a job for each model of its
 * route, one after the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "io/options.h"
#include "serve/translate_call.h"
#include "text/accelerators.h"

static JobKind kind_of(const TranslateRequest *request) {
    JobKind kind = {.html = request->format && strcmp(request->format, "html") == 0,
                    .n_best = request->alternatives >= 1 ? 1 + (int)request->alternatives : 0};
    if (request->accelerator) kind.accelerator = option_choice(ACCELERATOR_CHOICES, sv(request->accelerator));
    if (request->attention) kind.attention = request->attention[0] == 'w' ? ATTN_MT_WORDS : ATTN_MT_SUBWORDS;
    return kind;
}

/* The status of a text that failed, or ATTN_MT_OK. */
static attn_mt_status job_status(const Job *job) {
    attn_mt_status worst = ATTN_MT_OK;
    for (int i = 0; i < job->count; i++)
        if (job->items[i].status > worst) worst = job->items[i].status;
    return worst;
}

/* ---- the end ---- */

/* Frees the call. */
static void finish(TranslateCall *call, int status, const char *message) {
    HttpRequest *http = call->http;
    void (*write)(void *) = call->file ? file_route_write : translate_response_write;
    if (status == 200 && (!mem_scope_run(http_scope(http), write, call) || call->body.length == 0)) {
        status = 503;
        message = "the answer takes more memory than there is";
    }
    HttpResponse response = {.status = 200, .type = "application/json", .body = strbuf_view(&call->body)};
    job_release(&call->job);
    free(call->job.items);
    if (status == 200)
        http_respond(http, &response);
    else
        http_respond_error(http, status, message);
    catalog_release(call->catalog);
    free(call);
}

static void fail_to_load(TranslateCall *call, attn_mt_status status) {
    char message[sizeof call->job.reason + 160];
    snprintf(message, sizeof message, "the model '%.100s' cannot be loaded: %s",
             cached_model_name(call->job.kind.model), call->job.reason);
    finish(call, status == ATTN_MT_MEMORY ? 503 : 500, message);
}

static void fail(TranslateCall *call, attn_mt_status status) {
    if (call->job.reason[0])
        fail_to_load(call, status);
    else if (status == ATTN_MT_MEMORY)
        finish(call, 503, "translating this takes more memory than there is");
    else if (status == ATTN_MT_USAGE) /* request_parser.c has checked the other options */
        finish(call, 400, "the model has no attention, which 'attention' needs");
    else
        finish(call, 500, "the model cannot translate this");
}

/* ---- the steps ---- */

static bool client_gone(void *context) {
    const TranslateCall *call = context;
    return http_client_gone(call->http);
}

static void on_translated(void *context, Job *job);

/* Prepares the job of the step. Only the last model gives alternatives and attention. */
static void begin_step(TranslateCall *call, const char *const *texts, int count) {
    const CatalogStep *step = &call->route->steps[call->step];
    JobText *items = call->job.items;
    call->job = (Job){.kind = call->kind,
                      .texts = texts,
                      .items = items,
                      .count = count,
                      .goes_on = call->step > 0,
                      .done = on_translated,
                      .client_gone = client_gone,
                      .context = call};
    call->job.kind.model = step->model;
    call->job.kind.target = step->target;
    if (call->step < call->route->count - 1) call->job.kind.n_best = call->job.kind.attention = 0;
}

/* Copies the translations, which are the texts of the next step. In the scope of the request. */
static void copy_translations(void *context) {
    TranslateCall *call = context;
    const char **texts = mem_alloc((size_t)call->job.count, sizeof *texts);
    for (int i = 0; i < call->job.count; i++) texts[i] = mem_strdup(job_candidate(&call->job, i, 0)->text);
    job_release(&call->job);
    call->step++;
    begin_step(call, texts, call->job.count);
}

static void on_translated(void *context, Job *job) {
    TranslateCall *call = context;
    attn_mt_status status = job_status(job);
    if (job->cancelled) {
        finish(call, HTTP_CLIENT_CLOSED, "the client closed its side of the connection before the answer");
        return;
    }
    if (status != ATTN_MT_OK) {
        fail(call, status);
        return;
    }
    for (int i = 0; i < job->count; i++) call->problems[i] |= job_candidate(job, i, 0)->problems;
    if (call->step == call->route->count - 1)
        finish(call, 200, "");
    else if (mem_scope_run(http_scope(call->http), copy_translations, call))
        pool_submit(call->service->pool, &call->job);
    else
        fail(call, ATTN_MT_MEMORY);
}

/* ---- from the body to the queue ---- */

/* Reads the document; its texts become those of the request. */
static Status read_file(RequestParser *parser) {
    TranslateCall *call = parser->call;
    const char *host = http_header(call->http, "Host"),
               *scheme = http_header(call->http, "X-Forwarded-Proto");
    TRY(file_route_open(&call->document, &parser->request, call->service->options->max_characters));
    parser->request.texts = file_route_texts(&call->document);
    parser->request.count = (int)call->document.count;
    if (host) call->host = mem_strdup(host);
    call->secure = scheme && strcmp(scheme, "https") == 0;
    return request_parser_choose(parser);
}

/* Copies what the translation and its response need. */
static void copy_request(void *context) {
    RequestParser *parser = context;
    const TranslateRequest *request = &parser->request;
    TranslateCall *call = parser->call;
    if (call->file) parser->status = read_file(parser);
    if (parser->status != STATUS_OK) return;
    call->source = parser->source;
    call->target = parser->target;
    call->route = catalog_route(call->catalog, parser->source, parser->target);
    call->list = request->q_is_list;
    call->detect = request->source && strcmp(request->source, "auto") == 0;
    if (call->file)
        call->kind.document = call->document.format;
    else
        call->kind = kind_of(request);
    call->problems = mem_alloc((size_t)request->count, sizeof *call->problems);
    call->texts = translate_request_copy(request);
    begin_step(call, call->texts, request->count);
}

static void submit(TranslateCall *call) {
    call->job.items = calloc((size_t)call->job.count, sizeof *call->job.items);
    if (call->job.items && pool_submit(call->service->pool, &call->job)) return;
    call->job.count = 0;
    finish(call, 503, call->job.items ? "too much text is waiting: try again later" : "out of memory");
}

static void parse_and_submit(TranslateCall *call, MemScope *scope) {
    RequestParser parser = {.service = call->service,
                            .http = call->http,
                            .catalog = call->catalog,
                            .translate = true,
                            .file = call->file,
                            .call = call};
    bool had_memory = mem_scope_run(scope, request_parser_run, &parser);
    int status;
    bool valid = request_parser_refusal(&parser, had_memory, &status) == NULL;
    if (valid) had_memory = mem_scope_run(http_scope(call->http), copy_request, &parser);
    mem_scope_free(scope);
    if (had_memory) http_release_body(call->http);
    const char *message = request_parser_refusal(&parser, had_memory, &status);
    if (!had_memory) call->job.count = 0;
    if (message)
        finish(call, status, message);
    else if (call->job.count == 0)
        finish(call, 200, "");
    else
        submit(call);
}

static void begin(Service *service, HttpRequest *http, bool file) {
    TranslateCall *call = calloc(1, sizeof *call);
    MemScope *scope = request_parser_scope(service);
    if (!call || !scope) {
        free(call);
        mem_scope_free(scope);
        http_respond_error(http, 503, "out of memory");
        return;
    }
    *call =
        (TranslateCall){.service = service, .http = http, .file = file, .catalog = service_catalog(service)};
    parse_and_submit(call, scope);
}

void route_translate(Service *service, HttpRequest *http) { begin(service, http, false); }

void route_translate_file(Service *service, HttpRequest *http) { begin(service, http, true); }
