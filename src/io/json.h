/* json.h - reads strict JSON, and is the only user of cJSON. RFC 8259 (JSON), RFC 3629 (UTF-8)
 *
 * A strict check reads the text before cJSON does. It refuses invalid UTF-8, NUL, control characters in
 * strings, text after the value, numbers that are not finite, and more values or a deeper nesting than
 * JsonLimits allows. No object may have a key twice. Messages name line and column. Time is linear.
 *
 * cJSON parses with its own memory functions; the tree that callers get is a copy in memory of mem.h. So a
 * scope (mem_scope.h) owns the tree, and a program that links the library keeps its cJSON_InitHooks.
 *
 * Owner   json_free on the root releases a tree; its strings live as long as the tree
 * Fails   STATUS_DATA
 */
#ifndef IO_JSON_H
#define IO_JSON_H

#include <stdbool.h>
#include "base/status.h"
#include "base/strview.h"

typedef struct Json Json;

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } JsonType;

typedef struct {
    bool comments; /* allow // and C comments, and a byte-order mark */
    bool integers; /* numbers must be 0..2^53-1, without sign, fraction and exponent: none is rounded */
    int depth;     /* greatest nesting of arrays and objects */
    int values;    /* greatest number of values in the text */
} JsonLimits;

Status json_parse_within(Json **root, StrView text, JsonLimits limits);
/* With a depth of at most 32 and at most 2^20 values. */
Status json_parse(Json **root, StrView text, bool comments);
/* For headers of files: integers, a depth of at most 4, at most 2^18 values. */
Status json_parse_header(Json **root, StrView text);
void json_free(Json *root);

JsonType json_type(const Json *value);                     /* JSON_NULL for a NULL pointer too */
const Json *json_get(const Json *object, const char *key); /* exact case; NULL if absent */
const Json *json_first(const Json *container);             /* children in file order */
const Json *json_after(const Json *child);
const char *json_key(const Json *member);
const char *json_string(const Json *value); /* asserts JSON_STRING */
double json_number(const Json *value);      /* asserts JSON_NUMBER */
bool json_bool(const Json *value);
size_t json_count(const Json *container);
/* Line, from 1, of the last key of `path`, "section.name" or longer; 0 if absent. */
int json_line(const Json *root, const char *path);

#endif
