/* json_write.h - writes JSON, one key or value after another. RFC 8259
 *
 * Each function appends to `out`. A key or value after another value begins with ", ".
 *
 *     json_open_object(out);
 *     json_put_string(out, "q", text);
 *     json_put_array(out, "n");                                   {"q": "...", "n": [1, 2]}
 *     for (int i = 1; i <= 2; i++) json_write_integer(out, i);
 *     json_close_array(out);
 *     json_close_object(out);
 */
#ifndef IO_JSON_WRITE_H
#define IO_JSON_WRITE_H

#include "io/json.h"

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
