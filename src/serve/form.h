/* form.h - the fields of a form in the body of a request.
 *
 *   URL-encoded  q=go+%21&target=fr (WHATWG URL Standard, 5.1)
 *   multipart    multipart/form-data (RFC 7578). Headers of a part other than Content-Disposition are
 *                ignored, except a Content-Transfer-Encoding that changes bytes: it is refused
 *
 * Owner   fields point into the body or into memory that is never freed: call it in a memory scope
 * Fails   STATUS_DATA, with a message for the client
 */
#ifndef SERVE_FORM_H
#define SERVE_FORM_H

#include "base/status.h"
#include "base/strview.h"

typedef struct {
    const char *name;
    const char *value; /* of a text; NULL for a file */
    const char *file;  /* name of the file; NULL for a text */
    StrView content;   /* of the file */
} FormField;

/* Reads the next field. */
typedef Status (*FormReader)(void *context, const FormField *field);

/* At most `most` fields. Fails as `reader`, too. */
Status form_read_urlencoded(StrView body, int most, FormReader reader, void *context);
/* `type` is the header Content-Type, which names the boundary between the parts. */
Status form_read_multipart(StrView type, StrView body, int most, FormReader reader, void *context);

#endif
