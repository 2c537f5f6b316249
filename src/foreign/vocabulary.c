/* vocabulary.c - see vocabulary.h. */
#include "foreign/vocabulary.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "io/json.h"

/* Tokens by their ids, which come in any order. */
typedef struct {
    char **tokens;
    size_t capacity, count;
    int64_t greatest;
} ById;

static Status by_id_add(ById *by_id, StrView token, double id) {
    if (!(id >= 0 && id < FOREIGN_VOCAB_SIZE) || id != (double)(int64_t)id)
        return status_fail(STATUS_DATA, "vocabulary: '%.*s' has no usable id",
                           token.length < 100 ? (int)token.length : 100, token.data);
    size_t old = by_id->capacity, index = (size_t)id;
    MEM_GROW(by_id->tokens, by_id->capacity, index + 1);
    for (size_t i = old; i < by_id->capacity; i++) by_id->tokens[i] = NULL;
    if (by_id->tokens[index]) return status_fail(STATUS_DATA, "vocabulary: the id %zu occurs twice", index);
    by_id->tokens[index] = mem_strndup(token.data, token.length);
    by_id->count++;
    if ((int64_t)index > by_id->greatest) by_id->greatest = (int64_t)index;
    return STATUS_OK;
}

static Status by_id_finish(ById *by_id, Status status, StrList *tokens) {
    size_t end = (size_t)(by_id->greatest + 1);
    if (status == STATUS_OK && by_id->count == 0)
        status = status_fail(STATUS_DATA, "vocabulary: it is empty");
    for (size_t i = 0; i < end && status == STATUS_OK; i++) {
        if (!by_id->tokens[i])
            status = status_fail(STATUS_DATA, "vocabulary: no token has the id %zu", i);
        else
            strlist_add(tokens, sv(by_id->tokens[i]));
    }
    for (size_t i = 0; i < by_id->capacity; i++) mem_free(by_id->tokens[i]);
    mem_free(by_id->tokens);
    return status;
}

Status foreign_vocabulary_json(StrList *tokens, StrView text) {
    Json *root;
    ById by_id = {.greatest = -1};
    double next = 0;
    TRY(json_parse(&root, text, false));
    bool is_list = json_type(root) == JSON_ARRAY;
    Status status = is_list || json_type(root) == JSON_OBJECT
                        ? STATUS_OK
                        : status_fail(STATUS_DATA, "vocabulary: it is not a list");
    for (const Json *item = json_first(root); item && status == STATUS_OK; item = json_after(item)) {
        if (json_type(item) != (is_list ? JSON_STRING : JSON_NUMBER))
            status = status_fail(STATUS_DATA, "vocabulary: an entry is malformed");
        else
            status = by_id_add(&by_id, sv(is_list ? json_string(item) : json_key(item)),
                               is_list ? next++ : json_number(item));
    }
    json_free(root);
    return by_id_finish(&by_id, status, tokens);
}

Status foreign_vocabulary_lines(StrList *tokens, StrView text) {
    ById by_id = {.greatest = -1};
    StrView line;
    Status status = STATUS_OK;
    double next = 0;
    while (status == STATUS_OK && sv_next(&text, '\n', &line))
        if (line.length > 0 || text.length > 0) status = by_id_add(&by_id, line, next++);
    return by_id_finish(&by_id, status, tokens);
}

/* ---- YAML ---- */

static int hex_digits(StrView text, size_t at, size_t count) {
    int number = 0;
    for (size_t i = 0; i < count; i++) {
        char c = at + i < text.length ? text.data[at + i] : 'x';
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0 || number > 0x10FFFF) return -1;
        number = number * 16 + digit;
    }
    return number <= 0x10FFFF && (number < 0xD800 || number > 0xDFFF) ? number : -1;
}

