/* http.c - libmicrohttpd with deadlines of our own, because its timeout forgives whoever sends a byte. */
#include "serve/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"

enum {
    HEAD_BYTES = 32 << 10, /* of the library for each connection: request line and headers */
    NAME_BYTES = 128,      /* of a path or a type that means anything here */
    BACKLOG = 1024,
    SCOPE_BODIES = 100,    /* times the largest body: what a request and its answer may take */
    MOST_FREED = 16 << 20, /* bytes: below that, what was freed is soon used again */
};
enum { TIMEOUT = 408, TOO_LARGE = 413, UNAVAILABLE = 503 };

/* What a connection is doing: nothing was asked yet, or nothing more, ... */
typedef enum { NEW, IDLE, RECEIVING, WORKING, SENDING } Phase;

typedef struct Connection {
    struct Connection *next, *previous;
    int fd;
    Phase phase;
    double since;
    bool cut; /* it took too long */
} Connection;

struct HttpServer {
    HttpOptions options;
    struct MHD_Daemon *daemon;
    int listening; /* the socket, once it takes no more connections; else -1 */
    pthread_mutex_t lock;
    Connection *connections;
    int count;
    size_t bodies, answers; /* bytes of all */
    size_t freed;           /* of these since memory was last given back to the system */
    bool stopping;
};

struct HttpRequest {
    HttpServer *server;
    struct MHD_Connection *connection;
    Connection *place;
    MemScope *scope;
    StrBuf body;
    char method[16], path[NAME_BYTES], type[NAME_BYTES];
    double started;
    int refused; /* the status of a body that was not kept; 0: it was */
    bool handed; /* to the handler */
    int status;
    size_t answer;                 /* bytes of its body */
    struct MHD_Response *response; /* set once it is answered */
};

StrView http_method(const HttpRequest *request) { return sv(request->method); }
StrView http_path(const HttpRequest *request) { return sv(request->path); }
StrView http_content_type(const HttpRequest *request) { return sv(request->type); }
StrView http_body(const HttpRequest *request) { return strbuf_view(&request->body); }
MemScope *http_scope(HttpRequest *request) { return request->scope; }
int http_connections(HttpServer *server) {
    pthread_mutex_lock(&server->lock);
    int count = server->count;
    pthread_mutex_unlock(&server->lock);
    return count;
}

/* ---- connections ---- */

/* The clock of a new connection runs on through its first request. */
static void set_phase(HttpServer *server, Connection *place, Phase phase) {
    if (!place) return; /* there was no memory for it */
    pthread_mutex_lock(&server->lock);
    if (place->phase != NEW) place->since = clock_seconds();
    place->phase = phase;
    pthread_mutex_unlock(&server->lock);
}

static void connection_begin(HttpServer *server, struct MHD_Connection *connection, void **context) {
    Connection *place = calloc(1, sizeof *place);
    *context = place;
    if (!place) return; /* request_new will refuse */
    place->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    place->since = clock_seconds();
    pthread_mutex_lock(&server->lock);
    place->next = server->connections;
    if (place->next) place->next->previous = place;
    server->connections = place;
    server->count++;
    pthread_mutex_unlock(&server->lock);
}

static void connection_end(HttpServer *server, Connection *place) {
    if (!place) return;
    pthread_mutex_lock(&server->lock);
    if (place->next) place->next->previous = place->previous;
    if (place->previous)
        place->previous->next = place->next;
    else
        server->connections = place->next;
    server->count--;
    pthread_mutex_unlock(&server->lock);
    free(place);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **place,
                          enum MHD_ConnectionNotificationCode code) {
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        connection_begin(context, connection, place);
    else
        connection_end(context, *place);
}

