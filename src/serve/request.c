/* request.c - JSON and forms share one table of text fields. */
#include "serve/request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "io/json.h"
#include "base/mem.h"

enum { SPARE_VALUES = 64 }; /* values of a request in addition to its texts */

typedef struct {
    const char *name;
    size_t offset; /* of a string in TranslateRequest */
} Field;

static const Field FIELDS[] = {{"source", offsetof(TranslateRequest, source)},
                               {"target", offsetof(TranslateRequest, target)},
                               {"format", offsetof(TranslateRequest, format)},
                               {"api_key", offsetof(TranslateRequest, api_key)},
                               {"attention", offsetof(TranslateRequest, attention)},
                               {"accelerator", offsetof(TranslateRequest, accelerator)}};

static const char **string_field(TranslateRequest *request, const char *name) {
    for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++)
        if (strcmp(FIELDS[i].name, name) == 0)
            return (const char **)(void *)((char *)request + FIELDS[i].offset);
    return NULL;
}

static void add_text(TranslateRequest *request, const char *text) {
    MEM_GROW(request->texts, request->capacity, (size_t)request->count + 1);
    request->texts[request->count++] = text;
    request->has_q = true;
}

/* ---- JSON ---- */

static Status read_q(TranslateRequest *request, const Json *value) {
    request->q_is_list = json_type(value) == JSON_ARRAY;
    request->has_q = true;
    if (!request->q_is_list && json_type(value) != JSON_STRING)
        return status_fail(STATUS_DATA, "'q' is neither a text nor a list of texts");
    if (!request->q_is_list) add_text(request, json_string(value));
    for (const Json *text = json_first(value); text; text = json_after(text)) {
        if (json_type(text) != JSON_STRING)
            return status_fail(STATUS_DATA, "'q' is a list of more than texts");
        add_text(request, json_string(text));
    }
    return STATUS_OK;
}

static Status read_member(TranslateRequest *request, const Json *member) {
    const char *name = json_key(member);
    const char **field = string_field(request, name);
    bool is_number = strcmp(name, "alternatives") == 0;
    if (strcmp(name, "q") == 0) return read_q(request, member);
    if (!field && !is_number) return STATUS_OK;
    if (json_type(member) == JSON_NULL) return STATUS_OK;
    if (is_number) {
        if (json_type(member) != JSON_NUMBER) return status_fail(STATUS_DATA, "'%s' is not a number", name);
        request->alternatives = json_number(member);
        return STATUS_OK;
    }
    if (json_type(member) != JSON_STRING) return status_fail(STATUS_DATA, "'%s' is not a text", name);
    *field = json_string(member);
    return STATUS_OK;
}

static Status read_json(TranslateRequest *request, StrView body, int max_texts) {
    Json *root;
    JsonLimits limits = {.depth = 32, .values = max_texts + SPARE_VALUES};
    if (json_parse_within(&root, body, limits) != STATUS_OK) return status_context(STATUS_DATA, "not JSON");
    if (json_type(root) != JSON_OBJECT) return status_fail(STATUS_DATA, "not a JSON object");
    for (const Json *member = json_first(root); member; member = json_after(member))
        TRY(read_member(request, member));
    return STATUS_OK; /* the fields point into the tree, which lives as long as the scope */
}

/* ---- forms ---- */

Status translate_request_add(void *context, const FormField *field) {
    TranslateRequest *request = context;
    const char *name = field->name, **text = string_field(request, name);
    if (field->file) {
        if (strcmp(name, "file") != 0) return STATUS_OK;
        request->file = field->content;
        request->file_name = field->file;
    } else if (text) {
        *text = field->value;
    } else if (strcmp(name, "q") == 0) {
        add_text(request, field->value);
        request->q_is_list = request->count > 1;
    } else if (strcmp(name, "alternatives") == 0) {
        char *end;
        request->alternatives = strtod(field->value, &end);
        if (end == field->value || *end) return status_fail(STATUS_DATA, "'%s' is not a number", name);
    }
    return STATUS_OK;
}

/* curl -d, for one, sends JSON as a form unless it gets a Content-Type. */
static Status read_urlencoded(TranslateRequest *request, StrView body, int max_texts) {
    Status status = form_read_urlencoded(body, max_texts + SPARE_VALUES, translate_request_add, request);
    if ((status == STATUS_OK && request->has_q) || !sv_starts(sv_trim(body), SV("{"))) return status;
    return status_fail(STATUS_DATA, "the form looks like JSON: send it as Content-Type: application/json");
}

/* ---- all of them ---- */

static bool is_type(StrView type, const char *name) {
    size_t length = strlen(name);
    if (type.length < length || strncasecmp(type.data, name, length) != 0) return false;
    return type.length == length || type.data[length] == ';' || type.data[length] == ' ';
}

Status translate_request_read(TranslateRequest *request, StrView type, StrView body, int max_texts) {
    *request = (TranslateRequest){0};
    if (is_type(type, "application/json")) return read_json(request, body, max_texts);
    if (is_type(type, "application/x-www-form-urlencoded")) return read_urlencoded(request, body, max_texts);
    if (is_type(type, "multipart/form-data"))
        return form_read_multipart(type, body, max_texts + SPARE_VALUES, translate_request_add, request);
    return status_fail(STATUS_DATA, "the Content-Type is neither application/json nor "
                                    "application/x-www-form-urlencoded nor multipart/form-data");
}

const char **translate_request_copy(const TranslateRequest *request) {
    size_t count = (size_t)request->count, bytes = 0;
    for (size_t i = 0; i < count; i++) bytes += strlen(request->texts[i]) + 1;
    const char **copies = mem_alloc(count * sizeof *copies + bytes, 1);
    char *end = (char *)(copies + count);
    for (size_t i = 0; i < count; i++) {
        copies[i] = end;
        end = stpcpy(end, request->texts[i]) + 1;
    }
    return copies;
}
