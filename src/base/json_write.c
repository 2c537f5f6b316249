/* json_write.c - strings and numbers as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "base/utf8.h"

/* The character at *at, which becomes its last byte: as \uXXXX if a terminal would obey it. */
static void add_character(StrBuf *out, StrView text, size_t *at) {
    size_t next = *at;
    int code_point = utf8_next(text, &next);
    if (utf8_is_control(code_point))
        strbuf_format(out, "\\u%04x", (unsigned)code_point);
    else
        strbuf_add(out, (StrView){text.data + *at, next - *at});
    *at = next - 1;
}

void json_write_string(StrBuf *out, StrView text) {
    StrBuf sound = {0};
    if (text.length > 0 && (memchr(text.data, 0, text.length) || !utf8_valid(text))) {
        utf8_repair(text, &sound);
        text = strbuf_view(&sound);
    }
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (c == '"' || c == '\\')
            strbuf_add_char(out, '\\'), strbuf_add_char(out, c);
        else if (c == '\n')
            strbuf_add(out, SV("\\n"));
        else if (c == '\t')
            strbuf_add(out, SV("\\t"));
        else if (c == '\r')
            strbuf_add(out, SV("\\r"));
        else
            add_character(out, text, &i);
    }
    strbuf_add_char(out, '"');
    strbuf_free(&sound);
}

void json_write_number(StrBuf *out, double value) {
    char text[40];
    int digits = 1;
    if (fabs(value) < 0x1p53 && value == floor(value)) {
        strbuf_format(out, "%.0f", value);
        return;
    }
    for (; digits < 17; digits++) { /* which always do */
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    json_write_digits(out, value, digits);
}

void json_write_digits(StrBuf *out, double value, int digits) {
    if (isfinite(value))
        strbuf_format(out, "%.*g", digits, value);
    else
        strbuf_add(out, SV("null"));
}
