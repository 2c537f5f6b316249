/* http.h - receives requests and sends responses. RFC 9112 (HTTP/1.1)
 *
 * One thread of the library reads and writes all connections. The life of a request:
 *
 *     NEW, IDLE --first line--> RECEIVING --complete--> WORKING --http_respond--> SENDING --sent--> IDLE
 *                                   |                      |
 *                    limit exceeded, malformed      HttpHandler is called on the library's thread;
 *                    head: 4xx or 503, SENDING      http_respond may be called later, on any thread
 *
 * http.c starts and stops the server, http_request.c receives and answers requests; these two use
 * libmicrohttpd. connections.h has the phases and their deadlines, listener.h the socket.
 *
 * A WORKING request is suspended: it occupies no thread.
 *
 * Limits  connections (more wait to be accepted); bytes of the head of a request (32 KB: 431), of its body
 *         (413; also unpacked), of all bodies together (503) and of all responses that clients have not
 *         read yet (503);
 *         seconds until a request is complete (408) and until its response is read (the connection is closed)
 * Fails   http_start: STATUS_RUNTIME
 */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "base/mem_scope.h"
#include "base/status.h"
#include "base/strview.h"

typedef struct HttpServer HttpServer;
typedef struct HttpRequest HttpRequest;

/* Each request must get one response. */
typedef void (*HttpHandler)(void *context, HttpRequest *request);
/* Called after a response was sent or could not be sent. `seconds` count from the start of the request. */
typedef void (*HttpObserver)(void *context, int status, double seconds);

typedef struct {
    int socket; /* already listening, and perhaps shared with other processes; 0: use address and port */
    const char *address; /* name or number */
    int port;            /* 0: any free port */
    int max_connections;
    size_t max_body, max_bodies; /* bytes of one body, and of all bodies together */
    size_t max_responses; /* bytes of all responses that clients have not read yet, without their heads */
    double timeout;       /* seconds */
    const char *origin;   /* whose pages may send requests (CORS), "*" for all; NULL: none */
    HttpHandler handler;
    HttpObserver observer;
    void *context; /* of both */
} HttpOptions;

Status http_start(HttpServer **server, const HttpOptions *options);
const char *http_address(const HttpServer *server); /* the address that it listens on */
int http_port(const HttpServer *server);
int http_connections(HttpServer *server); /* open connections */
/* Closes connections that take too long. Call it about four times a second. Returns true if the server freed
 * much memory since the last call that returned true, or freed some and is quiet now. */
bool http_tick(HttpServer *server);
/* Refuses new connections, answers the requests of all accepted connections, including those that wait in the
 * kernel's backlog, and closes. With HttpOptions.socket the backlog is left to other processes. The handler
 * must keep answering meanwhile. */
void http_stop(HttpServer *server);

StrView http_method(const HttpRequest *request);
StrView http_path(const HttpRequest *request); /* without a query */
StrView http_content_type(const HttpRequest *request);
/* NULL: the request has none. Only until the handler returns. */
const char *http_header(const HttpRequest *request, const char *name);
/* Calls `reader` for each parameter of the query, decoded, with a value without NUL. Only until the handler
 * returns. */
void http_query(const HttpRequest *request,
                void (*reader)(void *context, const char *name, const char *value), void *context);
/* Without its Content-Encoding, which may be gzip. */
StrView http_body(const HttpRequest *request);
/* Frees the body before the response. */
void http_release_body(HttpRequest *request);
/* Owns the body, and memory of the handler that lives until the response. */
MemScope *http_scope(HttpRequest *request);

typedef struct {
    int status;
    const char *type;         /* of the body */
    const char *name, *value; /* one more header, or NULL */
    StrView body;             /* copied */
} HttpResponse;

/* nginx's status "client closed request". The connection is closed after it. */
enum { HTTP_CLIENT_CLOSED = 499 };
/* True if the client has closed the connection or only its sending side, which cannot be told apart. On
 * systems without POLLRDHUP, a second request behind this one hides it. Any thread, until http_respond. */
bool http_client_gone(const HttpRequest *request);
/* Frees the request and its scope. If clients have not read too many earlier responses, this one becomes a
 * 503. */
void http_respond(HttpRequest *request, const HttpResponse *response);
/* With the body {"error": "..."}. */
void http_respond_error(HttpRequest *request, int status, const char *message);

#endif
