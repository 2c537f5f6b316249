/* connections.h - the open connections of the server, the phase of each, and which of them take too long.
 *
 *     NEW, IDLE --first line--> RECEIVING --complete--> WORKING --respond--> SENDING --sent--> IDLE
 *
 * Limits  a phase other than WORKING may take `timeout` seconds. NEW and the first RECEIVING count as one.
 *         While the server stops, a request that has begun gets a few seconds more, and an idle connection
 *         one second
 * Owner   connection_begin allocates, connection_end frees
 * Threads any. A Connection of NULL is ignored: there was no memory for it
 */
#ifndef SERVE_CONNECTIONS_H
#define SERVE_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include "serve/head.h"

typedef enum {
    CONNECTION_NEW,  /* no request yet */
    CONNECTION_IDLE, /* between two requests */
    CONNECTION_RECEIVING,
    CONNECTION_WORKING,
    CONNECTION_SENDING
} ConnectionPhase;

typedef struct Connection {
    int fd;
    Head head; /* of the request that it receives */
    /* Private, under the lock of the list: */
    struct Connection *next, *previous;
    ConnectionPhase phase;
    double since; /* the start of the phase */
    bool closed;  /* by connections_close_slow */
} Connection;

/* All members are private. */
typedef struct {
    pthread_mutex_t lock;
    Connection *first;
    int open, begun; /* connections: now; ever */
    double timeout;
    bool stopping;
    double stopped; /* the time when stopping began */
} Connections;

void connections_init(Connections *connections, double timeout);
void connections_free(Connections *connections); /* none is open */
Connection *connection_begin(Connections *connections, int fd);
void connection_end(Connections *connections, Connection *connection);
void connection_enter(Connections *connections, Connection *connection, ConnectionPhase phase);
/* True if the client has closed the connection or only its sending side, which cannot be told apart. */
bool connection_left(const Connection *connection);

/* Closes the connections that take too long. Returns the number of those that got a 408. */
int connections_close_slow(Connections *connections);
/* From now on the shorter limits count. */
void connections_stop(Connections *connections);
bool connections_stopping(Connections *connections);
/* Is a request in work, or a connection not closed yet? */
bool connections_busy(Connections *connections);
int connections_open(Connections *connections);
int connections_begun(Connections *connections);

#endif
