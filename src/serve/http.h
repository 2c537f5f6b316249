/* http.h - requests in, answers out, and the only user of libmicrohttpd. RFC 9112 (HTTP/1.1)
 *
 * One thread of the library's reads and writes all connections. A request that has arrived is handed to the
 * handler on that thread, and waits there without costing any until http_answer is called for it, now or
 * later, on whatever thread.
 *
 * Limits  on everything that a client can ask for: connections (more wait to be accepted), the bytes of a
 *         request's head (32 KB: 431) and body (413), of all bodies at a time (503) and of all answers that
 *         were not taken yet (503), the seconds until a request has arrived (408) and until its answer was
 *         taken (the connection is closed)
 * Fails   http_start: STATUS_RUNTIME
 */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "base/mem_scope.h"
#include "base/status.h"
#include "base/strview.h"

typedef struct HttpServer HttpServer;
typedef struct HttpRequest HttpRequest;

/* Must see to it that the request is answered, once. */
typedef void (*HttpHandler)(void *context, HttpRequest *request);
/* Told of each answer after it was sent, or could not be: status and seconds since the request began. */
typedef void (*HttpWatch)(void *context, int status, double seconds);

typedef struct {
    int socket;          /* that listens already, and that other processes may have, too; 0: none */
    const char *address; /* else a name or number */
    int port;            /* 0: any that is free */
    int connections;
    size_t body, bodies; /* bytes of one and of all */
    size_t answers;      /* bytes of the bodies of all answers that were not taken yet */
    double timeout;      /* seconds */
    const char *origin;  /* of pages elsewhere that may ask, "*" for all; NULL: none may */
    HttpHandler handler;
    HttpWatch watch;
    void *context; /* of both */
} HttpOptions;

Status http_start(HttpServer **server, const HttpOptions *options);
const char *http_address(const HttpServer *server); /* it listens on this one ... */
int http_port(const HttpServer *server);
int http_connections(HttpServer *server); /* that are open */
/* Close what has taken too long; to be called about four times a second. True: the server freed much memory
 * since the last call that returned true, or has freed some and is quiet now. */
bool http_tick(HttpServer *server);
/* Refuse new connections at once, answer what was asked, also on connections that the kernel had accepted,
 * and close. If `socket` was passed, new connections wait there for another process. The handler must go on
 * answering. */
void http_stop(HttpServer *server);

StrView http_method(const HttpRequest *request);
StrView http_path(const HttpRequest *request); /* without a query */
StrView http_content_type(const HttpRequest *request);
StrView http_body(const HttpRequest *request);
/* The body is needed no more: release it before the answer. */
void http_forget_body(HttpRequest *request);
/* Owns the body, and all that is to live until the answer. */
MemScope *http_scope(HttpRequest *request);

typedef struct {
    int status;
    const char *type;         /* of the body */
    const char *name, *value; /* of one more header, or NULL */
    StrView body;             /* copied */
} HttpAnswer;

/* The status for a client that has closed its side of the connection, as nginx calls it: the connection is
 * closed, whatever else was sent on it. */
enum { HTTP_HUNG_UP = 499 };
/* Has the client closed the connection, or its sending side, which looks the same from here, without waiting
 * for the answer? Where the system has no POLLRDHUP, a further request hides it. Until http_answer, on any
 * thread. */
bool http_hung_up(const HttpRequest *request);
/* The request and what its scope owns are gone after this. If too much waits to be taken by clients, they get
 * a 503 instead. */
void http_answer(HttpRequest *request, const HttpAnswer *answer);
/* With {"error": "..."}. */
void http_answer_error(HttpRequest *request, int status, const char *message);

#endif
