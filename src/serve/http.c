/* http.c - libmicrohttpd with our own deadlines, because its timeout begins again with each byte. */
#include "serve/http.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "io/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "serve/head.h"

enum {
    HEAD_BYTES = 32 << 10, /* buffer of the library for each connection: request line and headers */
    NAME_BYTES = 128,      /* longest path or content type that has a meaning here, with its NUL */
    BACKLOG = 1024,
    SCOPE_BODIES = 100, /* limit of the scope of a request, in largest bodies */
    BUSY_BYTES =
        16 << 20, /* freed bytes that the server keeps while requests come: they are soon used again */
    IDLE_BYTES = 1 << 20, /* freed bytes that it keeps between requests */
};
enum { TIMEOUT = 408, TOO_LARGE = 413, UNAVAILABLE = 503 };

/* NEW: no request yet; IDLE: between two requests. See http.h. */
typedef enum { NEW, IDLE, RECEIVING, WORKING, SENDING } Phase;

typedef struct Connection {
    struct Connection *next, *previous;
    int fd;
    Phase phase;
    double since; /* the start of the phase; NEW and the first RECEIVING are one */
    bool closed;  /* by us: it took too long */
    Head head;    /* of the request that it receives */
} Connection;

struct HttpServer {
    HttpOptions options;
    struct MHD_Daemon *daemon;
    int listening; /* the socket; the library's thread accepts its connections */
    char address[NI_MAXHOST];
    /* Under the lock: */
    pthread_mutex_t lock;
    Connection *connections;
    int count, begun;                /* connections: open; ever */
    size_t body_bytes, answer_bytes; /* of all requests */
    size_t freed_bytes;              /* since http_tick last returned true */
    size_t freed_at_tick;            /* freed_bytes at the last tick */
    bool stopping;
    double stopped; /* the time when stopping began */
};

