/* form.c - see form.h. */
#include "serve/form.h"

#include <string.h>
#include <strings.h>
#include "base/mem.h"

static Status fail_many(void) { return status_fail(STATUS_DATA, "the form has too many values"); }

/* ---- URL-encoded ---- */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* "a+b%21" is "a b!". NULL if the text is malformed or has a NUL. */
static char *decode(StrView text) {
    char *decoded = mem_alloc(text.length + 1, 1), *end = decoded;
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] != '%') {
            *end++ = text.data[i] == '+' ? ' ' : text.data[i];
            continue;
        }
        bool complete = i + 2 < text.length;
        int high = complete ? hex_digit(text.data[i + 1]) : -1,
            low = complete ? hex_digit(text.data[i + 2]) : -1;
        if (high < 0 || low < 0 || high + low == 0) return NULL;
        *end++ = (char)(high << 4 | low);
        i += 2;
    }
    return decoded;
}

Status form_read_urlencoded(StrView body, int most, FormReader reader, void *context) {
    StrView pair;
    while (sv_next(&body, '&', &pair)) {
        if (pair.length == 0) continue;
        if (most-- <= 0) return fail_many();
        StrView name = {0}, rest = pair;
        sv_next(&rest, '=', &name);
        FormField field = {.name = decode(name), .value = decode(rest)};
        if (!field.name || !field.value || memchr(pair.data, 0, pair.length))
            return status_fail(STATUS_DATA, "the form is not URL-encoded text");
        TRY(reader(context, &field));
    }
    return STATUS_OK;
}

/* ---- multipart ---- */

static Status fail_part(const char *reason) {
    return status_fail(STATUS_DATA, "the form is not multipart/form-data: %s", reason);
}

static void skip(StrView *text, size_t bytes) {
    if (bytes > 0) text->data += bytes; /* the data of an empty view can be NULL */
    text->length -= bytes;
}

static bool starts_with_name(StrView text, const char *name) {
    size_t length = strlen(name);
    return text.length >= length && strncasecmp(text.data, name, length) == 0;
}

/* Cuts the next parameter off a header, as in `; name="q"`. Browsers write a quote in a value as %22, other
 * clients as \". False if none is left. */
static bool next_parameter(StrView *header, StrView *name, StrBuf *value) {
    strbuf_clear(value);
    while (header->length > 0 && (char_is_space(header->data[0]) || header->data[0] == ';')) skip(header, 1);
    size_t length = 0;
    while (length < header->length && header->data[length] != '=' && header->data[length] != ';') length++;
    *name = sv_trim((StrView){header->data, length});
    skip(header, length);
    if (header->length == 0 || header->data[0] != '=') return name->length > 0;
    skip(header, 1);
    bool quoted = header->length > 0 && header->data[0] == '"';
    if (quoted) skip(header, 1);
    while (header->length > 0 && header->data[0] != (quoted ? '"' : ';')) {
        bool escaped = quoted && header->data[0] == '\\' && header->length > 1 &&
                       (header->data[1] == '"' || header->data[1] == '\\');
        if (escaped) skip(header, 1);
        strbuf_add_char(value, header->data[0]);
        skip(header, 1);
    }
    if (quoted && header->length > 0) skip(header, 1);
    return true;
}

/* The parameter of a header in new memory; NULL if it has none of this name. The value of the header itself
 * is no parameter. */
static char *find_parameter(StrView header, const char *requested) {
    StrBuf value = {0};
    StrView name, first;
    sv_next(&header, ';', &first);
    while (next_parameter(&header, &name, &value))
        if (name.length == strlen(requested) && starts_with_name(name, requested))
            return strbuf_text(&value)[0] ? value.data : mem_strdup("");
    return NULL;
}

/* Where `boundary` begins in `text`; text.length if it does not. */
static size_t find(StrView text, StrView boundary) {
    for (size_t at = 0; at + boundary.length <= text.length; at++) {
        const char *first = memchr(text.data + at, boundary.data[0], text.length - at);
        if (!first) break;
        at = (size_t)(first - text.data);
        if (at + boundary.length <= text.length && memcmp(first, boundary.data, boundary.length) == 0)
            return at;
    }
    return text.length;
}

/* Where the next delimiter begins: a boundary on a line of its own, or the last one, followed by --. */
static size_t find_delimiter(StrView text, StrView delimiter) {
    StrView rest = text;
    for (size_t at; (at = find(rest, delimiter)) < rest.length;) {
        skip(&rest, at + delimiter.length);
        if (sv_starts(rest, SV("--")) || (rest.length > 0 && memchr(" \t\r", rest.data[0], 3)))
            return (size_t)(rest.data - text.data) - delimiter.length;
    }
    return text.length;
}

static StrView cut_line(StrView *text) {
    StrView line = {text->data, find(*text, SV("\r\n"))};
    skip(text, line.length);
    if (text->length > 0) skip(text, 2);
    return line;
}

/* Does the encoding leave bytes as they are? */
static bool is_plain_encoding(StrView value) {
    return starts_with_name(value, "binary") || starts_with_name(value, "8bit") ||
           starts_with_name(value, "7bit");
}

/* `part`: headers, an empty line, the value. */
static Status read_part(StrView part, FormField *field) {
    static const char DISPOSITION[] = "Content-Disposition:", ENCODING[] = "Content-Transfer-Encoding:";
    *field = (FormField){0};
    for (StrView line = cut_line(&part); line.length > 0; line = cut_line(&part)) {
        if (starts_with_name(line, DISPOSITION)) {
            field->name = find_parameter(line, "name");
            field->file = find_parameter(line, "filename");
        } else if (starts_with_name(line, ENCODING)) {
            StrView value = {line.data + strlen(ENCODING), line.length - strlen(ENCODING)};
            if (!is_plain_encoding(sv_trim(value))) return fail_part("a part has an encoding");
        }
    }
    if (!field->name) return fail_part("a part has no name");
    if (strlen(field->name) == 0) return fail_part("a part has an empty name");
    if (field->file) {
        field->content = part;
        return STATUS_OK;
    }
    if (memchr(part.data, 0, part.length)) return fail_part("a text has a NUL character");
    char *value = mem_alloc(part.length + 1, 1);
    memcpy(value, part.data, part.length);
    field->value = value;
    return STATUS_OK;
}

Status form_read_multipart(StrView type, StrView body, int most, FormReader reader, void *context) {
    const char *boundary = find_parameter(type, "boundary");
    if (!boundary || !boundary[0]) return fail_part("the Content-Type names no boundary");
    StrBuf delimiter = {0};
    strbuf_format(&delimiter, "\r\n--%s", boundary);
    StrView first = {delimiter.data + 2, delimiter.length - 2};
    if (sv_starts(body, first)) {
        skip(&body, first.length);
    } else { /* text before the first boundary is ignored */
        size_t at = find_delimiter(body, strbuf_view(&delimiter));
        if (at == body.length) return fail_part("its boundary is missing");
        skip(&body, at + delimiter.length);
    }
    while (!sv_starts(body, SV("--"))) {
        if (most-- <= 0) return fail_many();
        cut_line(&body); /* blanks can follow a boundary */
        StrView part = {body.data, find_delimiter(body, strbuf_view(&delimiter))};
        if (part.length == body.length) return fail_part("its last boundary is missing");
        skip(&body, part.length + delimiter.length);
        FormField field;
        TRY(read_part(part, &field));
        TRY(reader(context, &field));
    }
    return STATUS_OK;
}
