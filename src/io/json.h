/* json.h - strict JSON, and the only user of cJSON. RFC 8259 (JSON), RFC 3629 (UTF-8)
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

/* Writing appends to `out`. A key or value after another value begins with ", ".
 *
 *     json_open_object(out);
 *     json_put_string(out, "q", text);
 *     json_put_array(out, "n");                                   {"q": "...", "n": [1, 2]}
 *     for (int i = 1; i <= 2; i++) json_write_integer(out, i);
 *     json_close_array(out);
 *     json_close_object(out);
 */
void json_open_object(StrBuf *out);
void json_close_object(StrBuf *out);
void json_open_array(StrBuf *out);
void json_close_array(StrBuf *out);
void json_write_key(StrBuf *out, const char *key); /* a key without characters that need escapes */
/* A new line for the next key or value, indented by `indent` columns. */
void json_write_line(StrBuf *out, int indent);
void json_write_text(StrBuf *out, StrView json); /* a member or a value that is JSON already */
void json_write_bool(StrBuf *out, bool value);
void json_write_integer(StrBuf *out, long long value);
/* With quotes and escapes; non-ASCII characters are not escaped, unless they control a terminal. Ill-formed
 * UTF-8 and NUL, which names of files and input lines may have, become U+FFFD. */
void json_write_string(StrBuf *out, StrView text);
void json_write_value(StrBuf *out, const Json *value); /* a whole tree, as json_parse read it */
void json_write_number(StrBuf *out, double value);     /* shortest text that reads back the same */
/* `digits` significant digits: with 9 a float reads back the same. Both functions write null for a number
 * that is not finite, because JSON has no word for it. */
void json_write_digits(StrBuf *out, double value, int digits);

/* A key and its value, or a key and the opening bracket of its value. */
void json_put_object(StrBuf *out, const char *key);
void json_put_array(StrBuf *out, const char *key);
void json_put_string(StrBuf *out, const char *key, StrView text);
void json_put_bool(StrBuf *out, const char *key, bool value);
void json_put_integer(StrBuf *out, const char *key, long long value);
void json_put_number(StrBuf *out, const char *key, double value);
void json_put_digits(StrBuf *out, const char *key, double value, int digits);

#endif
