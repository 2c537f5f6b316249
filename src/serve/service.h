/* service.h - the server of `attn-mt serve`: LibreTranslate's interface to one model.
 * https://docs.libretranslate.com/api/operations/translate/
 *
 *   POST /translate   request.h says what is asked; the answer has "translatedText" and, where asked for,
 *                     "alternatives", "attention" and "detectedLanguage"
 *   GET  /languages   what it translates
 *   GET  /health      {"status": "ok"}
 *   GET  /metrics     for Prometheus
 *   GET  /            a page that translates what is typed
 *
 * Fails   service_run: as pool_new and http_start. Requests fail with {"error": "..."} and 400, 403, 404,
 *         405, 408, 413, 417, 499, 500, 501 or 503. libmicrohttpd answers what it cannot read with a page of
 *         its own (400, 413, 414, 431, 500, 505)
 */
#ifndef SERVE_SERVICE_H
#define SERVE_SERVICE_H

#include <signal.h>
#include <stdbool.h>
#include "base/status.h"
#include "base/strview.h"

typedef struct {
    StrList models;
    int precision, threads, beam_size, mini_batch, shortlist;
    bool split, quiet;
    char *languages, *address, *api_key_file, *origin; /* or NULL */
    int port, connections, socket;                     /* `socket` as in http.h */
    int max_body, max_characters, max_texts, max_alternatives, max_waiting, max_memory;
    double timeout;
} ServiceOptions;

/* Serve until *stop is not 0; whenever *reload is not 0, set it to 0 and load models and keys again. `ready`
 * gets address and port once requests are accepted. */
Status service_run(const ServiceOptions *options, const volatile sig_atomic_t *stop,
                   volatile sig_atomic_t *reload, Status (*ready)(const char *address, int port));

#endif
