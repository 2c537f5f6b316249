/* json.h - strict JSON, and the only user of cJSON. RFC 8259 (JSON), RFC 3629 (UTF-8)
 *
 * cJSON reads text that passed a strict check of ours, which makes no tree and refuses invalid UTF-8, NUL,
 * control characters in strings, text after the value, numbers that are not finite, and more values or a
 * deeper nesting than JsonLimits allows; no object may have a key twice. Messages name line and column. Time
 * is linear.
 *
 * Owner   a Json tree is released by json_free on its root; strings live as long as the tree.
 * Fails   STATUS_DATA
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include "base/status.h"
#include "base/strview.h"

typedef struct cJSON Json;

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } JsonType;

typedef struct {
    bool comments;     /* allow // and C comments, and a byte-order mark */
    bool integers;     /* numbers only as 0..2^53-1 without sign, fraction and exponent: none is rounded */
    int depth, values; /* most: of arrays and objects in each other, and of values in all */
} JsonLimits;

Status json_parse_within(Json **root, StrView text, JsonLimits limits);
/* Depth at most 32, at most 2^20 values. */
Status json_parse(Json **root, StrView text, bool comments);
/* For file headers: plain integers, depth at most 4, at most 2^18 values. */
Status json_parse_header(Json **root, StrView text);
void json_free(Json *root);

JsonType json_type(const Json *value);
const Json *json_get(const Json *object, const char *key); /* exact case; NULL if absent */
const Json *json_first(const Json *container);             /* children in file order */
const Json *json_after(const Json *child);
const char *json_key(const Json *member);
const char *json_string(const Json *value); /* asserts JSON_STRING */
double json_number(const Json *value);      /* asserts JSON_NUMBER */
bool json_bool(const Json *value);
size_t json_count(const Json *container);
/* Line, from 1, of the key at the end of `path`, "section.name" or longer; 0 if absent. */
int json_line(const Json *root, const char *path);

/* Writing appends to `out`. Keys and values begin with ", " where a value stands before them.
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
void json_write_key(StrBuf *out, const char *key); /* of characters that need no escapes */
/* A new line, so many columns to the right, for the next key or value. */
void json_write_line(StrBuf *out, int indent);
void json_write_text(StrBuf *out, StrView json); /* a member or a value that is JSON already */
void json_write_bool(StrBuf *out, bool value);
void json_write_integer(StrBuf *out, long long value);
/* With quotes and escapes, non-ASCII kept. Bytes that no string can have, ill-formed UTF-8 and NUL, become
 * U+FFFD: names of files and lines of others may have some. */
void json_write_string(StrBuf *out, StrView text);
void json_write_number(StrBuf *out, double value); /* shortest text that reads back the same */
/* In so many significant digits: with 9 a float reads back the same. Both write null for what is not finite,
 * for which JSON has no word. */
void json_write_digits(StrBuf *out, double value, int digits);

/* A key with its value, or with the bracket that opens it. */
void json_put_object(StrBuf *out, const char *key);
void json_put_array(StrBuf *out, const char *key);
void json_put_string(StrBuf *out, const char *key, StrView text);
void json_put_bool(StrBuf *out, const char *key, bool value);
void json_put_integer(StrBuf *out, const char *key, long long value);
void json_put_number(StrBuf *out, const char *key, double value);
void json_put_digits(StrBuf *out, const char *key, double value, int digits);

#endif
