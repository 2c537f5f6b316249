/* json.h - strict JSON, and the only user of cJSON. RFC 8259 (JSON), RFC 3629 (UTF-8)
 *
 * Reading builds a tree of cJSON's nodes in one pass and refuses what cJSON's own reader would let pass:
 * invalid UTF-8, NUL, control characters in strings, duplicate keys, text after the value, depth over 32,
 * more than a million values, numbers that are not finite. `//` and C comments, and a byte-order mark, are
 * allowed where asked for (configurations). Messages name line and column. Time is linear but for sorting
 * the keys of each object. Writing builds text in a StrBuf; numbers are written so that they read back as
 * the same double.
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

Status json_parse(Json **root, StrView text, bool comments);
/* With at most `values` values, for text of others: a tree takes some 100 bytes for each. */
Status json_parse_bounded(Json **root, StrView text, int values);
/* For file headers: every number must be a plain integer 0..2^53-1, so none is rounded; depth at most 4;
 * at most 2^18 values. */
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

/* Writing: append to `out`. */
/* With quotes and escapes, non-ASCII kept. Bytes that no string can have, ill-formed UTF-8 and NUL, become
 * U+FFFD: names of files and lines of others may have some. */
void json_write_string(StrBuf *out, StrView text);
void json_write_number(StrBuf *out, double value); /* shortest text that reads back the same */
/* In so many significant digits: with 9 a float reads back the same. Both write null for what is not finite,
 * for which JSON has no word. */
void json_write_digits(StrBuf *out, double value, int digits);

#endif
