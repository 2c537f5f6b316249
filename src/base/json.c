/* json.c - strict JSON over cJSON: json_check accepts the text, cJSON builds the tree, then no key may occur
 * twice and every number must be finite. */
#include "base/json.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/json_check.h"
#include "base/mem.h"

static void *hook_malloc(size_t bytes) { return mem_alloc(bytes, 1); }

static void use_checked_memory(void) {
    cJSON_Hooks hooks = {.malloc_fn = hook_malloc, .free_fn = mem_free};
    cJSON_InitHooks(&hooks);
}

static pthread_once_t memory_once = PTHREAD_ONCE_INIT;

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static Status check_keys(const Json *object) {
    size_t count = json_count(object), i = 0;
    const char **keys = mem_alloc(count, sizeof *keys);
    for (const Json *child = json_first(object); child; child = json_after(child))
        keys[i++] = json_key(child);
    qsort(keys, count, sizeof *keys, compare_texts);
    Status status = STATUS_OK;
    for (i = 1; i < count && status == STATUS_OK; i++)
        if (strcmp(keys[i - 1], keys[i]) == 0)
            status = status_fail(STATUS_DATA, "key '%.100s' occurs twice", keys[i]);
    mem_free(keys);
    return status;
}

/* Recursion is bounded by the depth that json_check allowed. */
static Status check_tree(const Json *value) {
    if (cJSON_IsNumber(value) && !isfinite(value->valuedouble))
        return status_fail(STATUS_DATA, "a number is too large");
    if (cJSON_IsObject(value)) TRY(check_keys(value));
    if (cJSON_IsObject(value) || cJSON_IsArray(value))
        for (const Json *child = value->child; child; child = child->next) TRY(check_tree(child));
    return STATUS_OK;
}

/* Comments become spaces; line feeds stay so that positions remain right. */
static char *blank_comments(StrView text) {
    char *copy = mem_strndup(text.data, text.length);
    bool in_string = false;
    for (char *c = copy; *c;) {
        if (in_string) {
            if (*c == '"') in_string = false;
            c += *c == '\\' ? 2 : 1;
        } else if (*c == '/') {
            bool block = c[1] == '*';
            const char *end = block ? strstr(c + 2, "*/") : strchr(c, '\n');
            size_t length = end ? (size_t)(end - c) + (block ? 2 : 0) : strlen(c);
            for (; length > 0; length--, c++)
                if (*c != '\n') *c = ' ';
        } else {
            in_string = *c++ == '"';
        }
    }
    return copy;
}

static Status parse(Json **root, StrView text, JsonRules rules) {
    *root = NULL;
    TRY(json_check(text, rules));
    pthread_once(&memory_once, use_checked_memory);
    char *plain = rules.comments ? blank_comments(text) : NULL;
    const char *end = NULL;
    Json *tree = cJSON_ParseWithLengthOpts(plain ? plain : text.data, text.length, &end, false);
    mem_free(plain);
    if (!tree) return status_fail(STATUS_DATA, "the JSON text cannot be read");
    Status status = check_tree(tree);
    if (status == STATUS_OK)
        *root = tree;
    else
        cJSON_Delete(tree);
    return status;
}

Status json_parse(Json **root, StrView text, bool comments) {
    return parse(root, text, (JsonRules){.comments = comments, .depth = 32, .values = 1 << 20});
}

Status json_parse_header(Json **root, StrView text) {
    return parse(root, text, (JsonRules){.integers = true, .depth = 4, .values = 1 << 18});
}

void json_free(Json *root) { cJSON_Delete(root); }

JsonType json_type(const Json *value) {
    if (cJSON_IsBool(value)) return JSON_BOOL;
    if (cJSON_IsNumber(value)) return JSON_NUMBER;
    if (cJSON_IsString(value)) return JSON_STRING;
    if (cJSON_IsArray(value)) return JSON_ARRAY;
    if (cJSON_IsObject(value)) return JSON_OBJECT;
    return JSON_NULL;
}

const Json *json_get(const Json *object, const char *key) {
    return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, key) : NULL;
}

const Json *json_first(const Json *container) {
    return cJSON_IsObject(container) || cJSON_IsArray(container) ? container->child : NULL;
}

const Json *json_after(const Json *child) { return child->next; }

const char *json_key(const Json *member) { return member->string; }

const char *json_string(const Json *value) {
    assert(cJSON_IsString(value));
    return value->valuestring;
}

double json_number(const Json *value) {
    assert(cJSON_IsNumber(value));
    return value->valuedouble;
}

bool json_bool(const Json *value) { return cJSON_IsTrue(value); }

size_t json_count(const Json *container) {
    size_t count = 0;
    for (const Json *child = json_first(container); child; child = child->next) count++;
    return count;
}

void json_write_string(StrBuf *out, StrView text) {
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == '"' || c == '\\')
            strbuf_add_char(out, '\\'), strbuf_add_char(out, (char)c);
        else if (c == '\n')
            strbuf_add(out, SV("\\n"));
        else if (c == '\t')
            strbuf_add(out, SV("\\t"));
        else if (c == '\r')
            strbuf_add(out, SV("\\r"));
        else if (c < 0x20 || c == 0x7F)
            strbuf_format(out, "\\u%04x", c);
        else
            strbuf_add_char(out, (char)c);
    }
    strbuf_add_char(out, '"');
}

void json_write_number(StrBuf *out, double value) {
    char text[40];
    if (!isfinite(value)) {
        strbuf_add(out, SV("null")); /* JSON has no word for it */
        return;
    }
    if (fabs(value) < 0x1p53 && value == floor(value)) {
        strbuf_format(out, "%.0f", value);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    strbuf_add(out, sv(text));
}

/* A string token at `c` (its opening quote): where it ends, and whether it spells the name. */
static const char *pass_string(const char *c, const char *end, StrView name, bool *equal) {
    const char *start = ++c;
    while (c < end && *c != '"') c += *c == '\\' ? 2 : 1;
    *equal = sv_equal((StrView){start, (size_t)(c - start)}, name);
    return c + 1;
}

/* A key is a string after '{' or ',' directly inside an object. `matched` names of the path are those of the objects that are open;
 * the next one is looked for among the keys of the innermost of these. */
int json_line(StrView text, const char *path) {
    enum { DEPTH = 32 };
    char *plain = blank_comments(text);
    const char *end = plain + text.length;
    int line = 1, depth = 0, matched = 0, found = 0;
    bool object[DEPTH + 1] = {false}, key_next = false, equal;
    StrView rest = sv(path), name;
    bool more = sv_next(&rest, '.', &name);
    for (const char *c = plain; c < end && !found && more;) {
        if (*c == '"') {
            bool here = key_next && depth == matched + 1;
            if (key_next && depth == matched) break; /* what was matched last is no object */
            c = pass_string(c, end, name, &equal);
            if (here && equal) {
                if (!rest.length) found = line;
                matched++;
                more = sv_next(&rest, '.', &name) || found;
            }
            key_next = false;
            continue;
        }
        if (*c == '\n') line++;
        if ((*c == '{' || *c == '[') && depth < DEPTH) object[++depth] = *c == '{';
        if ((*c == '}' || *c == ']') && depth > 0) {
            depth--;
            if (depth < matched) more = false; /* the object that holds the rest of the path is over */
        }
        if (*c == '{' || *c == '[' || *c == ',') key_next = object[depth];
        c++;
    }
    mem_free(plain);
    return found;
}
