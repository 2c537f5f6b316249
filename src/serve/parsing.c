/* parsing.c - reads the body of a request, and checks it against the options and the catalog. */
#include <string.h>
#include "base/utf8.h"
#include "io/options.h"
#include "serve/service_private.h"
#include "text/accelerators.h"

/* Limit of the memory for parsing a request: largest bodies, and bytes for its values. */
enum { PARSE_BODIES = 4, PARSE_BYTES = 1 << 20 };

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
        return status_fail(STATUS_DATA, "%d texts of %zu characters are more than --max-waiting allows",
                           request->count, characters);
    double alternatives = request->alternatives;
    if (!(alternatives >= 0 && alternatives <= options->max_alternatives) ||
        alternatives != (int)alternatives)
        return status_fail(STATUS_DATA, "'alternatives' is not a whole number from 0 to %d",
                           options->max_alternatives);
    return STATUS_OK;
}

static Status check_choices(const TranslateRequest *request) {
    if (request->format && strcmp(request->format, "text") != 0 && strcmp(request->format, "html") != 0)
        return status_fail(STATUS_DATA, "'format' is neither text nor html");
    if (request->attention && strcmp(request->attention, "word") != 0 &&
        strcmp(request->attention, "subword") != 0)
        return status_fail(STATUS_DATA, "'attention' is neither word nor subword");
    if (request->accelerator && option_choice(ACCELERATOR_CHOICES, sv(request->accelerator)) < 0)
        return status_fail(STATUS_DATA, "'accelerator' is not none, &, _ or auto");
    return STATUS_OK;
}

Status parsing_choose(Parsing *parsing) {
    const TranslateRequest *request = &parsing->request;
    TRY(check_sizes(parsing->service->options, request));
    if (!parsing->translate) return STATUS_OK;
    TRY(check_choices(request));
    return catalog_choose(parsing->catalog, request->source, request->target, request->texts, request->count,
                          &parsing->source, &parsing->target);
}

static Status check_request(Parsing *parsing) {
    const TranslateRequest *request = &parsing->request;
    if (parsing->file && !request->file_name)
        return status_fail(STATUS_DATA, "'file', of a multipart form, is missing");
    if (parsing->file) return STATUS_OK;
    if (!request->has_q) return status_fail(STATUS_DATA, "'q', the text, is missing");
    return parsing_choose(parsing);
}

MemScope *parsing_scope(const Service *service) {
    return mem_scope_new(PARSE_BODIES * (size_t)service->options->max_body + PARSE_BYTES);
}

static void add_parameter(void *context, const char *name, const char *value) {
    Parsing *parsing = context;
    if (parsing->status != STATUS_OK) return;
    parsing->status = translate_request_add(&parsing->request, &(FormField){.name = name, .value = value});
}

/* Some clients of LibreTranslate send no body, but everything in the query. */
static Status read_request(Parsing *parsing) {
    const HttpRequest *http = parsing->http;
    StrView body = http_body(http);
    if (body.length == 0) http_query(http, add_parameter, parsing);
    if (parsing->status != STATUS_OK || parsing->request.has_q) return parsing->status;
    return translate_request_read(&parsing->request, http_content_type(http), body,
                                  parsing->service->options->max_texts);
}

void parsing_run(void *context) {
    Parsing *parsing = context;
    const Service *service = parsing->service;
    parsing->status = read_request(parsing);
    parsing->allowed = parsing->status != STATUS_OK || keys_allow(service->keys, parsing->request.api_key);
    if (parsing->status == STATUS_OK && parsing->allowed) parsing->status = check_request(parsing);
}

const char *parsing_refusal(const Parsing *parsing, bool had_memory, int *status) {
    *status = !had_memory ? 413 : !parsing->allowed ? 403 : 400;
    if (!had_memory) return "reading this takes more memory than there is";
    if (!parsing->allowed) return "the API key is missing or not valid";
    return parsing->status != STATUS_OK ? status_message() : NULL;
}
