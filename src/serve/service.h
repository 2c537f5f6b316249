/* service.h - the server of `attn-mt serve`: LibreTranslate's interface to models.
 * https://docs.libretranslate.com/api/operations/translate/
 *
 *   POST /translate   request.h describes the request. The answer has "translatedText" and, if requested,
 *                     "alternatives", "attention" and "detectedLanguage"
 *   GET  /languages   source languages, each with its targets (catalog.h)
 *   GET  /frontend/settings   what clients of LibreTranslate ask for at their start
 *   POST /detect         which language a text is in; 404 without detection
 *   POST /translate_file   a document (documents/document.h) in a multipart form: "file", "source", "target"
 *                     and "api_key". The answer has "translatedFileUrl"
 *   GET  /download_file/NAME   the translated document, for 30 minutes (file_store.h)
 *   POST /suggest     404 with the reason
 *   GET  /health      {"status": "ok"}
 *   GET  /metrics     for Prometheus
 *   GET  /            a page that translates while you type
 *
 * Fails   service_run: as pool_new, catalog_open_fixed, catalog_open_folders and http_start.
 *         A request fails with {"error": "..."} and 400, 403, 404, 405, 408, 413, 415, 417,
 *         499, 500, 501 or 503. Requests that libmicrohttpd cannot read get a page of its own (400, 413,
 *         414, 431, 500, 505)
 */
#ifndef SERVE_SERVICE_H
#define SERVE_SERVICE_H

#include <signal.h>
#include <stdbool.h>
#include "base/status.h"
#include "base/strview.h"

typedef struct {
    StrList models;               /* paths; none: the folders of models */
    StrList glossaries, memories; /* files; without `models` as in pair_files.h */
    int precision, threads, beam_size, mini_batch, shortlist;
    bool split, quiet;
    char *languages, *address, *api_key_file, *origin; /* or NULL */
    int port, connections, socket;                     /* socket: as in http.h */
    int max_body, max_characters, max_texts, max_alternatives, max_waiting;
    int max_memory, batch_memory; /* MB; max_memory 0: half of the machine's */
    double timeout;               /* seconds */
} ServiceOptions;

/* Serves until *stop is not 0. When *reload is not 0, sets it to 0 and loads models and keys again. Calls
 * `ready` when requests are accepted. */
Status service_run(const ServiceOptions *options, const volatile sig_atomic_t *stop,
                   volatile sig_atomic_t *reload, Status (*ready)(const char *address, int port));

#endif
