/* service_private.h - the server as its routes share it.
 *
 * service.c starts and stops it. routes.c finds the route of a request; translate_route.c, file_route.c and
 * languages_route.c have the larger ones, and request_parser.c reads the bodies of their requests.
 */
#ifndef SERVE_SERVICE_PRIVATE_H
#define SERVE_SERVICE_PRIVATE_H

#include <pthread.h>
#include "serve/catalog.h"
#include "serve/file_store.h"
#include "serve/http.h"
#include "serve/keys.h"
#include "serve/metrics.h"
#include "serve/pool.h"
#include "serve/request.h"
#include "serve/service.h"

typedef struct {
    const ServiceOptions *options;
    CatalogPair pair; /* of --languages */
    Keys *keys;
    Metrics *metrics;
    FileStore *files;
    Pool *pool;
    HttpServer *http;
    pthread_mutex_t lock;
    Catalog *catalog; /* under the lock */
    long reloads;     /* under the lock */
} Service;

/* A reference to the current catalog. */
Catalog *service_catalog(Service *service);

long service_reloads(Service *service);

/* Answers every request: the HttpHandler. */
void routes_handle(void *service, HttpRequest *http);

/* A request whose body is read. It lives only while it is parsed, in a scope of its own. */
typedef struct {
    Service *service;
    const HttpRequest *http;
    const Catalog *catalog;
    bool translate; /* choose languages, and check what only /translate has */
    bool file;      /* the request has a document instead of texts; request_parser_choose follows */
    struct TranslateCall *call;
    TranslateRequest request;
    int source, target; /* languages of the catalog */
    Status status;
    bool allowed;
} RequestParser;

/* For the body of a request. NULL: no memory. */
MemScope *request_parser_scope(const Service *service);
/* Reads the body and checks it. `context` is a RequestParser; a well-formed request without a valid key gets
 * no further checks. */
void request_parser_run(void *context);
/* Checks the texts of the request, and chooses its languages. */
Status request_parser_choose(RequestParser *parser);
/* Why the request is answered with *status; NULL: it is valid. */
const char *request_parser_refusal(const RequestParser *parser, bool had_memory, int *status);

/* A response that is written in the scope of its request. */
typedef struct {
    Service *service;
    HttpRequest *http;
    Catalog *catalog; /* a reference until the response; or NULL */
    StrBuf body;
} BodyWriter;

/* Answers with what `write` makes of the writer, or 503. */
void body_writer_respond(BodyWriter *writer, void (*write)(void *context), HttpResponse response);
/* "confidence": in per cent. */
void write_confidence(double confidence, StrBuf *out);

/* Routes. */
void route_translate(Service *service, HttpRequest *http);
void route_translate_file(Service *service, HttpRequest *http);
bool is_file_path(StrView path);
void route_download(Service *service, HttpRequest *http);
void route_languages(Service *service, HttpRequest *http);
void route_settings(Service *service, HttpRequest *http);
void route_detect(Service *service, HttpRequest *http);

#endif
