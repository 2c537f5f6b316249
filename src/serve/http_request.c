/* http_request.c - receives a request within its limits, hands it over, and sends its response. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/log.h"
#include "base/mem.h"
#include "io/deflate.h"
#include "serve/http_private.h"

enum {
    NAME_BYTES = 128,  /* longest path or content type that has a meaning here, with its NUL */
    SCOPE_BODIES = 100 /* limit of the scope of a request, in largest bodies */
};
enum { BAD_REQUEST = 400, TOO_LARGE = 413, UNSUPPORTED_TYPE = 415, UNAVAILABLE = 503 };

struct HttpRequest {
    HttpServer *server;
    struct MHD_Connection *mhd;
    Connection *connection;
    MemScope *scope;
    StrBuf body;
    char method[16], path[NAME_BYTES], type[NAME_BYTES];
    bool gzip; /* the Content-Encoding of the body */
    double started;
    int refused;      /* the status of a refused body, or 0 */
    bool handed_over; /* to the handler */
    bool last;        /* the connection is closed after this request */
    int status;
    size_t response_bytes;             /* of its body, as counted in the server's response_bytes */
    struct MHD_Response *mhd_response; /* NULL until the response is known */
};

StrView http_method(const HttpRequest *request) { return sv(request->method); }
StrView http_path(const HttpRequest *request) { return sv(request->path); }
StrView http_content_type(const HttpRequest *request) { return sv(request->type); }
StrView http_body(const HttpRequest *request) { return strbuf_view(&request->body); }
MemScope *http_scope(HttpRequest *request) { return request->scope; }
bool http_client_gone(const HttpRequest *request) { return connection_left(request->connection); }

