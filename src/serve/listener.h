/* listener.h - the listening TCP socket of the server: opened, or passed by another process.
 *
 * Fails   listener_open, listener_take: STATUS_RUNTIME
 */
#ifndef SERVE_LISTENER_H
#define SERVE_LISTENER_H

#include <netdb.h>
#include "base/status.h"

enum { LISTENER_BACKLOG = 1024 /* connections that wait to be accepted */ };

typedef struct {
    int fd;
    char address[NI_MAXHOST]; /* name or number */
} Listener;

/* `port` 0: any free port. */
Status listener_open(Listener *listener, const char *address, int port);
/* Other processes may share the socket `fd`. */
Status listener_take(Listener *listener, int fd);
int listener_port(const Listener *listener); /* 0 if unknown */

#endif
