/* request_parser.c - reads the body of a request, and checks it against the options and the catalog. */
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

Status request_parser_choose(RequestParser *parser) {
    const TranslateRequest *request = &parser->request;
    TRY(check_sizes(parser->service->options, request));
    if (!parser->translate) return STATUS_OK;
    TRY(check_choices(request));
    return catalog_choose(parser->catalog, request->source, request->target, request->texts, request->count,
                          &parser->source, &parser->target);
}

static Status check_request(RequestParser *parser) {
    const TranslateRequest *request = &parser->request;
    if (parser->file && !request->file_name)
        return status_fail(STATUS_DATA, "'file', of a multipart form, is missing");
    if (parser->file) return STATUS_OK;
    if (!request->has_q) return status_fail(STATUS_DATA, "'q', the text, is missing");
    return request_parser_choose(parser);
}

MemScope *request_parser_scope(const Service *service) {
    return mem_scope_new(PARSE_BODIES * (size_t)service->options->max_body + PARSE_BYTES);
}

static void add_parameter(void *context, const char *name, const char *value) {
    RequestParser *parser = context;
    if (parser->status != STATUS_OK) return;
    parser->status = translate_request_add(&parser->request, &(FormField){.name = name, .value = value});
}

/* Some clients of LibreTranslate send no body, but everything in the query. */
static Status read_request(RequestParser *parser) {
    const HttpRequest *http = parser->http;
    StrView body = http_body(http);
    if (body.length == 0) http_query(http, add_parameter, parser);
    if (parser->status != STATUS_OK || parser->request.has_q) return parser->status;
    return translate_request_read(&parser->request, http_content_type(http), body,
                                  parser->service->options->max_texts);
}

void request_parser_run(void *context) {
    RequestParser *parser = context;
    const Service *service = parser->service;
    parser->status = read_request(parser);
    parser->allowed = parser->status != STATUS_OK || keys_allow(service->keys, parser->request.api_key);
    if (parser->status == STATUS_OK && parser->allowed) parser->status = check_request(parser);
}

const char *request_parser_refusal(const RequestParser *parser, bool had_memory, int *status) {
    *status = !had_memory ? 413 : !parser->allowed ? 403 : 400;
    if (!had_memory) return "reading this takes more memory than there is";
    if (!parser->allowed) return "the API key is missing or not valid";
    return parser->status != STATUS_OK ? status_message() : NULL;
}
