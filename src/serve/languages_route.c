/* languages_route.c - what can be translated, and which language a text is in: GET /languages, GET
 * /frontend/settings and POST /detect. */
#include "base/mem.h"
#include "io/json_write.h"
#include "serve/service_private.h"

enum { FRONTEND_TIMEOUT = 500 /* milliseconds that LibreTranslate's page waits for the next key */ };

/* {"code": "en", "name": "English", "targets": ["fr"]} */
static void write_language(const Catalog *catalog, int language, bool with_targets, StrBuf *out) {
    json_open_object(out);
    json_put_string(out, "code", catalog_code(catalog, language));
    json_put_string(out, "name", catalog_name(catalog, language));
    json_put_array(out, "targets");
    for (int t = 0; t < catalog_count(catalog) && with_targets; t++)
        if (catalog_route(catalog, language, t)->count > 0) json_write_string(out, catalog_code(catalog, t));
    json_close_array(out);
    json_close_object(out);
}

static void write_languages(void *context) {
    BodyWriter *writer = context;
    StrBuf *out = &writer->body;
    json_open_array(out);
    for (int i = 0; i < catalog_count(writer->catalog); i++) write_language(writer->catalog, i, true, out);
    json_close_array(out);
    strbuf_add_char(out, '\n');
}

void route_languages(Service *service, HttpRequest *http) {
    BodyWriter writer = {.service = service, .http = http, .catalog = service_catalog(service)};
    body_writer_respond(&writer, write_languages, (HttpResponse){.status = 200, .type = "application/json"});
}

/* With several sources the first choice is to detect the language. */
static bool offers_detection(const Catalog *catalog) {
    int sources = 0;
    for (int i = 0; i < catalog_count(catalog); i++) sources += catalog_is_source(catalog, i);
    return sources > 1 && catalog_detector(catalog);
}

static void write_any_source(const Catalog *catalog, StrBuf *out) {
    json_open_object(out);
    json_put_string(out, "code", SV("auto"));
    json_put_string(out, "name", SV("Auto Detect"));
    json_put_array(out, "targets");
    for (int t = 0; t < catalog_count(catalog); t++)
        if (catalog_is_target(catalog, t)) json_write_string(out, catalog_code(catalog, t));
    json_close_array(out);
    json_close_object(out);
}

/* The languages that a page begins with. */
static void write_first_languages(const Catalog *catalog, StrBuf *out) {
    int source = 0, target = 0;
    while (!catalog_is_source(catalog, source)) source++;
    while (catalog_route(catalog, source, target)->count == 0) target++;
    json_put_object(out, "language");
    json_write_key(out, "source");
    if (offers_detection(catalog))
        write_any_source(catalog, out);
    else
        write_language(catalog, source, true, out);
    json_write_key(out, "target");
    write_language(catalog, target, false, out);
    json_close_object(out);
}

static void put_file_formats(StrBuf *out) {
    const DocumentFormat *format;
    json_put_array(out, "supportedFilesFormat");
    for (int i = 0; (format = document_format_at(i)); i++) {
        StrView endings = sv(format->endings), ending;
        while (sv_next_word(&endings, &ending)) json_write_string(out, ending);
    }
    json_close_array(out);
}

/* What clients of LibreTranslate ask for at their start. */
static void write_settings(void *context) {
    BodyWriter *writer = context;
    StrBuf *out = &writer->body;
    json_open_object(out);
    json_put_integer(out, "charLimit", writer->service->options->max_characters);
    json_put_integer(out, "frontendTimeout", FRONTEND_TIMEOUT);
    json_put_bool(out, "apiKeys", writer->service->options->api_key_file);
    json_put_bool(out, "keyRequired", writer->service->options->api_key_file);
    json_put_bool(out, "suggestions", false);
    json_put_bool(out, "filesTranslation", true);
    put_file_formats(out);
    write_first_languages(writer->catalog, out);
    json_close_object(out);
    strbuf_add_char(out, '\n');
}

void route_settings(Service *service, HttpRequest *http) {
    BodyWriter writer = {.service = service, .http = http, .catalog = service_catalog(service)};
    body_writer_respond(&writer, write_settings, (HttpResponse){.status = 200, .type = "application/json"});
}

/* ---- POST /detect ---- */

typedef struct {
    const Catalog *catalog;
    StrView text;
    StrBuf body;
} DetectResponse;

/* [{"confidence": 98.2, "language": "en"}, ...], the most probable first. */
static void write_detections(void *context) {
    enum { MOST = 10 };
    DetectResponse *response = context;
    const Catalog *catalog = response->catalog;
    int count = catalog_count(catalog);
    Detection *ranked = mem_alloc((size_t)count, sizeof *ranked);
    StrBuf *out = &response->body;
    detector_run(catalog_detector(catalog), response->text, ranked);
    json_open_array(out);
    for (int i = 0; i < count && i < MOST && ranked[i].confidence > 0; i++) {
        json_open_object(out);
        write_confidence(ranked[i].confidence, out);
        json_put_string(out, "language", catalog_code(catalog, ranked[i].candidate));
        json_close_object(out);
    }
    json_close_array(out);
    strbuf_add_char(out, '\n');
    mem_free(ranked);
}

static void respond_detection(Service *service, HttpRequest *http, const Catalog *catalog, MemScope *scope) {
    RequestParser parser = {.service = service, .http = http, .catalog = catalog};
    DetectResponse response = {.catalog = catalog};
    bool had_memory = mem_scope_run(scope, request_parser_run, &parser);
    int status;
    bool valid = request_parser_refusal(&parser, had_memory, &status) == NULL;
    if (valid && parser.request.count == 1) {
        response.text = sv(parser.request.texts[0]);
        had_memory = mem_scope_run(http_scope(http), write_detections, &response);
    }
    const char *message = request_parser_refusal(&parser, had_memory, &status);
    if (message)
        http_respond_error(http, status, message);
    else if (parser.request.count != 1)
        http_respond_error(http, 400, "'q' is not one text");
    else
        http_respond(
            http,
            &(HttpResponse){.status = 200, .type = "application/json", .body = strbuf_view(&response.body)});
}

void route_detect(Service *service, HttpRequest *http) {
    Catalog *catalog = service_catalog(service);
    MemScope *scope = catalog_detector(catalog) ? request_parser_scope(service) : NULL;
    if (!catalog_detector(catalog))
        http_respond_error(http, 404,
                           "this server does not detect languages; GET /languages lists its languages");
    else if (scope)
        respond_detection(service, http, catalog, scope);
    else
        http_respond_error(http, 503, "out of memory");
    mem_scope_free(scope);
    catalog_release(catalog);
}
