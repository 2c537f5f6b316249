/* json_check.h - is this text exactly JSON, byte for byte?
 * RFC 8259 (JSON), RFC 3629 (UTF-8)
 *
 * Used by json.c before cJSON sees the text.
 *
 * Fails   STATUS_DATA with line and column
 */
#ifndef BASE_JSON_CHECK_H
#define BASE_JSON_CHECK_H

#include <stdbool.h>
#include "base/status.h"
#include "base/strview.h"

typedef struct {
    bool comments; /* allow // and C comments */
    bool integers; /* numbers only as 0..2^53-1 without sign, fraction and exponent */
    int depth;     /* of arrays and objects */
    int values;    /* most values in all, which bounds the size of the tree */
} JsonRules;

Status json_check(StrView text, JsonRules rules);

#endif
