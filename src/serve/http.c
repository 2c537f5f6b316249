/* http.c - libmicrohttpd with deadlines of our own, because its timeout forgives whoever sends a byte. */
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
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "serve/head.h"

enum {
    HEAD_BYTES = 32 << 10, /* of the library for each connection: request line and headers */
    NAME_BYTES = 128,      /* of a path or a type that means anything here */
    BACKLOG = 1024,
    SCOPE_BODIES = 100,    /* times the largest body: what a request and its answer may take */
    MOST_FREED = 16 << 20, /* bytes that the server keeps while requests come; they are soon used again */
    IDLE_FREED = 1 << 20,  /* bytes that it keeps between requests */
};
enum { TIMEOUT = 408, TOO_LARGE = 413, UNAVAILABLE = 503 };

/* What a connection is doing: nothing was asked yet, or nothing more, ... */
typedef enum { NEW, IDLE, RECEIVING, WORKING, SENDING } Phase;

typedef struct Connection {
    struct Connection *next, *previous;
    int fd;
    Phase phase;
    double since;
    bool cut;  /* it took too long */
    Head head; /* of the request that it receives */
} Connection;

struct HttpServer {
    HttpOptions options;
    struct MHD_Daemon *daemon;
    int listening; /* the socket; the library's thread accepts its connections */
    char address[NI_MAXHOST];
    pthread_mutex_t lock;
    Connection *connections;
    int count, begun;       /* connections that are open, and that there were */
    size_t bodies, answers; /* bytes of all */
    size_t freed;           /* of these since http_tick last returned true */
    size_t freed_at_tick;   /* `freed` at the last tick */
    bool stopping;
    double stopped; /* when it began to */
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
    bool last;   /* the connection is closed after it */
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
    server->begun++;
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

static void *on_request_line(void *context, const char *target, struct MHD_Connection *connection) {
    Connection *place = place_of(connection);
    set_phase(context, place, RECEIVING);
    if (!place) return NULL;
    place->head = (Head){0};
    head_check_target(&place->head, target);
    return NULL;
}

static const char TOO_SLOW[] = "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\n"
                               "X-Content-Type-Options: nosniff\r\n"
                               "Content-Length: 39\r\nConnection: close\r\n\r\n"
                               "{\"error\": \"the request came too slow\"}\n";

/* While the server stops: for the rest of a request; for a request that is on its way. */
static const double REST_SECONDS = 3, IDLE_SECONDS = 1;

static bool has_expired(const HttpServer *server, const Connection *place, double now) {
    double limit = server->options.timeout, since = place->since;
    if (place->phase == WORKING) return false;
    if (server->stopping && place->phase <= IDLE && since < server->stopped) since = server->stopped;
    if (server->stopping && place->phase <= IDLE && limit > IDLE_SECONDS) limit = IDLE_SECONDS;
    if (server->stopping && place->phase == RECEIVING && limit > REST_SECONDS) limit = REST_SECONDS;
    return now - since > limit;
}

bool http_tick(HttpServer *server) {
    double now = clock_seconds();
    int slow = 0;
    pthread_mutex_lock(&server->lock);
    for (Connection *place = server->connections; place; place = place->next) {
        if (place->cut || !has_expired(server, place, now)) continue;
        /* An idle one closes without a word, which might be taken for the answer to its next request. */
        if (place->phase == NEW || place->phase == RECEIVING) {
            ssize_t sent = send(place->fd, TOO_SLOW, sizeof TOO_SLOW - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
            (void)sent; /* who does not read it either has no use for it */
            slow++;
        }
        shutdown(place->fd, SHUT_RDWR);
        place->cut = true;
    }
    bool quiet = server->freed == server->freed_at_tick;
    bool much = server->freed >= (quiet ? IDLE_FREED : MOST_FREED);
    if (much) server->freed = 0;
    server->freed_at_tick = server->freed;
    pthread_mutex_unlock(&server->lock);
    for (int i = 0; i < slow; i++)
        server->options.watch(server->options.context, TIMEOUT, server->options.timeout);
    return much;
}

/* ---- memory of requests ---- */

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
    MHD_add_response_header(response, MHD_HTTP_HEADER_X_CONTENT_TYPE_OPTIONS, "nosniff");
    if (answer->name) MHD_add_response_header(response, answer->name, answer->value);
    if (origin) allow_origin(response, origin);
    if (last) MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    return response;
}

static void set_answer(HttpRequest *request, const HttpAnswer *answer) {
    pthread_mutex_lock(&request->server->lock);
    bool last = request->last || request->server->stopping || answer->status == HTTP_HUNG_UP;
    pthread_mutex_unlock(&request->server->lock);
    request->status = answer->status;
    request->response = make_response(answer, request->server->options.origin, last);
}

/* Let the library send the answer that was set. */
static void send_answer(HttpRequest *request) {
    release_scope(request);
    MHD_resume_connection(request->connection);
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

void http_answer(HttpRequest *request, const HttpAnswer *answer) {
    if (!admit_answer(request, answer->body.length)) {
        http_answer_error(request, UNAVAILABLE, "too much waits to be taken by clients: try again later");
        return;
    }
    set_answer(request, answer);
    send_answer(request);
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
    count_freed(request->server, 0, request->answer);
    release_scope(request);
    if (request->response) MHD_destroy_response(request->response);
    free(request);
}

static void copy_name(char *to, size_t size, const char *from) {
    size_t length = from ? strlen(from) : 0;
    if (length < size) memcpy(to, from ? from : "", length); /* a longer one means nothing: it stays empty */
}

static enum MHD_Result on_field(void *context, enum MHD_ValueKind kind, const char *name, size_t name_length,
                                const char *value, size_t value_length) {
    (void)kind;
    head_check_field(context, (StrView){name, name_length}, (StrView){value ? value : "", value_length});
    return MHD_YES;
}

/* `method` and `version` point into the bytes of the head, which the library has cut up where they are. */
static void check_head(Head *head, struct MHD_Connection *connection, const char *method, const char *version,
                       size_t limit) {
    size_t bytes = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
    const char *fields = version + strlen(version), *end = method + bytes;
    head_check_fields(head, (StrView){fields, fields < end ? (size_t)(end - fields) : 0}, sv(version));
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, on_field, head);
    head_check_end(head);
    head_check_size(head, limit);
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

/* At once, while the library waits for the body; what comes of it is not read. */
static enum MHD_Result answer_fault(HttpRequest *request, const Head *head) {
    request->handed = request->last = true;
    set_phase(request->server, request->place, SENDING);
    set_error(request, head->status, head->message);
    if (!request->response) return MHD_NO;
    return MHD_queue_response(request->connection, (unsigned)request->status, request->response);
}

/* The head is here. */
static enum MHD_Result begin(HttpRequest *request, const char *method, const char *version) {
    Head *head = &request->place->head;
    check_head(head, request->connection, method, version, request->server->options.body);
    request->last = head->chunked; /* what follows its last chunk is not taken for another request */
    return head->status ? answer_fault(request, head) : MHD_YES;
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
    if (!request) {
        *kept = request = request_new(context, connection, method, path);
        return request ? begin(request, method, version) : MHD_NO;
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

/* ---- the server ---- */

static Status find_address(const HttpOptions *options, struct addrinfo **found) {
    char port[16];
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    snprintf(port, sizeof port, "%d", options->port);
    int code = getaddrinfo(options->address, port, &wanted, found);
    if (code == 0) return STATUS_OK;
    return status_fail(STATUS_RUNTIME, "no address '%s': %s", options->address, gai_strerror(code));
}

static int listen_on(const struct addrinfo *address) {
    int on = 1, fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on); /* of connections that were closed just now */
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
        status_hint(STATUS_RUNTIME, "it is no address of this machine; --address 0.0.0.0 stands for all of "
                                    "them");
    return STATUS_RUNTIME;
}

/* It must not block: another process may accept the connection that poll reported. */
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
        return status_fail(STATUS_RUNTIME, "the socket that was passed (LISTEN_FDS) is not one of TCP that "
                                           "listens");
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    server->listening = fd;
    return STATUS_OK;
}

static Status start_daemon(HttpServer *server) {
    const HttpOptions *options = &server->options;
    unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_access, server, MHD_OPTION_LISTEN_SOCKET, server->listening,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)options->connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
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
    *started = server; /* before there is a request, whose handler may ask for it */
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

/* ---- its end ---- */

static bool is_busy(HttpServer *server) {
    bool busy = false;
    pthread_mutex_lock(&server->lock);
    for (const Connection *place = server->connections; place; place = place->next)
        busy = busy || place->phase == WORKING || !place->cut;
    pthread_mutex_unlock(&server->lock);
    return busy;
}

/* Accepted connections that wait for room among --max-connections. */
typedef struct {
    int fds[2 * BACKLOG];
    int count, given; /* to the library */
    int begun;        /* the server's `begun` before that */
} Waiting;

static void nap_milliseconds(long milliseconds) {
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

/* Closing a listening socket resets the connections that wait there, so accept them first. A connection that
 * arrives in the microsecond between the last accept and close is reset. If other processes have the socket,
 * too, nothing is reset: what waits is left to them. */
static void stop_listening(HttpServer *server, Waiting *waiting) {
    MHD_quiesce_daemon(server->daemon);
    nap_milliseconds(10); /* the library's thread may be accepting */
    while (server->options.socket == 0 && waiting->count < 2 * BACKLOG) {
        int fd = accept(server->listening, NULL, NULL);
        if (fd >= 0)
            waiting->fds[waiting->count++] = fd;
        else if (errno != EINTR && errno != ECONNABORTED)
            break;
    }
    close(server->listening);
    pthread_mutex_lock(&server->lock);
    waiting->begun = server->begun;
    pthread_mutex_unlock(&server->lock);
}

/* As many as there is room for. The library counts a connection for a moment after on_connection heard of its
 * end. */
static void give_waiting(HttpServer *server, Waiting *waiting) {
    pthread_mutex_lock(&server->lock);
    int coming = waiting->given - (server->begun - waiting->begun);
    int places = server->options.connections - server->count - coming;
    pthread_mutex_unlock(&server->lock);
    if (places > 0 && waiting->given < waiting->count) nap_milliseconds(5);
    for (; places > 0 && waiting->given < waiting->count; places--) {
        struct sockaddr_storage address;
        socklen_t bytes = sizeof address;
        int fd = waiting->fds[waiting->given++];
        if (getpeername(fd, (struct sockaddr *)&address, &bytes) != 0)
            close(fd); /* it has gone */
        else
            MHD_add_connection(server->daemon, fd, (struct sockaddr *)&address, bytes);
    }
}

void http_stop(HttpServer *server) {
    Waiting waiting = {0};
    pthread_mutex_lock(&server->lock);
    server->stopping = true;
    server->stopped = clock_seconds();
    pthread_mutex_unlock(&server->lock);
    stop_listening(server, &waiting);
    do {
        give_waiting(server, &waiting);
        nap_milliseconds(20);
        http_tick(server);
    } while (waiting.given < waiting.count || is_busy(server));
    MHD_stop_daemon(server->daemon);
    pthread_mutex_destroy(&server->lock);
    free(server);
}
