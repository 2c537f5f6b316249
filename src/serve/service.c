/* service.c - the routes, and the way of a request to translate from its body to its answer. */
#include "serve/service.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "io/json.h"
#include "io/options.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/workers.h"
#include "serve/http.h"
#include "serve/keys.h"
#include "serve/metrics.h"
#include "serve/page.h"
#include "serve/pool.h"
#include "serve/request.h"
#include "text/accelerators.h"
#include "text/detect.h"
#include "text/languages.h"

enum { TICK_NANOSECONDS = 250000000 };
enum { MAX_BODIES = 64 /* largest bodies of all requests together */ };
/* Limit of the memory for parsing a request: largest bodies, and bytes for its values. */
enum { PARSE_BODIES = 4, PARSE_BYTES = 1 << 20 };
enum { FRONTEND_TIMEOUT = 500 /* milliseconds that LibreTranslate's page waits for the next key */ };
enum { MIN_MAX_ANSWERS = 64 << 20 /* least value of HttpOptions.max_answers, bytes */ };

typedef struct {
    const ServiceOptions *options;
    StrView source, target; /* language codes of --languages; empty without */
    char *detected[2];      /* codes of source and target at the start, for the detector */
    Detector *detector;     /* NULL: the languages are unknown, or the program was built without detection */
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

/* Is `name` the name of a language, and not "source" or "target"? */
static bool is_language(StrView name) {
    Language language;
    return is_code(name) && language_read(name, &language) && language.code.length <= 3;
}

/* The languages of --languages, otherwise those of the model. True if they are known; then requests for other
 * languages are refused. The views can point into *trained. */
static bool find_languages(const Service *service, PoolLanguages *trained, StrView *source, StrView *target) {
    *trained = pool_languages(service->pool);
    *source = service->source;
    *target = service->target;
    if (source->length > 0) return true;
    *source = sv(trained->source);
    *target = sv(trained->target);
    if (is_language(*source) && is_language(*target)) return true;
    bool codes = is_code(*source) && is_code(*target);
    if (!codes) *source = SV("source"), *target = SV("target");
    return false;
}

/* ---- POST /translate ---- */

/* A request to translate, from its body to its answer. Texts and `body` are in the scope of `http`. */
typedef struct {
    Service *service;
    HttpRequest *http;
    Job job;
    bool list;   /* "q" is a list, and so are the members of the answer */
    bool detect; /* the answer has "detectedLanguage" */
    StrBuf body; /* of the answer */
} TranslateCall;

static Status check_language(const char *code, StrView known, const char *name) {
    if (!code || strcmp(code, "auto") == 0) return STATUS_OK;
    if (language_same(sv(code), known)) return STATUS_OK;
    return status_fail(STATUS_DATA, "%s language '%.20s' is not supported; it is '%.*s' here", name, code,
                       SV_ARG(known));
}

static Status check_sizes(const ServiceOptions *options, const TranslateRequest *request) {
    size_t characters = 0;
    for (int i = 0; i < request->count; i++) characters += utf8_count(sv(request->texts[i]));
    if (request->count > options->max_texts)
        return status_fail(STATUS_DATA, "%d texts are more than %d", request->count, options->max_texts);
    if (characters > (size_t)options->max_characters)
        return status_fail(STATUS_DATA, "%zu characters are more than %d", characters,
                           options->max_characters);
    /* Not a 503: even an empty queue refuses this, so trying again does not help. */
    if (pool_characters(request->texts, request->count) > (size_t)options->max_waiting / 2)
        return status_fail(STATUS_DATA, "%d texts of %zu characters are more than may wait", request->count,
                           characters);
    double alternatives = request->alternatives;
    if (!(alternatives >= 0 && alternatives <= options->max_alternatives) ||
        alternatives != (int)alternatives)
        return status_fail(STATUS_DATA, "'alternatives' is not 0 to %d, a whole number",
                           options->max_alternatives);
    return STATUS_OK;
}

static Status check_request(const Service *service, const TranslateRequest *request) {
    if (!request->has_q) return status_fail(STATUS_DATA, "'q', the text, is missing");
    PoolLanguages trained;
    StrView source, target;
    if (find_languages(service, &trained, &source, &target)) {
        TRY(check_language(request->source, source, "source"));
        TRY(check_language(request->target, target, "target"));
    }
    TRY(check_sizes(service->options, request));
    if (request->format && strcmp(request->format, "text") != 0 && strcmp(request->format, "html") != 0)
        return status_fail(STATUS_DATA, "'format' is neither text nor html");
    if (request->attention && strcmp(request->attention, "word") != 0 &&
        strcmp(request->attention, "subword") != 0)
        return status_fail(STATUS_DATA, "'attention' is neither word nor subword");
    if (request->accelerator && option_choice(ACCELERATOR_CHOICES, sv(request->accelerator)) < 0)
        return status_fail(STATUS_DATA, "'accelerator' is not none, &, _ or auto");
    return STATUS_OK;
}

static JobKind kind_of(const TranslateRequest *request) {
    JobKind kind = {.html = request->format && strcmp(request->format, "html") == 0,
                    .n_best = request->alternatives >= 1 ? 1 + (int)request->alternatives : 0};
    if (request->accelerator) kind.accelerator = option_choice(ACCELERATOR_CHOICES, sv(request->accelerator));
    if (request->attention) kind.attention = request->attention[0] == 'w' ? ATTN_MT_WORDS : ATTN_MT_SUBWORDS;
    return kind;
}

/* ---- the answer to POST /translate ---- */

static void write_alternatives(const Job *job, int text, StrBuf *out) {
    const attn_mt_candidate *candidate;
    json_open_array(out);
    for (int rank = 1; rank < job->kind.n_best && (candidate = job_candidate(job, text, rank)); rank++)
        json_write_string(out, sv(candidate->text));
    json_close_array(out);
}

static void put_labels(const char *key, const char *const *labels, int count, StrBuf *out) {
    json_put_array(out, key);
    for (int i = 0; i < count; i++) json_write_string(out, sv(labels[i]));
    json_close_array(out);
}

static void write_attention(const Job *job, int text, StrBuf *out) {
    enum { DIGITS = 4 };
    const attn_mt_matrix *matrix = job_attention(job, text);
    if (!matrix) {
        json_write_text(out, SV("null"));
        return;
    }
    json_open_object(out);
    put_labels("source", matrix->column_labels, matrix->columns, out);
    put_labels("target", matrix->row_labels, matrix->rows, out);
    json_put_array(out, "weights");
    for (int t = 0; t < matrix->rows; t++) {
        const float *row = matrix->weights + (size_t)t * (size_t)matrix->columns;
        json_open_array(out);
        for (int s = 0; s < matrix->columns; s++) json_write_digits(out, (double)row[s], DIGITS);
        json_close_array(out);
    }
    json_close_array(out);
    json_close_object(out);
}

static void write_text(const Job *job, int text, StrBuf *out) {
    json_write_string(out, sv(job_candidate(job, text, 0)->text));
}

static void write_problems(const Job *job, int text, StrBuf *out) {
    static const char *const NAMES[] = {"empty", "repetition", "length_limit"};
    int problems = job_candidate(job, text, 0)->problems;
    json_open_array(out);
    for (int i = 0; i < 3; i++)
        if (problems >> i & 1) json_write_string(out, sv(NAMES[i]));
    json_close_array(out);
}

static bool has_problems(const Job *job) {
    int problems = 0;
    for (int i = 0; i < job->count; i++) problems |= job_candidate(job, i, 0)->problems;
    return problems != 0;
}

static void write_confidence(double confidence, StrBuf *out) {
    enum { DIGITS = 3 };
    json_put_digits(out, "confidence", 100 * confidence, DIGITS);
}

/* The only language that the model translates from, and how probable it is that the text is in it. */
static void write_detected(const Job *job, int text, StrBuf *out) {
    const TranslateCall *call = job->context;
    const Detector *detector = call->service->detector;
    Detection ranked[2];
    PoolLanguages trained;
    StrView source, target;
    find_languages(call->service, &trained, &source, &target);
    json_open_object(out);
    if (detector) {
        detector_run(detector, sv(job->texts[text]), ranked);
        write_confidence(ranked[ranked[0].candidate == 0 ? 0 : 1].confidence, out);
    }
    json_put_string(out, "language", source);
    json_close_object(out);
}

/* A member of the answer: the value of the text, or the list of the values of all texts. */
static void put_member(const TranslateCall *call, const char *key,
                       void (*write)(const Job *job, int text, StrBuf *out), StrBuf *out) {
    json_write_key(out, key);
    if (call->list) json_open_array(out);
    for (int i = 0; i < call->job.count; i++) write(&call->job, i, out);
    if (call->list) json_close_array(out);
}

static void write_answer(void *context) {
    TranslateCall *call = context;
    StrBuf *out = &call->body;
    json_open_object(out);
    put_member(call, "translatedText", write_text, out);
    if (has_problems(&call->job)) put_member(call, "problems", write_problems, out);
    if (call->job.kind.n_best > 0) put_member(call, "alternatives", write_alternatives, out);
    if (call->job.kind.attention) put_member(call, "attention", write_attention, out);
    if (call->detect) put_member(call, "detectedLanguage", write_detected, out);
    json_close_object(out);
    strbuf_add_char(out, '\n');
}

/* The status of a text that failed, or ATTN_MT_OK. */
static attn_mt_status job_status(const Job *job) {
    attn_mt_status worst = ATTN_MT_OK;
    for (int i = 0; i < job->count; i++)
        if (job->items[i].status > worst) worst = job->items[i].status;
    return worst;
}

/* Answers the request and frees it. */
static void finish(TranslateCall *call, int status, const char *message) {
    HttpRequest *http = call->http;
    if (status == 200 && !mem_scope_run(http_scope(http), write_answer, call)) {
        status = 503;
        message = "the answer takes more memory than there is";
    }
    HttpAnswer answer = {.status = 200, .type = "application/json", .body = strbuf_view(&call->body)};
    job_release(&call->job);
    free(call->job.items);
    free(call);
    if (status == 200)
        http_answer(http, &answer);
    else
        http_answer_error(http, status, message);
}

static bool client_gone(void *context) {
    const TranslateCall *call = context;
    return http_client_gone(call->http);
}

static void on_translated(void *context, Job *job) {
    attn_mt_status status = job_status(job);
    if (job->cancelled)
        finish(context, HTTP_CLIENT_CLOSED, "the client closed its side of the connection before the answer");
    else if (status == ATTN_MT_OK)
        finish(context, 200, "");
    else if (status == ATTN_MT_MEMORY)
        finish(context, 503, "translating this takes more memory than there is");
    else if (status == ATTN_MT_USAGE) /* check_request has checked the other options */
        finish(context, 400, "the model has no attention, which 'attention' needs");
    else
        finish(context, 500, "the model cannot translate this");
}

/* ---- from the body to the queue ---- */

/* Lives only while the request is parsed, in a scope of its own. */
typedef struct {
    TranslateCall *call;
    TranslateRequest request;
    Status status;
    bool allowed;
} Parsing;

/* A well-formed request without a valid key gets no further checks. */
static void parse_request(void *context) {
    Parsing *parsing = context;
    const Service *service = parsing->call->service;
    const HttpRequest *http = parsing->call->http;
    parsing->status = translate_request_read(&parsing->request, http_content_type(http), http_body(http),
                                             service->options->max_texts);
    parsing->allowed = parsing->status != STATUS_OK || keys_allow(service->keys, parsing->request.api_key);
    if (parsing->status == STATUS_OK && parsing->allowed)
        parsing->status = check_request(service, &parsing->request);
}

/* Why the request is answered with *status; NULL: it is valid. */
static const char *refusal(const Parsing *parsing, bool had_memory, int *status) {
    *status = !had_memory ? 413 : !parsing->allowed ? 403 : 400;
    if (!had_memory) return "reading this takes more memory than there is";
    if (!parsing->allowed) return "the API key is missing or not valid";
    return parsing->status != STATUS_OK ? status_message() : NULL;
}

static MemScope *new_parse_scope(const Service *service) {
    return mem_scope_new(PARSE_BODIES * (size_t)service->options->max_body + PARSE_BYTES);
}

/* Copies what the translation and its answer need. */
static void copy_request(void *context) {
    const Parsing *parsing = context;
    const TranslateRequest *request = &parsing->request;
    TranslateCall *call = parsing->call;
    call->list = request->q_is_list;
    call->detect = request->source && strcmp(request->source, "auto") == 0;
    call->job = (Job){.kind = kind_of(request),
                      .texts = translate_request_copy(request),
                      .count = request->count,
                      .done = on_translated,
                      .client_gone = client_gone,
                      .context = call};
}

static void submit(TranslateCall *call) {
    call->job.items = calloc((size_t)call->job.count, sizeof *call->job.items);
    if (call->job.items && pool_submit(call->service->pool, &call->job)) return;
    call->job.count = 0;
    finish(call, 503, call->job.items ? "too much text is waiting: try again later" : "out of memory");
}

static void parse_and_submit(TranslateCall *call, MemScope *scope) {
    Parsing parsing = {.call = call};
    bool had_memory = mem_scope_run(scope, parse_request, &parsing);
    int status;
    bool valid = refusal(&parsing, had_memory, &status) == NULL;
    if (valid) had_memory = mem_scope_run(http_scope(call->http), copy_request, &parsing);
    mem_scope_free(scope);
    if (had_memory) http_release_body(call->http);
    const char *message = refusal(&parsing, had_memory, &status);
    if (message)
        finish(call, status, message);
    else if (call->job.count == 0)
        finish(call, 200, "");
    else
        submit(call);
}

static void translate(Service *service, HttpRequest *http) {
    TranslateCall *call = calloc(1, sizeof *call);
    MemScope *scope = new_parse_scope(service);
    if (!call || !scope) {
        free(call);
        mem_scope_free(scope);
        http_answer_error(http, 503, "out of memory");
        return;
    }
    *call = (TranslateCall){.service = service, .http = http};
    parse_and_submit(call, scope);
}

/* ---- the other routes ---- */

/* An answer that is written in the scope of its request. */
typedef struct {
    Service *service;
    HttpRequest *http;
    const PageFile *file; /* for write_file */
    StrBuf body;
} BodyWriter;

static void answer_with(BodyWriter *writer, void (*write)(void *context), HttpAnswer answer) {
    if (!mem_scope_run(http_scope(writer->http), write, writer)) {
        http_answer_error(writer->http, 503, "out of memory");
        return;
    }
    answer.body = strbuf_view(&writer->body);
    http_answer(writer->http, &answer);
}

/* {"code": "en", "name": "English", "targets": ["fr"]}; pt-BR is "Portuguese (BR)". `target` may be empty. */
static void write_language(StrView code, StrView target, StrBuf *out) {
    StrView base = language_code(code), known = language_name(base.length > 0 ? base : code);
    StrBuf name = {0};
    strbuf_add_char(&name, (char)toupper((unsigned char)known.data[0]));
    strbuf_add(&name, (StrView){known.data + 1, known.length - 1});
    size_t part = 0;
    while (part < code.length && !strchr("-_", code.data[part])) part++;
    if (base.length > 0 && part + 1 < code.length)
        strbuf_format(&name, " (%.*s)", (int)(code.length - part) - 1, code.data + part + 1);
    json_open_object(out);
    json_put_string(out, "code", code);
    json_put_string(out, "name", strbuf_view(&name));
    json_put_array(out, "targets");
    if (target.length > 0) json_write_string(out, target);
    json_close_array(out);
    json_close_object(out);
    strbuf_free(&name);
}

static void write_languages(void *context) {
    BodyWriter *writer = context;
    StrBuf *out = &writer->body;
    PoolLanguages trained;
    StrView source, target;
    find_languages(writer->service, &trained, &source, &target);
    json_open_array(out);
    write_language(source, target, out);
    write_language(target, (StrView){0}, out);
    json_close_array(out);
    strbuf_add_char(out, '\n');
}

static void languages(Service *service, HttpRequest *http) {
    BodyWriter writer = {.service = service, .http = http};
    answer_with(&writer, write_languages, (HttpAnswer){.status = 200, .type = "application/json"});
}

/* What clients of LibreTranslate ask for at their start. */
static void write_settings(void *context) {
    BodyWriter *writer = context;
    StrBuf *out = &writer->body;
    PoolLanguages trained;
    StrView source, target;
    find_languages(writer->service, &trained, &source, &target);
    json_open_object(out);
    json_put_integer(out, "charLimit", writer->service->options->max_characters);
    json_put_integer(out, "frontendTimeout", FRONTEND_TIMEOUT);
    json_put_bool(out, "apiKeys", writer->service->options->api_key_file);
    json_put_bool(out, "keyRequired", writer->service->options->api_key_file);
    json_put_bool(out, "suggestions", false);
    json_put_bool(out, "filesTranslation", false);
    json_put_array(out, "supportedFilesFormat");
    json_close_array(out);
    json_put_object(out, "language");
    json_write_key(out, "source");
    write_language(source, target, out);
    json_write_key(out, "target");
    write_language(target, (StrView){0}, out);
    json_close_object(out);
    json_close_object(out);
    strbuf_add_char(out, '\n');
}

static void settings(Service *service, HttpRequest *http) {
    BodyWriter writer = {.service = service, .http = http};
    answer_with(&writer, write_settings, (HttpAnswer){.status = 200, .type = "application/json"});
}

static void no_suggestions(Service *service, HttpRequest *http) {
    (void)service;
    http_answer_error(http, 404, "this server does not collect suggestions");
}

typedef struct {
    const Service *service;
    StrView text;
    StrBuf body;
} DetectAnswer;

/* [{"confidence": 98.2, "language": "en"}, ...], the most probable first. */
static void write_detections(void *context) {
    DetectAnswer *answer = context;
    Detection ranked[2];
    StrBuf *out = &answer->body;
    detector_run(answer->service->detector, answer->text, ranked);
    json_open_array(out);
    for (int i = 0; i < 2 && ranked[i].confidence > 0; i++) {
        json_open_object(out);
        write_confidence(ranked[i].confidence, out);
        json_put_string(out, "language", sv(answer->service->detected[ranked[i].candidate]));
        json_close_object(out);
    }
    json_close_array(out);
    strbuf_add_char(out, '\n');
}

static void answer_detection(Service *service, HttpRequest *http, MemScope *scope) {
    TranslateCall call = {.service = service, .http = http};
    Parsing parsing = {.call = &call};
    DetectAnswer answer = {.service = service};
    bool had_memory = mem_scope_run(scope, parse_request, &parsing);
    int status;
    bool valid = refusal(&parsing, had_memory, &status) == NULL;
    if (valid && parsing.request.count == 1) {
        answer.text = sv(parsing.request.texts[0]);
        had_memory = mem_scope_run(http_scope(http), write_detections, &answer);
    }
    const char *message = refusal(&parsing, had_memory, &status);
    if (message)
        http_answer_error(http, status, message);
    else if (parsing.request.count != 1)
        http_answer_error(http, 400, "'q' is not one text");
    else
        http_answer(http, &(HttpAnswer){
                              .status = 200, .type = "application/json", .body = strbuf_view(&answer.body)});
}

static void detect(Service *service, HttpRequest *http) {
    if (!service->detector) {
        http_answer_error(http, 404,
                          "this server does not detect languages; GET /languages lists its languages");
        return;
    }
    MemScope *scope = new_parse_scope(service);
    if (scope)
        answer_detection(service, http, scope);
    else
        http_answer_error(http, 503, "out of memory");
    mem_scope_free(scope);
}

static void no_files(Service *service, HttpRequest *http) {
    (void)service;
    http_answer_error(http, 404, "this server does not translate files; 'attn-mt translate' does");
}

static void health(Service *service, HttpRequest *http) {
    StrView body = SV("{\"status\": \"ok\"}\n");
    (void)service;
    http_answer(http, &(HttpAnswer){.status = 200, .type = "application/json", .body = body});
}

static void write_metrics(void *context) {
    BodyWriter *writer = context;
    Service *service = writer->service;
    StrBuf *out = &writer->body;
    PoolStats pool = pool_stats(service->pool);
    int connections = http_connections(service->http);
    metrics_write(service->metrics, out);
    metrics_write_number("waiting_texts", "gauge", "texts that wait for a thread", pool.queued_texts, out);
    metrics_write_number("waiting_characters", "gauge", "characters of these", (double)pool.queued_characters,
                         out);
    metrics_write_number("connections", "gauge", "connections that are open", connections, out);
    metrics_write_number("texts_total", "counter", "texts translated", (double)pool.texts, out);
    metrics_write_number("batches_total", "counter", "batches of texts", (double)pool.batches, out);
    metrics_write_number("reloads_total", "counter", "models loaded again", (double)pool.reloads, out);
}

static void metrics(Service *service, HttpRequest *http) {
    BodyWriter writer = {.service = service, .http = http};
    answer_with(&writer, write_metrics,
                (HttpAnswer){.status = 200, .type = "text/plain; version=0.0.4; charset=utf-8"});
}

static void write_file(void *context) {
    BodyWriter *writer = context;
    for (const char *const *line = writer->file->lines; *line; line++) strbuf_add(&writer->body, sv(*line));
}

static void page(Service *service, HttpRequest *http) {
    BodyWriter writer = {.service = service, .http = http, .file = page_find(http_path(http))};
    answer_with(&writer, write_file,
                (HttpAnswer){.status = 200,
                             .type = writer.file->type,
                             .name = "Content-Security-Policy",
                             .value = PAGE_POLICY});
}

typedef struct {
    const char *path, *method;
    void (*run)(Service *service, HttpRequest *http);
} Route;

static const Route ROUTES[] = {{"/translate", "POST", translate},
                               {"/languages", "GET", languages},
                               {"/frontend/settings", "GET", settings},
                               {"/detect", "POST", detect},
                               {"/suggest", "POST", no_suggestions},
                               {"/translate_file", "POST", no_files},
                               {"/health", "GET", health},
                               {"/metrics", "GET", metrics},
                               {"/", "GET", page},
                               {"/page.js", "GET", page},
                               {"/page.css", "GET", page}};

static void on_request(void *context, HttpRequest *http) {
    Service *service = context;
    const Route *route = NULL;
    for (size_t i = 0; i < sizeof ROUTES / sizeof *ROUTES; i++)
        if (sv_equal(http_path(http), sv(ROUTES[i].path))) route = &ROUTES[i];
    StrView method = sv_equal(http_method(http), SV("HEAD")) ? SV("GET") : http_method(http);
    if (!route)
        http_answer_error(http, 404, "there is nothing here; POST /translate translates");
    else if (!sv_equal(method, sv(route->method)))
        http_answer(http, &(HttpAnswer){.status = 405,
                                        .type = "application/json",
                                        .name = "Allow",
                                        .value = route->method,
                                        .body = SV("{\"error\": \"not with this method\"}\n")});
    else
        route->run(service, http);
}

static void on_answered(void *context, int status, double seconds) {
    const Service *service = context;
    metrics_add(service->metrics, status, seconds);
}

/* ---- the server ---- */

/* Splits --languages, as in "en-fr". */
static Status read_languages(Service *service) {
    const char *text = service->options->languages;
    if (!text) return STATUS_OK;
    TRY(languages_split(text, &service->source, &service->target));
    if (is_code(service->source) && is_code(service->target)) return STATUS_OK;
    status_fail(STATUS_USAGE, "--languages '%s' is not two language codes", text);
    return status_hint(STATUS_USAGE, "codes of letters, digits and _, as in en-fr");
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

/* Without fingerprints of both languages nothing is detected. */
static void open_detector(Service *service) {
    PoolLanguages trained;
    StrView languages[2];
    find_languages(service, &trained, &languages[0], &languages[1]);
    if (!is_language(languages[0]) || !is_language(languages[1])) return;
    if (detector_open(&service->detector, languages, 2) != STATUS_OK) return;
    for (int i = 0; i < 2; i++) service->detected[i] = mem_strndup(languages[i].data, languages[i].length);
    if (detector_knows(service->detector, 0) && detector_knows(service->detector, 1)) return;
    detector_close(service->detector);
    service->detector = NULL;
}

static Status service_begin(Service *service) {
    const ServiceOptions *options = service->options;
    PoolOptions pool = {.models = &options->models,
                        .precision = (attn_mt_precision)options->precision,
                        .threads = options->threads > 0 ? options->threads : workers_default_count(),
                        .max_batch = options->mini_batch,
                        .beam_size = options->beam_size,
                        .shortlist = options->shortlist,
                        .split = options->split,
                        .max_queued = (size_t)options->max_waiting,
                        .batch_memory = (size_t)options->max_memory << 20};
    HttpOptions http = {.socket = options->socket,
                        .address = options->address,
                        .port = options->port,
                        .max_connections = options->connections,
                        .max_body = (size_t)options->max_body,
                        .max_bodies = (size_t)options->max_body * MAX_BODIES,
                        .max_answers = (size_t)options->max_body * MAX_BODIES,
                        .timeout = options->timeout,
                        .origin = options->origin,
                        .handler = on_request,
                        .observer = on_answered,
                        .context = service};
    if (http.max_answers < MIN_MAX_ANSWERS) http.max_answers = MIN_MAX_ANSWERS;
    TRY(read_languages(service));
    TRY(check_origin(options->origin));
    if (options->models.count == 0) {
        status_fail(STATUS_USAGE, "no model given");
        return status_hint(STATUS_USAGE, "name one with --model FILE (training writes best.safetensors)");
    }
    if (options->api_key_file) TRY(keys_read(service->keys, options->api_key_file));
    TRY(pool_new(&service->pool, &pool));
    open_detector(service);
    return http_start(&service->http, &http);
}

/* Replaces keys and models, or neither. */
static Status reload_keys_and_models(const Service *service) {
    const char *path = service->options->api_key_file;
    Keys *fresh = keys_new();
    Status status = path ? keys_read(fresh, path) : STATUS_OK;
    if (status == STATUS_OK) status = pool_reload(service->pool);
    if (status == STATUS_OK) keys_swap(service->keys, fresh);
    keys_free(fresh);
    return status;
}

static void reload_all(const Service *service) {
    if (reload_keys_and_models(service) == STATUS_OK) {
        if (!service->options->quiet) log_info("loaded again");
        return;
    }
    log_failure();
    log_warn("the server continues with the old model and keys");
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
        reload_all(&service);
    }
    if (service.http) http_stop(service.http);
    pool_free(service.pool);
    metrics_free(service.metrics);
    detector_close(service.detector);
    for (int i = 0; i < 2; i++) mem_free(service.detected[i]);
    keys_free(service.keys);
    return status;
}
