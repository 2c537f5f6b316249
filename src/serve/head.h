/* head.h - is a request's head one that every reader understands alike?
 * RFC 9112 (HTTP/1.1), sections 2.2, 3.2, 5.1, 5.2, 6.1, 6.3
 *
 * A proxy that reads another length, or another host, out of a head than this server does lets one client
 * speak for another. libmicrohttpd accepts many such heads. These functions check each field that it found,
 * and that the fields are all that the head contains.
 */
#ifndef SERVE_HEAD_H
#define SERVE_HEAD_H

#include <stdbool.h>
#include "base/strview.h"

typedef struct {
    int status;          /* of the first fault, 0 if there is none; the connection must be closed after it */
    const char *message; /* of it */
    StrView rest;        /* bytes of the head whose fields are not checked yet */
    bool version_1_0;
    int hosts, lengths, encodings;
    bool chunked;   /* is that how the body is coded? */
    bool expects;   /* does the client wait for "100 Continue"? */
    StrView length; /* the value of Content-Length; borrowed */
} Head;

/* The request line: `target` ends in a NUL, after which the version follows. */
void head_check_target(Head *head, const char *target);
/* `fields` are the bytes after the version as the library leaves them: NUL for CR, LF and the colon after a
 * name. Next call head_check_field for each field in order, then head_check_end. */
void head_check_fields(Head *head, StrView fields, StrView version);
void head_check_field(Head *head, StrView name, StrView value);
void head_check_end(Head *head);
/* 413 if the client waits for leave to send a body of more than `limit` bytes. */
void head_check_size(Head *head, size_t limit);

#endif
