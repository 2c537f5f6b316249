/* listener.c - see listener.h. */
#include "serve/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static Status find_address(const char *name, int port, struct addrinfo **address) {
    char digits[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    snprintf(digits, sizeof digits, "%d", port);
    int code = getaddrinfo(name, digits, &hints, address);
    if (code == 0) return STATUS_OK;
    return status_fail(STATUS_RUNTIME, "no address '%s': %s", name, gai_strerror(code));
}

static int listen_on(const struct addrinfo *address) {
    int on = 1, fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on,
               sizeof on); /* although connections of an earlier server may linger */
    if (address->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, LISTENER_BACKLOG) == 0) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

Status listener_open(Listener *listener, const char *address, int port) {
    struct addrinfo *found;
    TRY(find_address(address, port, &found));
    listener->fd = listen_on(found);
    int error = errno;
    freeaddrinfo(found);
    snprintf(listener->address, sizeof listener->address, "%s", address);
    if (listener->fd >= 0) return STATUS_OK;
    status_fail(STATUS_RUNTIME, "cannot listen on %s, port %d: %s", address, port, strerror(error));
    if (error == EADDRINUSE) status_hint(STATUS_RUNTIME, "--port 0 takes any port that is free");
    if (error == EADDRNOTAVAIL)
        status_hint(STATUS_RUNTIME,
                    "this machine does not have the address; --address 0.0.0.0 listens on all "
                    "of its addresses");
    return STATUS_RUNTIME;
}

/* The socket must not block: another process may accept the connection that poll reported. */
Status listener_take(Listener *listener, int fd) {
    struct sockaddr_storage address;
    socklen_t bytes = sizeof address, size = sizeof(int);
    int listens = 0;
    bool sound = getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens &&
                 getsockname(fd, (struct sockaddr *)&address, &bytes) == 0 &&
                 getnameinfo((struct sockaddr *)&address, bytes, listener->address, sizeof listener->address,
                             NULL, 0, NI_NUMERICHOST) == 0 &&
                 (address.ss_family == AF_INET || address.ss_family == AF_INET6);
    if (!sound || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0)
        return status_fail(STATUS_RUNTIME, "the socket that was passed (LISTEN_FDS) is not a listening TCP "
                                           "socket");
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    listener->fd = fd;
    return STATUS_OK;
}

int listener_port(const Listener *listener) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    socklen_t bytes = sizeof address;
    if (getsockname(listener->fd, &address.any, &bytes) != 0) return 0;
    return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}