/* The text in double quotes. */
static Status yaml_escaped(StrView text, StrBuf *out) {
    static const struct {
        char letter;
        int character;
    } escapes[] = {{'"', '"'},    {'\\', '\\'}, {'/', '/'},  {'n', '\n'},   {'t', '\t'},  {'r', '\r'},
                   {'0', 0xFFFD}, {'a', 7},     {'b', 8},    {'v', 11},     {'f', 12},    {'e', 27},
                   {' ', ' '},    {'N', 0x85},  {'_', 0xA0}, {'L', 0x2028}, {'P', 0x2029}};
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] != '\\') {
            strbuf_add_char(out, text.data[i]);
            continue;
        }
        char c = ++i < text.length ? text.data[i] : '\0';
        size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
        int character = digits ? hex_digits(text, i + 1, digits) : -1;
        for (size_t k = 0; k < sizeof escapes / sizeof *escapes; k++)
            if (escapes[k].letter == c) character = escapes[k].character;
        if (character < 0)
            return status_fail(STATUS_DATA, "an escape of YAML is malformed: '%.*s'",
                               text.length < 100 ? (int)text.length : 100, text.data);
        i += digits;
        utf8_add(out, character ? character : UTF8_REPLACEMENT);
    }
    return STATUS_OK;
}

static Status yaml_key(StrView text, StrBuf *out) {
    char quote = text.length >= 2 ? text.data[0] : '\0';
    bool quoted = (quote == '"' || quote == '\'') && text.data[text.length - 1] == quote;
    StrView inner = quoted ? (StrView){text.data + 1, text.length - 2} : text;
    if (quoted && quote == '"') return yaml_escaped(inner, out);
    for (size_t i = 0; i < inner.length; i++) {
        strbuf_add_char(out, inner.data[i]);
        if (quoted && inner.data[i] == '\'' && i + 1 < inner.length && inner.data[i + 1] == '\'') i++;
    }
    return STATUS_OK;
}

/* The place of the last ": ", or of a ':' at the end. */
static size_t last_colon(StrView line) {
    for (size_t i = line.length; i-- > 0;)
        if (line.data[i] == ':' && (i + 1 == line.length || line.data[i + 1] == ' ')) return i;
    return line.length;
}

Status foreign_vocabulary_yaml(StrList *tokens, StrView text) {
    ById by_id = {.greatest = -1};
    StrBuf key = {0};
    StrView line;
    Status status = STATUS_OK;
    for (long number = 1; status == STATUS_OK && sv_next(&text, '\n', &line); number++) {
        if (line.length > 0 && line.data[line.length - 1] == '\r') line.length--;
        if (line.length == 0 || line.data[0] == '#' || sv_equal(line, SV("---"))) continue;
        if (sv_starts(line, SV("? "))) { /* a key on a line of its own, and its id on the next */
            strbuf_clear(&key);
            status = yaml_key((StrView){line.data + 2, line.length - 2}, &key);
            continue;
        }
        size_t colon = last_colon(line);
        char *end;
        StrBuf value = {0};
        if (colon < line.length)
            strbuf_add(&value, sv_trim((StrView){line.data + colon + 1, line.length - colon - 1}));
        double id = strtod(strbuf_text(&value), &end);
        if (value.length == 0 || *end != '\0')
            status = status_fail(STATUS_DATA, "vocabulary: line %ld has no id", number);
        strbuf_free(&value);
        if (status == STATUS_OK && colon > 0) {
            strbuf_clear(&key);
            status = yaml_key((StrView){line.data, colon}, &key);
        }
        if (status == STATUS_OK) status = by_id_add(&by_id, strbuf_view(&key), id);
    }
    strbuf_free(&key);
    return by_id_finish(&by_id, status, tokens);
}

int foreign_vocabulary_find(const StrList *tokens, const char *token) {
    for (size_t i = 0; i < tokens->count; i++)
        if (strcmp(tokens->items[i], token) == 0) return (int)i;
    return -1;
}

StrView foreign_yaml_value(StrView text, const char *key) {
    StrView line;
    while (sv_next(&text, '\n', &line)) {
        size_t length = strlen(key);
        if (!sv_starts(line, sv(key)) || line.length <= length || line.data[length] != ':') continue;
        StrView value = sv_trim((StrView){line.data + length + 1, line.length - length - 1});
        if (value.length >= 2 && (value.data[0] == '"' || value.data[0] == '\'') &&
            value.data[value.length - 1] == value.data[0])
            value = (StrView){value.data + 1, value.length - 2};
        return value;
    }
    return (StrView){0};
}
