/* head.h - checks that the head of a request has only one possible meaning.
 * RFC 9112 (HTTP/1.1), sections 2.2, 3.2, 5.1, 5.2, 6.1, 6.3
 *
 * If a proxy reads another length or host in a head than this server does, one client can send requests in
 * the name of another (request smuggling). libmicrohttpd accepts many ambiguous heads. These functions check
 * each field that it found, and that the head contains nothing else.
 */
#ifndef SERVE_HEAD_H
#define SERVE_HEAD_H

#include <stdbool.h>
#include "base/strview.h"

typedef struct {
    int status;          /* of the first error, 0 without one; the connection must be closed after an error */
    const char *message; /* of the first error */
    StrView rest;        /* bytes that are not checked yet */
    bool version_1_0;
    int hosts, lengths, encodings; /* number of these fields */
    bool chunked;                  /* the body has the transfer encoding "chunked" */
    bool expects;                  /* the client waits for "100 Continue" before it sends the body */
    StrView length;                /* the value of Content-Length; borrowed */
} Head;

/* The request line: after `target` and its NUL follows the version. */
void head_check_target(Head *head, const char *target);
/* `fields` are the bytes after the version as the library leaves them: CR, LF and the colon after a name are
 * NUL. Then call head_check_field for each field in order, then head_check_end. */
void head_check_fields(Head *head, StrView fields, StrView version);
void head_check_field(Head *head, StrView name, StrView value);
void head_check_end(Head *head);
/* 413 if the client waits for "100 Continue" and its body has more than `limit` bytes. */
void head_check_size(Head *head, size_t limit);

#endif