static Connection *connection_of(struct MHD_Connection *mhd) {
    return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

const char *http_header(const HttpRequest *request, const char *name) {
    return MHD_lookup_connection_value(request->mhd, MHD_HEADER_KIND, name);
}

typedef struct {
    void (*reader)(void *context, const char *name, const char *value);
    void *context;
} Query;

static enum MHD_Result on_parameter(void *context, enum MHD_ValueKind kind, const char *name,
                                    size_t name_length, const char *value, size_t value_length) {
    const Query *query = context;
    (void)kind;
    if (value && strlen(name) == name_length && strlen(value) == value_length)
        query->reader(query->context, name, value);
    return MHD_YES;
}

void http_query(const HttpRequest *request,
                void (*reader)(void *context, const char *name, const char *value), void *context) {
    Query query = {reader, context};
    MHD_get_connection_values_n(request->mhd, MHD_GET_ARGUMENT_KIND, on_parameter, &query);
}

/* ---- memory of requests ---- */

/* Counts freed bytes of bodies and responses. */
static void count_freed(HttpServer *server, size_t bodies, size_t responses) {
    pthread_mutex_lock(&server->lock);
    server->body_bytes -= bodies;
    server->response_bytes -= responses;
    server->freed_bytes += bodies + responses;
    pthread_mutex_unlock(&server->lock);
}

static void free_body(void *context) { strbuf_free(context); }

void http_release_body(HttpRequest *request) {
    count_freed(request->server, request->body.length, 0);
    mem_scope_run(request->scope, free_body, &request->body);
}

/* Frees the body and the memory of the handler. */
static void release_scope(HttpRequest *request) {
    count_freed(request->server, request->body.length, 0);
    request->body = (StrBuf){0};
    mem_scope_free(request->scope);
    request->scope = NULL;
}

/* ---- responses ---- */

/* The headers that let a page of another origin send JSON and read the response. Fetch standard, 3.2 (CORS
 * protocol). */
static void allow_origin(struct MHD_Response *mhd_response, const char *origin) {
    MHD_add_response_header(mhd_response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    MHD_add_response_header(mhd_response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_METHODS, "GET, POST");
    MHD_add_response_header(mhd_response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_HEADERS, "Content-Type");
    MHD_add_response_header(mhd_response, MHD_HTTP_HEADER_ACCESS_CONTROL_MAX_AGE, "86400");
}

static struct MHD_Response *make_response(const HttpResponse *response, const char *origin, bool last) {
    struct MHD_Response *mhd_response = MHD_create_response_from_buffer(
        response->body.length, (void *)(uintptr_t)response->body.data, MHD_RESPMEM_MUST_COPY);
    if (!mhd_response) return NULL;
    MHD_add_response_header(mhd_response, MHD_HTTP_HEADER_CONTENT_TYPE, response->type);
    MHD_add_response_header(mhd_response, MHD_HTTP_HEADER_X_CONTENT_TYPE_OPTIONS, "nosniff");
    if (response->name) MHD_add_response_header(mhd_response, response->name, response->value);
    if (origin) allow_origin(mhd_response, origin);
    if (last) MHD_add_response_header(mhd_response, MHD_HTTP_HEADER_CONNECTION, "close");
    return mhd_response;
}

static void set_response(HttpRequest *request, const HttpResponse *response) {
    bool last = request->last || response->status == HTTP_CLIENT_CLOSED ||
                connections_stopping(&request->server->connections);
    request->status = response->status;
    request->mhd_response = make_response(response, request->server->options.origin, last);
}

/* Wakes the connection; then the library sends the response. */
static void send_response(HttpRequest *request) {
    release_scope(request);
    MHD_resume_connection(request->mhd);
}

/* Counts the bytes of a response. False if too many responses wait for their clients. */
static bool admit_response(HttpRequest *request, size_t bytes) {
    HttpServer *server = request->server;
    pthread_mutex_lock(&server->lock);
    bool fits = bytes <= server->options.max_responses - server->response_bytes;
    if (fits) server->response_bytes += request->response_bytes = bytes;
    pthread_mutex_unlock(&server->lock);
    return fits;
}

void http_respond(HttpRequest *request, const HttpResponse *response) {
    if (!admit_response(request, response->body.length)) {
        http_respond_error(request, UNAVAILABLE, "too much waits to be taken by clients: try again later");
        return;
    }
    set_response(request, response);
    send_response(request);
}

/* The content of a JSON string. `text` may quote the client: bytes other than printable ASCII become '?'. */
static void escape(const char *text, char *escaped, size_t size) {
    size_t length = 0;
    for (; *text && length + 2 < size; text++) {
        if (*text == '"' || *text == '\\') escaped[length++] = '\\';
        escaped[length++] = *text < ' ' || *text > '~' ? '?' : *text;
    }
    escaped[length] = '\0';
}

static void set_error(HttpRequest *request, int status, const char *message) {
    char escaped[512], body[sizeof escaped + 16];
    bool later = status == UNAVAILABLE, encoding = status == UNSUPPORTED_TYPE;
    escape(message, escaped, sizeof escaped);
    int size = snprintf(body, sizeof body, "{\"error\": \"%s\"}\n", escaped);
    set_response(request, &(HttpResponse){.status = status,
                                          .type = "application/json",
                                          .name = later      ? MHD_HTTP_HEADER_RETRY_AFTER
                                                  : encoding ? MHD_HTTP_HEADER_ACCEPT_ENCODING
                                                             : NULL,
                                          .value = later ? "1" : "gzip",
                                          .body = {body, (size_t)size}});
}

void http_respond_error(HttpRequest *request, int status, const char *message) {
    set_error(request, status, message);
    send_response(request);
}

/* ---- from the head to the handler ---- */

void *http_on_request_line(void *context, const char *target, struct MHD_Connection *mhd) {
    HttpServer *server = context;
    Connection *connection = connection_of(mhd);
    connection_enter(&server->connections, connection, CONNECTION_RECEIVING);
    if (!connection) return NULL;
    connection->head = (Head){0};
    head_check_target(&connection->head, target);
    return NULL;
}

static void request_free(HttpRequest *request) {
    release_scope(request);
    if (request->mhd_response) MHD_destroy_response(request->mhd_response);
    count_freed(request->server, 0, request->response_bytes);
    free(request);
}

static void copy_name(char *to, size_t size, const char *from) {
    size_t length = from ? strlen(from) : 0;
    if (length < size) memcpy(to, from ? from : "", length); /* longer names are unknown and stay empty */
}

static enum MHD_Result on_field(void *context, enum MHD_ValueKind kind, const char *name, size_t name_length,
                                const char *value, size_t value_length) {
    (void)kind;
    head_check_field(context, (StrView){name, name_length}, (StrView){value ? value : "", value_length});
    return MHD_YES;
}

/* `method` and `version` point into the head, which the library has split in place. */
static void check_head(Head *head, struct MHD_Connection *mhd, const char *method, const char *version,
                       size_t limit) {
    size_t bytes = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
    const char *fields = version + strlen(version), *end = method + bytes;
    head_check_fields(head, (StrView){fields, fields < end ? (size_t)(end - fields) : 0}, sv(version));
    MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, on_field, head);
    head_check_end(head);
    head_check_size(head, limit);
}

static void set_encoding(HttpRequest *request, const char *encoding) {
    request->gzip = encoding && (strcasecmp(encoding, "gzip") == 0 || strcasecmp(encoding, "x-gzip") == 0);
    bool known = !encoding || !encoding[0] || request->gzip || strcasecmp(encoding, "identity") == 0;
    if (!known) request->refused = UNSUPPORTED_TYPE;
}

static HttpRequest *request_new(HttpServer *server, struct MHD_Connection *mhd, const char *method,
                                const char *path) {
    HttpRequest *request = connection_of(mhd) ? calloc(1, sizeof *request) : NULL;
    MemScope *scope = mem_scope_new(SCOPE_BODIES * server->options.max_body);
    if (!request || !scope) {
        free(request);
        mem_scope_free(scope);
        return NULL;
    }
    *request = (HttpRequest){.server = server,
                             .mhd = mhd,
                             .connection = connection_of(mhd),
                             .scope = scope,
                             .started = clock_seconds()};
    copy_name(request->method, sizeof request->method, method);
    copy_name(request->path, sizeof request->path, path);
    copy_name(request->type, sizeof request->type,
              MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE));
    set_encoding(request,
                 MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_ENCODING));
    return request;
}

