/* request.h - what a request to translate says, in JSON or as a form: LibreTranslate's interface.
 *
 *   q             a text or a list of them
 *   source        the language code of the model, or "auto"; target: the same
 *   format        "text" or "html", whose tags are kept and whose line ends are blanks
 *   alternatives  so many more translations of each text
 *   api_key       where keys are asked for
 *   attention     "word" or "subword": weights too (this program's own)
 *   secret        ignored: what LibreTranslate's web page sends to its own server
 *
 * Another member is an error, and so are more values than `most_texts` texts and these members need. So
 * reading takes a small multiple of the size of the body.
 *
 * Owner   everything views the body's tree or is allocated: call it in a scope, and keep what is needed
 * Fails   STATUS_DATA: what is wrong, for the client
 */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include <stdbool.h>
#include "base/status.h"
#include "base/strview.h"

typedef struct {
    const char **texts; /* [count] */
    int count;
    size_t capacity;
    bool given, list;                                                    /* is there a q, and is it a list? */
    const char *source, *target, *format, *api_key, *attention, *secret; /* or NULL */
    double alternatives;
} TranslateRequest;

/* `type`: of the body, as the header Content-Type has it. */
Status translate_request_read(TranslateRequest *request, StrView type, StrView body, int most_texts);
/* Texts [count] as copies in one block, which mem_free releases. */
const char **translate_request_copy(const TranslateRequest *request);

#endif
