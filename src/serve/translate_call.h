/* translate_call.h - a request to translate, from its body to its response. translate_route.c takes it
 * through the models of its route, translate_response.c writes the response, and file_route.c that of a
 * document. */
#ifndef SERVE_TRANSLATE_CALL_H
#define SERVE_TRANSLATE_CALL_H

#include "documents/document.h"
#include "serve/service_private.h"

/* Texts, `document`, `host`, `problems` and `body` are in the scope of `http`. */
typedef struct TranslateCall {
    Service *service;
    HttpRequest *http;
    Catalog *catalog; /* a reference */
    const CatalogRoute *route;
    int step;                 /* of the route */
    int source, target;       /* languages of the catalog */
    Job job;                  /* of the step */
    JobKind kind;             /* of the last step */
    const char *const *texts; /* [job.count] of the request */
    int *problems;            /* [job.count] sums of attn_mt_problem, of all steps */
    bool list;                /* "q" is a list, and so are the members of the response */
    bool detect;              /* the response has "detectedLanguage" */
    bool file;                /* the texts are those of `document` */
    Document document;
    const char *host; /* of the request; or NULL */
    bool secure;      /* the client of a proxy uses HTTPS */
    StrBuf body;      /* of the response */
} TranslateCall;

/* Writes `body`. `context` is the TranslateCall. Runs in the scope of the request. */
void translate_response_write(void *context);

/* The same for a document: stores it. Leaves `body` empty if there is no memory for that. */
void file_route_write(void *context);
/* Reads the document of a request. Copies what it needs. */
Status file_route_open(Document *document, const TranslateRequest *request, int max_characters);
const char **file_route_texts(const Document *document); /* [document->count] */

#endif