typedef struct {
    StrBuf *body;
    StrView chunk;
} BodyChunk;

static void add_chunk(void *context) {
    BodyChunk *arrived = context;
    strbuf_add(arrived->body, arrived->chunk);
}

/* Appends a chunk to the body, or refuses the request. The rest of a refused body is read and dropped,
 * because a client reads the response only after it has sent the body. */
static void receive_body(HttpRequest *request, StrView chunk) {
    HttpServer *server = request->server;
    if (request->refused) return;
    if (chunk.length > server->options.max_body - request->body.length) {
        request->refused = TOO_LARGE;
        return;
    }
    pthread_mutex_lock(&server->lock);
    bool fits = chunk.length <= server->options.max_bodies - server->body_bytes;
    if (fits) server->body_bytes += chunk.length;
    pthread_mutex_unlock(&server->lock);
    size_t before = request->body.length;
    if (fits && mem_scope_run(request->scope, add_chunk, &(BodyChunk){&request->body, chunk})) return;
    pthread_mutex_lock(&server->lock);
    server->body_bytes -= before + (fits ? chunk.length : 0);
    pthread_mutex_unlock(&server->lock);
    mem_scope_free(request->scope);
    request->scope = mem_scope_new(SCOPE_BODIES * server->options.max_body);
    request->body = (StrBuf){0};
    request->refused = UNAVAILABLE;
}

typedef struct {
    StrView packed;
    size_t most;
    StrBuf body;
    bool sound, too_large;
} UnpackJob;

static void unpack(void *context) {
    UnpackJob *job = context;
    job->sound = gzip_expand(job->packed, job->most, &job->body, &job->too_large);
}

