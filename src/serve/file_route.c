/* file_route.c - POST /translate_file and GET /download_file: a document on its way through a request.
 * translate_route.c translates its texts. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/log.h"
#include "base/mem.h"
#include "documents/html.h"
#include "io/json_write.h"
#include "serve/translate_call.h"

#define FILES_PATH "/download_file/"
/* Most bytes of a document for each character of --max-characters. Markup needs more than one; a limit keeps
 * a hostile document from delaying other requests. */
enum { BYTES_PER_CHARACTER = 4 };
enum { MAX_TITLE = 60 /* bytes of the name of a file */ };

/* ---- from the form to the texts ---- */

/* The last part of a name with folders, of any system. */
static StrView base_name(const char *path) {
    for (const char *c = path; *c; c++)
        if (*c == '/' || *c == '\\') path = c + 1;
    return sv(path);
}

static Status fail_format(const char *name) {
    StrBuf endings = {0};
    const DocumentFormat *format;
    for (int i = 0; (format = document_format_at(i)); i++)
        strbuf_format(&endings, "%s%s", i ? " " : "", format->endings);
    status_fail(STATUS_DATA, "'%s' has an unsupported format; supported are %s", name, strbuf_text(&endings));
    strbuf_free(&endings);
    return STATUS_DATA;
}

/* By the end of its name, else by its content. */
static Status choose_format(Document *document) {
    StrView sample = document->bytes;
    if (sample.length > DOCUMENT_SAMPLE) sample.length = DOCUMENT_SAMPLE;
    TRY(document_check_foreign(document->path, sample));
    document->format = document_format_of_name(sv(document->path));
    if (!document->format) document->format = document_detect(sample);
    return document->format ? STATUS_OK : fail_format(document->path);
}

/* Clients get the message alone. */
static Status with_hint(Status status) {
    StatusRecord failure;
    if (status == STATUS_OK || !status_hint_text()[0]) return status;
    status_save(&failure, status);
    return status_fail(status, "%s; %s", failure.message, failure.hint);
}

Status file_route_open(Document *document, const TranslateRequest *request, int max_characters) {
    size_t most = (size_t)max_characters * BYTES_PER_CHARACTER;
    if (request->file.length > most)
        return status_fail(STATUS_DATA, "%zu bytes of a document are more than %zu", request->file.length,
                           most);
    StrBuf bytes = {0};
    StrView name = base_name(request->file_name);
    strbuf_add(&bytes, request->file);
    *document = (Document){.path = mem_strndup(name.data, name.length < 100 ? name.length : 100),
                           .options = {.confident = 2},
                           .bytes = {strbuf_text(&bytes), bytes.length}};
    Status status = choose_format(document);
    if (status == STATUS_OK) status = document_read(document);
    return with_hint(status);
}

const char **file_route_texts(const Document *document) {
    const char **texts = mem_alloc(document->count, sizeof *texts);
    for (size_t i = 0; i < document->count; i++) texts[i] = strbuf_text(&document->segments[i].text);
    return texts;
}

/* ---- from the translations to the response ---- */

/* "guide.html" is "guide_de.html", of characters that need no escape anywhere. */
static void make_title(const char *path, StrView language, StrBuf *title) {
    const char *end = strrchr(path, '.');
    StrView ending = sv(end && end > path ? end : ""), stem = {path, strlen(path) - ending.length};
    size_t spare = language.length + ending.length + 1;
    size_t most = spare < MAX_TITLE ? MAX_TITLE - spare : 1;
    strbuf_add(title, (StrView){stem.data, stem.length < most ? stem.length : most});
    strbuf_format(title, "_%.*s%.*s", SV_ARG(language), SV_ARG(ending));
    if (title->length > MAX_TITLE) title->length = MAX_TITLE;
    for (size_t i = 0; i < title->length; i++) {
        char c = title->data[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     (c != '\0' && strchr("._-", c));
        if (!plain) title->data[i] = '_';
    }
}

static void set_translations(TranslateCall *call) {
    for (size_t i = 0; i < call->document.count; i++) {
        Segment *segment = &call->document.segments[i];
        strbuf_add(&segment->translation, sv(job_candidate(&call->job, (int)i, 0)->text));
        segment->is_translated = segment->translation.length > 0;
        segment->confidence = job_confidence(&call->job, (int)i);
        segment->from_memory = job_from_memory(&call->job, (int)i);
    }
}

/* Where the client found this server, also through a proxy. */
static void write_origin(const TranslateCall *call, StrBuf *url) {
    if (call->host)
        strbuf_format(url, "%s://%s", call->secure ? "https" : "http", call->host);
    else
        strbuf_format(url, strchr(http_address(call->service->http), ':') ? "http://[%s]:%d" : "http://%s:%d",
                      http_address(call->service->http), http_port(call->service->http));
}

void file_route_write(void *context) {
    TranslateCall *call = context;
    StrBuf content = {0}, title = {0}, language = {0}, url = {0};
    StrView code = catalog_code(call->catalog, call->target);
    html_language(code, &language);
    call->document.options.target_language = strbuf_view(&language);
    set_translations(call);
    document_write(&call->document, &content);
    make_title(call->document.path, code, &title);
    write_origin(call, &url);
    const StoredFile *file =
        file_store_add(call->service->files, strbuf_view(&title), strbuf_view(&content), clock_seconds());
    if (!file) return;
    char name[MAX_TITLE + 40];
    snprintf(name, sizeof name, "%s", file->name);
    stored_file_release(file); /* what follows can run out of memory */
    strbuf_format(&url, FILES_PATH "%s", name);
    json_open_object(&call->body);
    json_put_string(&call->body, "translatedFileUrl", strbuf_view(&url));
    json_close_object(&call->body);
    strbuf_add_char(&call->body, '\n');
}

/* ---- GET /download_file/NAME ---- */

bool is_file_path(StrView path) { return sv_starts(path, SV(FILES_PATH)); }

/* As a download: a page must not run scripts with the origin of the server. */
void route_download(Service *service, HttpRequest *http) {
    StrView path = http_path(http);
    size_t skipped = sizeof FILES_PATH - 1;
    StrView name = {path.data + skipped, path.length - skipped};
    const StoredFile *file = file_store_find(service->files, name);
    if (!file) {
        http_respond_error(http, 404,
                           "there is no such file, or its time is over; POST /translate_file again");
        return;
    }
    char disposition[MAX_TITLE + 40];
    snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"", file->title);
    http_respond(http, &(HttpResponse){.status = 200,
                                       .type = "application/octet-stream",
                                       .name = "Content-Disposition",
                                       .value = disposition,
                                       .body = file->content});
    stored_file_release(file);
}