struct HttpRequest {
    HttpServer *server;
    struct MHD_Connection *mhd;
    Connection *connection;
    MemScope *scope;
    StrBuf body;
    char method[16], path[NAME_BYTES], type[NAME_BYTES];
    double started;
    int refused;      /* the status of a refused body, or 0 */
    bool handed_over; /* to the handler */
    bool last;        /* the connection is closed after this request */
    int status;
    size_t answer_bytes;           /* of its body, as counted in the server's answer_bytes */
    struct MHD_Response *response; /* NULL until the answer is known */
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

/* The clock of a new connection keeps running through its first request. */
static void set_phase(HttpServer *server, Connection *connection, Phase phase) {
    if (!connection) return; /* connection_begin was out of memory */
    pthread_mutex_lock(&server->lock);
    if (connection->phase != NEW) connection->since = clock_seconds();
    connection->phase = phase;
    pthread_mutex_unlock(&server->lock);
}

static void connection_begin(HttpServer *server, struct MHD_Connection *mhd, void **context) {
    Connection *connection = calloc(1, sizeof *connection);
    *context = connection;
    if (!connection) return; /* request_new will refuse */
    connection->fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    connection->since = clock_seconds();
    pthread_mutex_lock(&server->lock);
    connection->next = server->connections;
    if (connection->next) connection->next->previous = connection;
    server->connections = connection;
    server->count++;
    server->begun++;
    pthread_mutex_unlock(&server->lock);
}

static void connection_end(HttpServer *server, Connection *connection) {
    if (!connection) return;
    pthread_mutex_lock(&server->lock);
    if (connection->next) connection->next->previous = connection->previous;
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        server->connections = connection->next;
    server->count--;
    pthread_mutex_unlock(&server->lock);
    free(connection);
}

static void on_connection(void *context, struct MHD_Connection *mhd, void **connection,
                          enum MHD_ConnectionNotificationCode code) {
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        connection_begin(context, mhd, connection);
    else
        connection_end(context, *connection);
}

static Connection *connection_of(struct MHD_Connection *mhd) {
    return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void *on_request_line(void *context, const char *target, struct MHD_Connection *mhd) {
    Connection *connection = connection_of(mhd);
    set_phase(context, connection, RECEIVING);
    if (!connection) return NULL;
    connection->head = (Head){0};
    head_check_target(&connection->head, target);
    return NULL;
}

static const char TOO_SLOW[] = "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\n"
                               "X-Content-Type-Options: nosniff\r\n"
                               "Content-Length: 39\r\nConnection: close\r\n\r\n"
                               "{\"error\": \"the request came too slow\"}\n";

/* Limits while the server stops: for the rest of a request, and for a request that may be on its way. */
static const double REST_SECONDS = 3, IDLE_SECONDS = 1;

static bool has_expired(const HttpServer *server, const Connection *connection, double now) {
    double limit = server->options.timeout, since = connection->since;
    if (connection->phase == WORKING) return false;
    if (server->stopping && connection->phase <= IDLE && since < server->stopped) since = server->stopped;
    if (server->stopping && connection->phase <= IDLE && limit > IDLE_SECONDS) limit = IDLE_SECONDS;
    if (server->stopping && connection->phase == RECEIVING && limit > REST_SECONDS) limit = REST_SECONDS;
    return now - since > limit;
}

bool http_tick(HttpServer *server) {
    double now = clock_seconds();
    int slow = 0;
    pthread_mutex_lock(&server->lock);
    for (Connection *connection = server->connections; connection; connection = connection->next) {
        if (connection->closed || !has_expired(server, connection, now)) continue;
        /* An idle connection closes silently: the client could take a 408 for the answer to its next
         * request. */
        if (connection->phase == NEW || connection->phase == RECEIVING) {
            ssize_t sent = send(connection->fd, TOO_SLOW, sizeof TOO_SLOW - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
            (void)sent; /* a client that does not read has no use for the message */
            slow++;
        }
        shutdown(connection->fd, SHUT_RDWR);
        connection->closed = true;
    }
    bool quiet = server->freed_bytes == server->freed_at_tick;
    bool much = server->freed_bytes >= (quiet ? IDLE_BYTES : BUSY_BYTES);
    if (much) server->freed_bytes = 0;
    server->freed_at_tick = server->freed_bytes;
    pthread_mutex_unlock(&server->lock);
    for (int i = 0; i < slow; i++)
        server->options.observer(server->options.context, TIMEOUT, server->options.timeout);
    return much;
}

/* ---- memory of requests ---- */

/* Counts freed bytes of bodies and answers. */
static void count_freed(HttpServer *server, size_t bodies, size_t answers) {
    pthread_mutex_lock(&server->lock);
    server->body_bytes -= bodies;
    server->answer_bytes -= answers;
    server->freed_bytes += bodies + answers;
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

/* ---- answers ---- */

/* The headers that let a page of another origin send JSON and read the answer. Fetch standard, 3.2 (CORS
 * protocol). */
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
    MHD_add_response_header(response, MHD_HTTP_HEADER_X_CONTENT_TYPE_OPTIONS, "nosniff");
    if (answer->name) MHD_add_response_header(response, answer->name, answer->value);
    if (origin) allow_origin(response, origin);
    if (last) MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    return response;
}

static void set_answer(HttpRequest *request, const HttpAnswer *answer) {
    pthread_mutex_lock(&request->server->lock);
    bool last = request->last || request->server->stopping || answer->status == HTTP_CLIENT_CLOSED;
    pthread_mutex_unlock(&request->server->lock);
    request->status = answer->status;
    request->response = make_response(answer, request->server->options.origin, last);
}

/* Wakes the connection; then the library sends the answer. */
static void send_answer(HttpRequest *request) {
    release_scope(request);
    MHD_resume_connection(request->mhd);
}

/* Counts the bytes of an answer. False if too many answers wait for their clients. */
static bool admit_answer(HttpRequest *request, size_t bytes) {
    HttpServer *server = request->server;
    pthread_mutex_lock(&server->lock);
    bool fits = bytes <= server->options.max_answers - server->answer_bytes;
    if (fits) server->answer_bytes += request->answer_bytes = bytes;
    pthread_mutex_unlock(&server->lock);
    return fits;
}

void http_answer(HttpRequest *request, const HttpAnswer *answer) {
    if (!admit_answer(request, answer->body.length)) {
        http_answer_error(request, UNAVAILABLE, "too much waits to be taken by clients: try again later");
        return;
    }
    set_answer(request, answer);
    send_answer(request);
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
    bool later = status == UNAVAILABLE;
    escape(message, escaped, sizeof escaped);
    int size = snprintf(body, sizeof body, "{\"error\": \"%s\"}\n", escaped);
    set_answer(request, &(HttpAnswer){.status = status,
                                      .type = "application/json",
                                      .name = later ? MHD_HTTP_HEADER_RETRY_AFTER : NULL,
                                      .value = "1",
                                      .body = {body, (size_t)size}});
}

void http_answer_error(HttpRequest *request, int status, const char *message) {
    set_error(request, status, message);
    send_answer(request);
}

/* ---- requests ---- */

static void request_free(HttpRequest *request) {
    release_scope(request);
    if (request->response) MHD_destroy_response(request->response);
    count_freed(request->server, 0, request->answer_bytes);
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
 * because a client reads the answer only after it has sent the body. */
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

static void refuse(HttpRequest *request) {
    char message[128];
    if (request->refused == TOO_LARGE)
        snprintf(message, sizeof message, "the body is larger than %zu bytes",
                 request->server->options.max_body);
    else
        snprintf(message, sizeof message, "too much is being asked at once: try again later");
    http_answer_error(request, request->refused, message);
}

/* Answers before the body arrives. The library does not read the body then. */
static enum MHD_Result answer_fault(HttpRequest *request, const Head *head) {
    request->handed_over = request->last = true;
    set_phase(request->server, request->connection, SENDING);
    set_error(request, head->status, head->message);
    if (!request->response) return MHD_NO;
    return MHD_queue_response(request->mhd, (unsigned)request->status, request->response);
}

/* The head has arrived. */
static enum MHD_Result receive_head(HttpRequest *request, const char *method, const char *version) {
    Head *head = &request->connection->head;
    check_head(head, request->mhd, method, version, request->server->options.max_body);
    request->last = head->chunked; /* bytes after the last chunk are not read as another request */
    return head->status ? answer_fault(request, head) : MHD_YES;
}

/* The request is complete. The connection is suspended first, because the handler may answer at once. */
static void hand_over(HttpRequest *request) {
    HttpServer *server = request->server;
    request->handed_over = true;
    set_phase(server, request->connection, WORKING);
    MHD_suspend_connection(request->mhd);
    if (request->refused)
        refuse(request);
    else if (server->options.origin && strcmp(request->method, MHD_HTTP_METHOD_OPTIONS) == 0)
        http_answer(request, &(HttpAnswer){.status = MHD_HTTP_NO_CONTENT, .type = "application/json"});
    else
        server->options.handler(server->options.context, request);
}

/* The library calls this for the head of a request, for each chunk of its body, at its end, and once more
 * when http_answer has resumed the connection. */
static enum MHD_Result on_access(void *context, struct MHD_Connection *mhd, const char *path,
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
    if (!request->response) return MHD_NO;
    set_phase(request->server, request->connection, SENDING);
    return MHD_queue_response(mhd, (unsigned)request->status, request->response);
}

static void on_completed(void *context, struct MHD_Connection *mhd, void **state,
                         enum MHD_RequestTerminationCode code) {
    HttpServer *server = context;
    HttpRequest *request = *state;
    (void)mhd;
    (void)code;
    if (!request) return;
    *state = NULL;
    set_phase(server, request->connection, IDLE);
    if (request->status)
        server->options.observer(server->options.context, request->status,
                                 clock_seconds() - request->started);
    request_free(request);
}

/* The library does not watch a suspended connection. Linux reports that the client has closed its sending
 * side even if unread bytes precede; other systems report it after the last byte was read. */
bool http_client_gone(const HttpRequest *request) {
#ifdef POLLRDHUP
    struct pollfd state = {.fd = request->connection->fd, .events = POLLRDHUP};
    return poll(&state, 1, 0) > 0;
#else
    char byte;
    ssize_t there = recv(request->connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return there == 0 || (there < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
#endif
}

/* ---- the server ---- */

static Status find_address(const HttpOptions *options, struct addrinfo **address) {
    char port[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    snprintf(port, sizeof port, "%d", options->port);
    int code = getaddrinfo(options->address, port, &hints, address);
    if (code == 0) return STATUS_OK;
    return status_fail(STATUS_RUNTIME, "no address '%s': %s", options->address, gai_strerror(code));
}

static int listen_on(const struct addrinfo *address) {
    int on = 1, fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on,
               sizeof on); /* although connections of an earlier server may linger */
    if (address->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static Status open_socket(HttpServer *server) {
    const HttpOptions *options = &server->options;
    struct addrinfo *address;
    TRY(find_address(options, &address));
    server->listening = listen_on(address);
    int error = errno;
    freeaddrinfo(address);
    snprintf(server->address, sizeof server->address, "%s", options->address);
    if (server->listening >= 0) return STATUS_OK;
    status_fail(STATUS_RUNTIME, "cannot listen on %s, port %d: %s", options->address, options->port,
                strerror(error));
    if (error == EADDRINUSE) status_hint(STATUS_RUNTIME, "--port 0 takes any port that is free");
    if (error == EADDRNOTAVAIL)
        status_hint(STATUS_RUNTIME,
                    "this machine does not have the address; --address 0.0.0.0 listens on all "
                    "of its addresses");
    return STATUS_RUNTIME;
}

/* The socket must not block: another process may accept the connection that poll reported. */
static Status take_socket(HttpServer *server) {
    struct sockaddr_storage address;
    socklen_t bytes = sizeof address, size = sizeof(int);
    int fd = server->options.socket, listens = 0;
    bool sound = getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens &&
                 getsockname(fd, (struct sockaddr *)&address, &bytes) == 0 &&
                 getnameinfo((struct sockaddr *)&address, bytes, server->address, sizeof server->address,
                             NULL, 0, NI_NUMERICHOST) == 0 &&
                 (address.ss_family == AF_INET || address.ss_family == AF_INET6);
    if (!sound || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0)
        return status_fail(STATUS_RUNTIME, "the socket that was passed (LISTEN_FDS) is not a listening TCP "
                                           "socket");
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    server->listening = fd;
    return STATUS_OK;
}

static Status start_daemon(HttpServer *server) {
    const HttpOptions *options = &server->options;
    unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_access, server, MHD_OPTION_LISTEN_SOCKET, server->listening,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)options->max_connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HEAD_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, 2 * (unsigned)options->timeout + 10,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
        server, MHD_OPTION_URI_LOG_CALLBACK, on_request_line, server, MHD_OPTION_END);
    if (server->daemon) return STATUS_OK;
    close(server->listening);
    return status_fail(STATUS_RUNTIME, "libmicrohttpd does not start");
}

Status http_start(HttpServer **started, const HttpOptions *options) {
    HttpServer *server = calloc(1, sizeof *server);
    if (!server) return status_fail(STATUS_RUNTIME, "out of memory");
    *server = (HttpServer){.options = *options};
    pthread_mutex_init(&server->lock, NULL);
    *started = server; /* before the first request, whose handler may use it */
    Status status = options->socket > 0 ? take_socket(server) : open_socket(server);
    if (status == STATUS_OK) status = start_daemon(server);
    if (status == STATUS_OK) return STATUS_OK;
    *started = NULL;
    pthread_mutex_destroy(&server->lock);
    free(server);
    return status;
}

const char *http_address(const HttpServer *server) { return server->address; }

int http_port(const HttpServer *server) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    socklen_t bytes = sizeof address;
    if (getsockname(server->listening, &address.any, &bytes) != 0) return 0;
    return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

/* ---- stopping ---- */

static bool is_busy(HttpServer *server) {
    bool busy = false;
    pthread_mutex_lock(&server->lock);
    for (const Connection *connection = server->connections; connection; connection = connection->next)
        busy = busy || connection->phase == WORKING || !connection->closed;
    pthread_mutex_unlock(&server->lock);
    return busy;
}

/* Connections that were accepted while the server stops, and wait until fewer than max_connections are
 * open. */
typedef struct {
    int fds[2 * BACKLOG];
    int count, added; /* added: to the library */
    int begun;        /* the server's `begun` before the first one was added */
} AcceptedSockets;

static void nap_milliseconds(long milliseconds) {
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

/* Closing a listening socket resets the connections that wait there, so they are accepted first. A connection
 * that arrives in the microsecond between the last accept and close is reset. If other processes share the
 * socket, nothing is reset and they get the connections. */
static void stop_listening(HttpServer *server, AcceptedSockets *accepted) {
    MHD_quiesce_daemon(server->daemon);
    nap_milliseconds(10); /* the library's thread may be accepting */
    while (server->options.socket == 0 && accepted->count < 2 * BACKLOG) {
        int fd = accept(server->listening, NULL, NULL);
        if (fd >= 0)
            accepted->fds[accepted->count++] = fd;
        else if (errno != EINTR && errno != ECONNABORTED)
            break;
    }
    close(server->listening);
    pthread_mutex_lock(&server->lock);
    accepted->begun = server->begun;
    pthread_mutex_unlock(&server->lock);
}

/* Adds as many as max_connections allows. The library counts a connection for a moment after it has called
 * on_connection for its end. */
static void add_accepted(HttpServer *server, AcceptedSockets *accepted) {
    pthread_mutex_lock(&server->lock);
    int starting = accepted->added - (server->begun - accepted->begun);
    int free_slots = server->options.max_connections - server->count - starting;
    pthread_mutex_unlock(&server->lock);
    if (free_slots > 0 && accepted->added < accepted->count) nap_milliseconds(5);
    for (; free_slots > 0 && accepted->added < accepted->count; free_slots--) {
        struct sockaddr_storage address;
        socklen_t bytes = sizeof address;
        int fd = accepted->fds[accepted->added++];
        if (getpeername(fd, (struct sockaddr *)&address, &bytes) != 0)
            close(fd); /* the client has gone */
        else
            MHD_add_connection(server->daemon, fd, (struct sockaddr *)&address, bytes);
    }
}

void http_stop(HttpServer *server) {
    AcceptedSockets accepted = {0};
    pthread_mutex_lock(&server->lock);
    server->stopping = true;
    server->stopped = clock_seconds();
    pthread_mutex_unlock(&server->lock);
    stop_listening(server, &accepted);
    do {
        add_accepted(server, &accepted);
        nap_milliseconds(20);
        http_tick(server);
    } while (accepted.added < accepted.count || is_busy(server));
    MHD_stop_daemon(server->daemon);
    pthread_mutex_destroy(&server->lock);
    free(server);
}
