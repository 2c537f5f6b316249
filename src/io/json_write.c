/* json_write.c - see json_write.h. */
#include "io/json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/utf8.h"

/* Does the text end in a value? If not, its last byte is an opening bracket, a colon, a comma or space. */
static bool after_value(const StrBuf *out) {
    return out->length > 0 && !strchr("[{:, \n\t", out->data[out->length - 1]);
}

static void separate(StrBuf *out) {
    if (after_value(out)) strbuf_add(out, SV(", "));
}

static void open(StrBuf *out, char bracket) {
    separate(out);
    strbuf_add_char(out, bracket);
}

void json_open_object(StrBuf *out) { open(out, '{'); }
void json_close_object(StrBuf *out) { strbuf_add_char(out, '}'); }
void json_open_array(StrBuf *out) { open(out, '['); }
void json_close_array(StrBuf *out) { strbuf_add_char(out, ']'); }

void json_write_key(StrBuf *out, const char *key) {
    separate(out);
    strbuf_format(out, "\"%s\": ", key);
}

void json_write_line(StrBuf *out, int indent) {
    strbuf_format(out, "%s\n%*s", after_value(out) ? "," : "", indent, "");
}

void json_write_text(StrBuf *out, StrView json) {
    separate(out);
    strbuf_add(out, json);
}

void json_write_bool(StrBuf *out, bool value) {
    separate(out);
    strbuf_add(out, value ? SV("true") : SV("false"));
}

void json_write_integer(StrBuf *out, long long value) {
    separate(out);
    strbuf_format(out, "%lld", value);
}

/* Adds the character at *at, as \uXXXX if it controls a terminal. *at becomes the character's last byte. */
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
    StrBuf repaired = {0};
    if (text.length > 0 && (memchr(text.data, 0, text.length) || !utf8_valid(text))) {
        utf8_repair(text, &repaired);
        text = strbuf_view(&repaired);
    }
    open(out, '"');
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
    strbuf_free(&repaired);
}

void json_write_number(StrBuf *out, double value) {
    char text[40];
    int digits = 1;
    if (fabs(value) < 0x1p53 && value == floor(value)) {
        separate(out);
        strbuf_format(out, "%.0f", value);
        return;
    }
    for (; digits < 17; digits++) { /* 17 digits always suffice */
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    json_write_digits(out, value, digits);
}

void json_write_digits(StrBuf *out, double value, int digits) {
    separate(out);
    if (isfinite(value))
        strbuf_format(out, "%.*g", digits, value);
    else
        strbuf_add(out, SV("null"));
}

static void write_members(StrBuf *out, const Json *container) {
    for (const Json *child = json_first(container); child; child = json_after(child)) {
        if (json_type(container) == JSON_OBJECT) {
            json_write_string(out, sv(json_key(child)));
            strbuf_add(out, SV(": "));
        }
        json_write_value(out, child);
    }
}

/* Recursive: json_parse limits the depth. */
void json_write_value(StrBuf *out, const Json *value) {
    switch (json_type(value)) {
    case JSON_BOOL:
        json_write_bool(out, json_bool(value));
        return;
    case JSON_NUMBER:
        json_write_number(out, json_number(value));
        return;
    case JSON_STRING:
        json_write_string(out, sv(json_string(value)));
        return;
    case JSON_ARRAY:
        json_open_array(out);
        write_members(out, value);
        json_close_array(out);
        return;
    case JSON_OBJECT:
        json_open_object(out);
        write_members(out, value);
        json_close_object(out);
        return;
    default:
        json_write_text(out, SV("null"));
        return;
    }
}

void json_put_object(StrBuf *out, const char *key) {
    json_write_key(out, key);
    json_open_object(out);
}

void json_put_array(StrBuf *out, const char *key) {
    json_write_key(out, key);
    json_open_array(out);
}

void json_put_string(StrBuf *out, const char *key, StrView text) {
    json_write_key(out, key);
    json_write_string(out, text);
}

void json_put_bool(StrBuf *out, const char *key, bool value) {
    json_write_key(out, key);
    json_write_bool(out, value);
}

void json_put_integer(StrBuf *out, const char *key, long long value) {
    json_write_key(out, key);
    json_write_integer(out, value);
}

void json_put_number(StrBuf *out, const char *key, double value) {
    json_write_key(out, key);
    json_write_number(out, value);
}

void json_put_digits(StrBuf *out, const char *key, double value, int digits) {
    json_write_key(out, key);
    json_write_digits(out, value, digits);
}