static Connection *place_of(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void *on_request_line(void *context, const char *uri, struct MHD_Connection *connection) {
    Connection *place = place_of(connection);
    (void)uri;
    set_phase(context, place, RECEIVING);
    return NULL;
}

static const char TOO_SLOW[] = "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\n"
                               "Content-Length: 39\r\nConnection: close\r\n\r\n"
                               "{\"error\": \"the request came too slow\"}\n";

/* For the rest of a request when the server stops. */
static const double REST_SECONDS = 3;

void http_tick(HttpServer *server) {
    double now = clock_seconds();
    int slow = 0;
    pthread_mutex_lock(&server->lock);
    for (Connection *place = server->connections; place; place = place->next) {
        double limit = server->options.timeout;
        if (server->stopping && place->phase == RECEIVING && limit > REST_SECONDS) limit = REST_SECONDS;
        if (place->cut || place->phase == WORKING || now - place->since <= limit) continue;
        /* An idle one closes without a word, which might be taken for the answer to its next request. */
        if (place->phase == NEW || place->phase == RECEIVING) {
            ssize_t sent = send(place->fd, TOO_SLOW, sizeof TOO_SLOW - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
            (void)sent; /* who does not read it either has no use for it */
            slow++;
        }
        shutdown(place->fd, SHUT_RDWR);
        place->cut = true;
    }
    bool much = server->freed >= MOST_FREED;
    if (much) server->freed = 0;
    pthread_mutex_unlock(&server->lock);
    if (much) mem_return_freed();
    for (int i = 0; i < slow; i++)
        server->options.watch(server->options.context, TIMEOUT, server->options.timeout);
}

/* ---- requests ---- */

/* Bytes of bodies and of answers are needed no more. */
static void count_freed(HttpServer *server, size_t bodies, size_t answers) {
    pthread_mutex_lock(&server->lock);
    server->bodies -= bodies;
    server->answers -= answers;
    server->freed += bodies + answers;
    pthread_mutex_unlock(&server->lock);
}

static void free_body(void *context) { strbuf_free(context); }

void http_forget_body(HttpRequest *request) {
    count_freed(request->server, request->body.length, 0);
    mem_scope_run(request->scope, free_body, &request->body);
}

/* Release all that was needed to answer. */
static void release_scope(HttpRequest *request) {
    count_freed(request->server, request->body.length, 0);
    request->body = (StrBuf){0};
    mem_scope_free(request->scope);
    request->scope = NULL;
}

static void request_free(HttpRequest *request) {
    count_freed(request->server, 0, request->answer);
    release_scope(request);
    if (request->response) MHD_destroy_response(request->response);
    free(request);
}

static void copy_name(char *to, size_t size, const char *from) {
    size_t length = from ? strlen(from) : 0;
    if (length < size) memcpy(to, from ? from : "", length); /* a longer one means nothing: it stays empty */
}

static HttpRequest *request_new(HttpServer *server, struct MHD_Connection *connection, const char *method,
                                const char *path) {
    HttpRequest *request = place_of(connection) ? calloc(1, sizeof *request) : NULL;
    MemScope *scope = mem_scope_new(SCOPE_BODIES * server->options.body);
    if (!request || !scope) {
        free(request);
        mem_scope_free(scope);
        return NULL;
    }
    *request = (HttpRequest){.server = server,
                             .connection = connection,
                             .place = place_of(connection),
                             .scope = scope,
                             .started = clock_seconds()};
    copy_name(request->method, sizeof request->method, method);
    copy_name(request->path, sizeof request->path, path);
    copy_name(request->type, sizeof request->type,
              MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE));
    return request;
}

typedef struct {
    StrBuf *body;
    StrView part;
} Addition;

static void add_part(void *context) {
    Addition *addition = context;
    strbuf_add(addition->body, addition->part);
}

/* Keep a part of the body, or refuse the whole: then the rest is read and forgotten, so that the client gets
 * to read why. */
static void receive(HttpRequest *request, StrView part) {
    HttpServer *server = request->server;
    if (request->refused) return;
    if (part.length > server->options.body - request->body.length) {
        request->refused = TOO_LARGE;
        return;
    }
    pthread_mutex_lock(&server->lock);
    bool fits = part.length <= server->options.bodies - server->bodies;
    if (fits) server->bodies += part.length;
    pthread_mutex_unlock(&server->lock);
    size_t before = request->body.length;
    if (fits && mem_scope_run(request->scope, add_part, &(Addition){&request->body, part})) return;
    pthread_mutex_lock(&server->lock);
    server->bodies -= before + (fits ? part.length : 0);
    pthread_mutex_unlock(&server->lock);
    mem_scope_free(request->scope);
    request->scope = mem_scope_new(SCOPE_BODIES * server->options.body);
    request->body = (StrBuf){0};
    request->refused = UNAVAILABLE;
}

static void refuse(HttpRequest *request) {
    char message[128];
    if (request->refused == TOO_LARGE)
        snprintf(message, sizeof message, "the body is larger than %zu bytes", request->server->options.body);
    else
        snprintf(message, sizeof message, "too much is being asked at once: try again later");
    http_answer_error(request, request->refused, message);
}

/* The whole request is here. It is put to sleep first, because the answer may come at once. */
static void hand_over(HttpRequest *request) {
    HttpServer *server = request->server;
    request->handed = true;
    set_phase(server, request->place, WORKING);
    MHD_suspend_connection(request->connection);
    if (request->refused)
        refuse(request);
    else if (server->options.origin && strcmp(request->method, MHD_HTTP_METHOD_OPTIONS) == 0)
        http_answer(request, &(HttpAnswer){.status = MHD_HTTP_NO_CONTENT, .type = "application/json"});
    else
        server->options.handler(server->options.context, request);
}

/* The library calls this for the head of a request, for each part of its body, at its end, and once more when
 * a sleeping connection wakes. */
static enum MHD_Result on_access(void *context, struct MHD_Connection *connection, const char *path,
                                 const char *method, const char *version, const char *data, size_t *bytes,
                                 void **kept) {
    HttpRequest *request = *kept;
    (void)version;
    if (!request) {
        *kept = request = request_new(context, connection, method, path);
        return request ? MHD_YES : MHD_NO;
    }
    if (*bytes > 0) {
        receive(request, (StrView){data, *bytes});
        *bytes = 0;
        return MHD_YES;
    }
    if (!request->handed) {
        hand_over(request);
        return MHD_YES;
    }
    if (!request->response) return MHD_NO;
    set_phase(request->server, request->place, SENDING);
    return MHD_queue_response(connection, (unsigned)request->status, request->response);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **kept,
                         enum MHD_RequestTerminationCode code) {
    HttpServer *server = context;
    HttpRequest *request = *kept;
    (void)connection;
    (void)code;
    if (!request) return;
    *kept = NULL;
    set_phase(server, request->place, IDLE);
    if (request->status)
        server->options.watch(server->options.context, request->status, clock_seconds() - request->started);
    request_free(request);
}

/* The library does not look at a connection that sleeps. Linux tells of a closed sending side although bytes
 * before it were not read; elsewhere it shows once nothing is left to read. */
bool http_hung_up(const HttpRequest *request) {
#ifdef POLLRDHUP
    struct pollfd state = {.fd = request->place->fd, .events = POLLRDHUP};
    return poll(&state, 1, 0) > 0;
#else
    char byte;
    ssize_t there = recv(request->place->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return there == 0 || (there < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
#endif
}

/* ---- answers ---- */

/* What a browser wants to know before a page of another origin gets to read an answer, or to send JSON. The
 * Fetch standard, 3.2 (CORS protocol). */
static void allow_origin(struct MHD_Response *response, const char *origin) {
    MHD_add_response_header(response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    MHD_add_response_header(response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_METHODS, "GET, POST");
    MHD_add_response_header(response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_HEADERS, "Content-Type");
    MHD_add_response_header(response, MHD_HTTP_HEADER_ACCESS_CONTROL_MAX_AGE, "86400");
}

static struct MHD_Response *make_response(const HttpAnswer *answer, const char *origin, bool last) {
    struct MHD_Response *response = MHD_create_response_from_buffer(
        answer->body.length, (void *)(uintptr_t)answer->body.data, MHD_RESPMEM_MUST_COPY);
    if (!response) return NULL;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
    if (answer->name) MHD_add_response_header(response, answer->name, answer->value);
    if (origin) allow_origin(response, origin);
    if (last) MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    return response;
}

/* May an answer of so many bytes be kept until its client takes it? */
static bool admit_answer(HttpRequest *request, size_t bytes) {
    HttpServer *server = request->server;
    pthread_mutex_lock(&server->lock);
    bool fits = bytes <= server->options.answers - server->answers;
    if (fits) server->answers += request->answer = bytes;
    pthread_mutex_unlock(&server->lock);
    return fits;
}

static void send_answer(HttpRequest *request, const HttpAnswer *answer) {
    pthread_mutex_lock(&request->server->lock);
    bool last = request->server->stopping || answer->status == HTTP_HUNG_UP;
    pthread_mutex_unlock(&request->server->lock);
    request->status = answer->status;
    request->response = make_response(answer, request->server->options.origin, last);
    release_scope(request);
    MHD_resume_connection(request->connection);
}

void http_answer(HttpRequest *request, const HttpAnswer *answer) {
    if (admit_answer(request, answer->body.length))
        send_answer(request, answer);
    else
        http_answer_error(request, UNAVAILABLE, "too much waits to be taken by clients: try again later");
}

/* As a JSON string without quotes. What clients wrote may be in it: other bytes than ASCII become '?'. */
static void escape(const char *text, char *escaped, size_t size) {
    size_t length = 0;
    for (; *text && length + 2 < size; text++) {
        if (*text == '"' || *text == '\\') escaped[length++] = '\\';
        escaped[length++] = *text < ' ' || *text > '~' ? '?' : *text;
    }
    escaped[length] = '\0';
}

void http_answer_error(HttpRequest *request, int status, const char *message) {
    char escaped[512], body[sizeof escaped + 16];
    bool later = status == UNAVAILABLE;
    escape(message, escaped, sizeof escaped);
    int size = snprintf(body, sizeof body, "{\"error\": \"%s\"}\n", escaped);
    send_answer(request, &(HttpAnswer){.status = status,
                                       .type = "application/json",
                                       .name = later ? MHD_HTTP_HEADER_RETRY_AFTER : NULL,
                                       .value = "1",
                                       .body = {body, (size_t)size}});
}

/* ---- the server ---- */

static Status find_address(const HttpOptions *options, struct addrinfo **found) {
    char port[16];
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    snprintf(port, sizeof port, "%d", options->port);
    int code = getaddrinfo(options->address, port, &wanted, found);
    if (code == 0) return STATUS_OK;
    return status_fail(STATUS_RUNTIME, "no address '%s': %s", options->address, gai_strerror(code));
}

static struct MHD_Daemon *start_daemon(HttpServer *server, const struct addrinfo *address) {
    unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    if (address->ai_family == AF_INET6) flags |= MHD_USE_IPv6;
    return MHD_start_daemon(flags, 0, NULL, NULL, on_access, server, MHD_OPTION_SOCK_ADDR, address->ai_addr,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)server->options.connections,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_BYTES,
                            MHD_OPTION_CONNECTION_TIMEOUT, 2 * (unsigned)server->options.timeout + 10,
                            MHD_OPTION_LISTEN_BACKLOG_SIZE, (unsigned)BACKLOG, MHD_OPTION_NOTIFY_COMPLETED,
                            on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
                            MHD_OPTION_URI_LOG_CALLBACK, on_request_line, server, MHD_OPTION_END);
}

Status http_start(HttpServer **started, const HttpOptions *options) {
    struct addrinfo *address;
    *started = NULL;
    TRY(find_address(options, &address));
    HttpServer *server = calloc(1, sizeof *server);
    if (!server) {
        freeaddrinfo(address);
        return status_fail(STATUS_RUNTIME, "out of memory");
    }
    *server = (HttpServer){.options = *options, .listening = -1};
    pthread_mutex_init(&server->lock, NULL);
    *started = server; /* before there is a request, whose handler may ask for it */
    errno = 0;
    server->daemon = start_daemon(server, address);
    int error = errno;
    freeaddrinfo(address);
    if (server->daemon) return STATUS_OK;
    *started = NULL;
    pthread_mutex_destroy(&server->lock);
    free(server);
    status_fail(STATUS_RUNTIME, "cannot listen on %s, port %d: %s", options->address, options->port,
                error ? strerror(error) : "libmicrohttpd does not start");
    if (error == EADDRINUSE) status_hint(STATUS_RUNTIME, "--port 0 takes any port that is free");
    if (error == EADDRNOTAVAIL)
        status_hint(STATUS_RUNTIME, "it is no address of this machine; --address 0.0.0.0 stands for all of "
                                    "them");
    return STATUS_RUNTIME;
}

int http_port(const HttpServer *server) {
    return MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
}

static bool is_busy(HttpServer *server) {
    bool busy = false;
    pthread_mutex_lock(&server->lock);
    for (const Connection *place = server->connections; place; place = place->next)
        busy = busy || place->phase == WORKING || (place->phase > IDLE && !place->cut);
    pthread_mutex_unlock(&server->lock);
    return busy;
}

void http_stop(HttpServer *server) {
    pthread_mutex_lock(&server->lock);
    server->stopping = true;
    pthread_mutex_unlock(&server->lock);
    server->listening = MHD_quiesce_daemon(server->daemon);
    while (is_busy(server)) {
        http_tick(server);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    MHD_stop_daemon(server->daemon);
    if (server->listening >= 0) close(server->listening);
    pthread_mutex_destroy(&server->lock);
    free(server);
}
