/* http_private.h - the server as http.c and http_request.c, the only users of libmicrohttpd, share it. */
#ifndef SERVE_HTTP_PRIVATE_H
#define SERVE_HTTP_PRIVATE_H

#include <microhttpd.h>
#include <pthread.h>
#include "serve/connections.h"
#include "serve/http.h"
#include "serve/listener.h"

struct HttpServer {
    HttpOptions options;
    struct MHD_Daemon *daemon;
    Listener listener; /* the library's thread accepts its connections */
    Connections connections;
    /* Under the lock: */
    pthread_mutex_t lock;
    size_t body_bytes, response_bytes; /* of all requests */
    size_t freed_bytes;                /* since http_tick last returned true */
    size_t freed_at_tick;              /* freed_bytes at the last tick */
};

/* Callbacks of libmicrohttpd; `context` is the server. */
void *http_on_request_line(void *context, const char *target, struct MHD_Connection *mhd);
/* For the head of a request, for each chunk of its body, at its end, and once more when http_respond has
 * resumed the connection. */
enum MHD_Result http_on_access(void *context, struct MHD_Connection *mhd, const char *path,
                               const char *method, const char *version, const char *data, size_t *bytes,
                               void **state);
void http_on_completed(void *context, struct MHD_Connection *mhd, void **state,
                       enum MHD_RequestTerminationCode code);

#endif