/* Replaces a packed body, or refuses the request. Both have the limit of a body, and count as one. */
static void unpack_body(HttpRequest *request) {
    HttpServer *server = request->server;
    UnpackJob job = {.packed = strbuf_view(&request->body), .most = server->options.max_body};
    if (!mem_scope_run(request->scope, unpack, &job)) {
        request->refused = UNAVAILABLE; /* the scope is empty now */
        count_freed(server, request->body.length, 0);
        request->body = (StrBuf){0};
        return;
    }
    if (!job.sound) {
        request->refused = job.too_large ? TOO_LARGE : BAD_REQUEST;
        return;
    }
    pthread_mutex_lock(&server->lock);
    server->body_bytes += job.body.length - request->body.length;
    bool fits = server->body_bytes <= server->options.max_bodies;
    pthread_mutex_unlock(&server->lock);
    mem_scope_run(request->scope, free_body, &request->body);
    request->body = job.body;
    if (!fits) request->refused = UNAVAILABLE;
}

static void refuse(HttpRequest *request) {
    char message[128];
    if (request->refused == UNSUPPORTED_TYPE)
        snprintf(message, sizeof message, "the Content-Encoding is not gzip");
    else if (request->refused == BAD_REQUEST)
        snprintf(message, sizeof message, "the body is not in the format of gzip");
    else if (request->refused == TOO_LARGE)
        snprintf(message, sizeof message, "the body is larger than %zu bytes",
                 request->server->options.max_body);
    else
        snprintf(message, sizeof message, "too much is being asked at once: try again later");
    http_respond_error(request, request->refused, message);
}

/* Answers before the body arrives. The library does not read the body then. */
static enum MHD_Result respond_fault(HttpRequest *request, const Head *head) {
    request->handed_over = request->last = true;
    connection_enter(&request->server->connections, request->connection, CONNECTION_SENDING);
    set_error(request, head->status, head->message);
    if (!request->mhd_response) return MHD_NO;
    return MHD_queue_response(request->mhd, (unsigned)request->status, request->mhd_response);
}

/* The head has arrived. */
static enum MHD_Result receive_head(HttpRequest *request, const char *method, const char *version) {
    Head *head = &request->connection->head;
    check_head(head, request->mhd, method, version, request->server->options.max_body);
    request->last = head->chunked; /* bytes after the last chunk are not read as another request */
    return head->status ? respond_fault(request, head) : MHD_YES;
}

/* The request is complete. The connection is suspended first, because the handler may answer at once. */
static void hand_over(HttpRequest *request) {
    HttpServer *server = request->server;
    request->handed_over = true;
    connection_enter(&server->connections, request->connection, CONNECTION_WORKING);
    MHD_suspend_connection(request->mhd);
    if (request->gzip && !request->refused) unpack_body(request);
    if (request->refused)
        refuse(request);
    else if (server->options.origin && strcmp(request->method, MHD_HTTP_METHOD_OPTIONS) == 0)
        http_respond(request, &(HttpResponse){.status = MHD_HTTP_NO_CONTENT, .type = "application/json"});
    else
        server->options.handler(server->options.context, request);
}

enum MHD_Result http_on_access(void *context, struct MHD_Connection *mhd, const char *path,
                               const char *method, const char *version, const char *data, size_t *bytes,
                               void **state) {
    HttpRequest *request = *state;
    if (!request) {
        *state = request = request_new(context, mhd, method, path);
        return request ? receive_head(request, method, version) : MHD_NO;
    }
    if (*bytes > 0) {
        receive_body(request, (StrView){data, *bytes});
        *bytes = 0;
        return MHD_YES;
    }
    if (!request->handed_over) {
        hand_over(request);
        return MHD_YES;
    }
    if (!request->mhd_response) return MHD_NO;
    connection_enter(&request->server->connections, request->connection, CONNECTION_SENDING);
    return MHD_queue_response(mhd, (unsigned)request->status, request->mhd_response);
}

void http_on_completed(void *context, struct MHD_Connection *mhd, void **state,
                       enum MHD_RequestTerminationCode code) {
    HttpServer *server = context;
    HttpRequest *request = *state;
    (void)mhd;
    (void)code;
    if (!request) return;
    *state = NULL;
    connection_enter(&server->connections, request->connection, CONNECTION_IDLE);
    if (request->status)
        server->options.observer(server->options.context, request->status,
                                 clock_seconds() - request->started);
    request_free(request);
}
