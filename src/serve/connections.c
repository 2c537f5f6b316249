/* connections.c - deadlines of our own, because the timeout of libmicrohttpd begins again with each byte. */
#include "serve/connections.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include "base/log.h"

static const char TOO_SLOW[] = "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\n"
                               "X-Content-Type-Options: nosniff\r\n"
                               "Content-Length: 39\r\nConnection: close\r\n\r\n"
                               "{\"error\": \"the request came too slow\"}\n";

/* Limits while the server stops: for the rest of a request, and for a request that may be on its way. */
static const double REST_SECONDS = 3, IDLE_SECONDS = 1;

void connections_init(Connections *connections, double timeout) {
    *connections = (Connections){.timeout = timeout};
    pthread_mutex_init(&connections->lock, NULL);
}

void connections_free(Connections *connections) { pthread_mutex_destroy(&connections->lock); }

Connection *connection_begin(Connections *connections, int fd) {
    Connection *connection = calloc(1, sizeof *connection);
    if (!connection) return NULL;
    connection->fd = fd;
    connection->since = clock_seconds();
    pthread_mutex_lock(&connections->lock);
    connection->next = connections->first;
    if (connection->next) connection->next->previous = connection;
    connections->first = connection;
    connections->open++;
    connections->begun++;
    pthread_mutex_unlock(&connections->lock);
    return connection;
}

void connection_end(Connections *connections, Connection *connection) {
    if (!connection) return;
    pthread_mutex_lock(&connections->lock);
    if (connection->next) connection->next->previous = connection->previous;
    *(connection->previous ? &connection->previous->next : &connections->first) = connection->next;
    connections->open--;
    pthread_mutex_unlock(&connections->lock);
    free(connection);
}

/* The clock of a new connection keeps running through its first request. */
void connection_enter(Connections *connections, Connection *connection, ConnectionPhase phase) {
    if (!connection) return;
    pthread_mutex_lock(&connections->lock);
    if (connection->phase != CONNECTION_NEW) connection->since = clock_seconds();
    connection->phase = phase;
    pthread_mutex_unlock(&connections->lock);
}

/* libmicrohttpd does not watch a suspended connection. Linux reports that the client has closed its sending
 * side even if unread bytes precede; other systems report it after the last byte was read. */
bool connection_left(const Connection *connection) {
#ifdef POLLRDHUP
    struct pollfd state = {.fd = connection->fd, .events = POLLRDHUP};
    return poll(&state, 1, 0) > 0;
#else
    char byte;
    ssize_t there = recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return there == 0 || (there < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
#endif
}

static bool is_slow(const Connections *connections, const Connection *connection, double now) {
    double limit = connections->timeout, since = connection->since;
    if (connection->phase == CONNECTION_WORKING) return false;
    if (connections->stopping && connection->phase <= CONNECTION_IDLE) {
        if (since < connections->stopped) since = connections->stopped;
        if (limit > IDLE_SECONDS) limit = IDLE_SECONDS;
    }
    if (connections->stopping && connection->phase == CONNECTION_RECEIVING && limit > REST_SECONDS)
        limit = REST_SECONDS;
    return now - since > limit;
}

int connections_close_slow(Connections *connections) {
    double now = clock_seconds();
    int told = 0;
    pthread_mutex_lock(&connections->lock);
    for (Connection *connection = connections->first; connection; connection = connection->next) {
        if (connection->closed || !is_slow(connections, connection, now)) continue;
        /* An idle connection closes silently: the client could take a 408 for the response to its next
         * request. */
        if (connection->phase == CONNECTION_NEW || connection->phase == CONNECTION_RECEIVING) {
            ssize_t sent = send(connection->fd, TOO_SLOW, sizeof TOO_SLOW - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
            (void)sent; /* a client that does not read has no use for the message */
            told++;
        }
        shutdown(connection->fd, SHUT_RDWR);
        connection->closed = true;
    }
    pthread_mutex_unlock(&connections->lock);
    return told;
}

void connections_stop(Connections *connections) {
    pthread_mutex_lock(&connections->lock);
    connections->stopping = true;
    connections->stopped = clock_seconds();
    pthread_mutex_unlock(&connections->lock);
}

bool connections_stopping(Connections *connections) {
    pthread_mutex_lock(&connections->lock);
    bool stopping = connections->stopping;
    pthread_mutex_unlock(&connections->lock);
    return stopping;
}

bool connections_busy(Connections *connections) {
    bool busy = false;
    pthread_mutex_lock(&connections->lock);
    for (const Connection *connection = connections->first; connection; connection = connection->next)
        busy = busy || connection->phase == CONNECTION_WORKING || !connection->closed;
    pthread_mutex_unlock(&connections->lock);
    return busy;
}

int connections_open(Connections *connections) {
    pthread_mutex_lock(&connections->lock);
    int open = connections->open;
    pthread_mutex_unlock(&connections->lock);
    return open;
}

int connections_begun(Connections *connections) {
    pthread_mutex_lock(&connections->lock);
    int begun = connections->begun;
    pthread_mutex_unlock(&connections->lock);
    return begun;
}
