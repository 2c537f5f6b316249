/* request.h - reads the body of a request: JSON, or a form (form.h). LibreTranslate's interface.
 *
 *   q             a text or a list of texts
 *   source        language code of the source, or "auto"
 *   target        language code of the target, or "auto"
 *   format        "text" or "html"; html keeps its tags, and a line end is a blank
 *   alternatives  number of further translations of each text
 *   api_key       required if the server has a file of keys
 *   attention     "word" or "subword": the response has attention weights (not in LibreTranslate)
 *   accelerator   "none", "&", "_" or "auto": the mark of accelerators (not in LibreTranslate)
 *   file          of multipart forms: a document
 *
 * Other members are ignored, as LibreTranslate does: its clients send what later versions of it know. The
 * number of JSON values is limited by `max_texts` and these members. So parsing needs a small multiple of the
 * size of the body.
 *
 * Owner   the fields point into the parsed body, which is never freed: call it in a memory scope, and copy
 * Fails   STATUS_DATA, with a message for the client
 */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include <stdbool.h>
#include "base/status.h"
#include "base/strview.h"
#include "serve/form.h"

typedef struct {
    const char **texts; /* [count] */
    int count;
    size_t capacity;
    bool has_q, q_is_list;
    const char *source, *target, *format, *api_key, *attention, *accelerator; /* or NULL */
    double alternatives;
    StrView file;
    const char *file_name; /* NULL: there is no file */
} TranslateRequest;

/* `type` is the header Content-Type. A request can have neither texts nor a file: the caller checks that. */
Status translate_request_read(TranslateRequest *request, StrView type, StrView body, int max_texts);
/* Adds a field of a form, as translate_request_read does. */
Status translate_request_add(void *request, const FormField *field);
/* Copies of texts [count] in one block, to free with mem_free. */
const char **translate_request_copy(const TranslateRequest *request);

#endif
