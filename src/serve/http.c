/* http.c - starts libmicrohttpd, closes slow connections, and stops without losing any. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "base/signals.h"
#include "serve/http_private.h"

enum {
    HEAD_BYTES = 32 << 10, /* buffer of the library for each connection: request line and headers */
    BUSY_BYTES =
        16 << 20, /* freed bytes that the server keeps while requests come: they are soon used again */
    IDLE_BYTES = 1 << 20, /* freed bytes that it keeps between requests */
};
enum { TIMEOUT = 408 };

/* Newer versions of the library can refuse what a proxy could read differently, such as a field over several
 * lines, which they would join otherwise: head.c would not see it. Arguments of MHD_start_daemon. */
#if MHD_VERSION >= 0x00097701
#define STRICT MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1,
#else
#define STRICT
#endif

int http_connections(HttpServer *server) { return connections_open(&server->connections); }

bool http_tick(HttpServer *server) {
    int slow = connections_close_slow(&server->connections);
    pthread_mutex_lock(&server->lock);
    bool quiet = server->freed_bytes == server->freed_at_tick;
    bool much = server->freed_bytes >= (quiet ? IDLE_BYTES : BUSY_BYTES);
    if (much) server->freed_bytes = 0;
    server->freed_at_tick = server->freed_bytes;
    pthread_mutex_unlock(&server->lock);
    for (int i = 0; i < slow; i++)
        server->options.observer(server->options.context, TIMEOUT, server->options.timeout);
    return much;
}

/* ---- starting ---- */

static void on_connection(void *context, struct MHD_Connection *mhd, void **connection,
                          enum MHD_ConnectionNotificationCode code) {
    HttpServer *server = context;
    if (code != MHD_CONNECTION_NOTIFY_STARTED) {
        connection_end(&server->connections, *connection);
        return;
    }
    int fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    *connection = connection_begin(&server->connections, fd);
}

static void server_free(HttpServer *server) {
    connections_free(&server->connections);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

static Status start_daemon(HttpServer *server) {
    const HttpOptions *options = &server->options;
    unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    sigset_t before = signals_block();
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, http_on_access, server, MHD_OPTION_LISTEN_SOCKET, server->listener.fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)options->max_connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HEAD_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, 2 * (unsigned)options->timeout + 10,
        MHD_OPTION_NOTIFY_COMPLETED, http_on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
        server, MHD_OPTION_URI_LOG_CALLBACK, http_on_request_line, server, STRICT MHD_OPTION_END);
    signals_restore(before);
    if (server->daemon) return STATUS_OK;
    close(server->listener.fd);
    return status_fail(STATUS_RUNTIME, "libmicrohttpd does not start");
}

Status http_start(HttpServer **started, const HttpOptions *options) {
    HttpServer *server = calloc(1, sizeof *server);
    if (!server) return status_fail(STATUS_RUNTIME, "out of memory");
    *server = (HttpServer){.options = *options};
    pthread_mutex_init(&server->lock, NULL);
    connections_init(&server->connections, options->timeout);
    *started = server; /* before the first request, whose handler may use it */
    Status status = options->socket > 0 ? listener_take(&server->listener, options->socket)
                                        : listener_open(&server->listener, options->address, options->port);
    if (status == STATUS_OK) status = start_daemon(server);
    if (status == STATUS_OK) return STATUS_OK;
    *started = NULL;
    server_free(server);
    return status;
}

const char *http_address(const HttpServer *server) { return server->listener.address; }

int http_port(const HttpServer *server) { return listener_port(&server->listener); }

/* ---- stopping ---- */

/* Connections that were accepted while the server stops, and wait until fewer than max_connections are
 * open. */
typedef struct {
    int fds[2 * LISTENER_BACKLOG];
    int count, added; /* added: to the library */
    int begun;        /* connections_begun before the first one was added */
} AcceptedSockets;

static void nap_milliseconds(long milliseconds) {
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

/* Shutting a listening socket down resets the connections that wait there, so they are accepted first. A
 * connection that arrives in the microsecond between the last accept and shutdown is reset. If other
 * processes share the socket, nothing is reset and they get the connections. The socket is closed after the
 * library's thread has ended: the thread takes it out of its epoll set in its own time, and ends the program
 * if it cannot. */
static void stop_listening(HttpServer *server, AcceptedSockets *accepted) {
    MHD_quiesce_daemon(server->daemon);
    nap_milliseconds(10); /* the library's thread may be accepting */
    while (server->options.socket == 0 && accepted->count < 2 * LISTENER_BACKLOG) {
        int fd = accept(server->listener.fd, NULL, NULL);
        if (fd >= 0)
            accepted->fds[accepted->count++] = fd;
        else if (errno != EINTR && errno != ECONNABORTED)
            break;
    }
    if (server->options.socket == 0) shutdown(server->listener.fd, SHUT_RDWR);
    accepted->begun = connections_begun(&server->connections);
}

/* Adds as many as max_connections allows. The library counts a connection for a moment after it has called
 * on_connection for its end. */
static void add_accepted(HttpServer *server, AcceptedSockets *accepted) {
    int starting = accepted->added - (connections_begun(&server->connections) - accepted->begun);
    int free_slots = server->options.max_connections - connections_open(&server->connections) - starting;
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
    connections_stop(&server->connections);
    stop_listening(server, &accepted);
    do {
        add_accepted(server, &accepted);
        nap_milliseconds(20);
        http_tick(server);
    } while (accepted.added < accepted.count || connections_busy(&server->connections));
    MHD_stop_daemon(server->daemon);
    close(server->listener.fd);
    server_free(server);
}
