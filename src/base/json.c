/* json.c - a strict check of the whole text, then cJSON's tree of it; and writing. */
#include "base/json.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hashmap.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { NUMBER_LIMIT = 60 }; /* characters, which cJSON can read too */

/* ---- the check, which makes no tree ---- */

typedef struct {
    const char *start, *next, *end;
    int line; /* of `next` */
    JsonLimits limits;
    char *plain; /* a copy of the text where comments become spaces, or NULL */
    int *lines;  /* of the children of arrays and objects, in the order of the text: of their keys */
    size_t count, capacity;
} Check;

static int peek(const Check *check) { return check->next < check->end ? (unsigned char)*check->next : -1; }

static Status fail_at(const Check *check, const char *where, const char *problem) {
    int line = 1, column = 1;
    for (const char *c = check->start; c < where; c++) {
        if (*c == '\n')
            line++, column = 1;
        else if (!utf8_continues(*c))
            column++;
    }
    return status_fail(STATUS_DATA, "line %d column %d: %s", line, column, problem);
}

static Status fail_here(const Check *check, const char *problem) {
    return fail_at(check, check->next, check->next < check->end ? problem : "the text ends too early");
}

/* To cJSON a comment is space. */
static void blank(const Check *check, const char *start, const char *end) {
    memset(check->plain + (start - check->start), ' ', (size_t)(end - start));
}

static Status skip_comment(Check *check) {
    const char *start = check->next;
    size_t left = (size_t)(check->end - start);
    if (left < 2 || (start[1] != '/' && start[1] != '*')) return fail_here(check, "unexpected '/'");
    if (start[1] == '/') {
        const char *end = memchr(start, '\n', left);
        check->next = end ? end : check->end;
        blank(check, start, check->next);
        return STATUS_OK;
    }
    for (const char *c = start + 2; c < check->end; c++) {
        check->line += *c == '\n';
        if (c[0] == '/' && c[-1] == '*' && c > start + 2) {
            check->next = c + 1;
            blank(check, start, check->next);
            return STATUS_OK;
        }
    }
    return fail_at(check, start, "the comment has no end");
}

static Status skip_space(Check *check) {
    for (;; check->next++) {
        int c = peek(check);
        while (c == '/' && check->limits.comments) {
            TRY(skip_comment(check));
            c = peek(check);
        }
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return STATUS_OK;
        check->line += c == '\n';
    }
}

static Status check_bytes(const Check *check) {
    StrView text = {check->start, (size_t)(check->end - check->start)};
    size_t sound = utf8_valid_length(text);
    const char *nul = memchr(text.data, 0, sound);
    if (nul) return fail_at(check, nul, "a NUL byte");
    return sound < text.length ? fail_at(check, text.data + sound, "invalid UTF-8") : STATUS_OK;
}

/* Value of the four hexadecimal digits after "\u", or -1. */
static int hex4(const Check *check, const char *digits) {
    if (check->end - digits < 4) return -1;
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = digits[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* "\\uXXXX", or a pair of these, at the backslash. */
static Status check_code_point(Check *check) {
    int code_point = hex4(check, check->next + 2);
    if (code_point < 0) return fail_here(check, "'\\u' needs four hexadecimal digits");
    if (code_point == 0) return fail_here(check, "a NUL character in a string");
    if (code_point >= 0xD800 && code_point <= 0xDFFF) {
        const char *second = check->next + 6;
        bool pair = check->end - second >= 6 && second[0] == '\\' && second[1] == 'u';
        int low = pair ? hex4(check, second + 2) : -1;
        if (code_point >= 0xDC00 || low < 0xDC00 || low > 0xDFFF)
            return fail_here(check, "half a surrogate pair in a string");
        check->next += 6;
    }
    check->next += 6;
    return STATUS_OK;
}

static Status check_escape(Check *check) {
    if (check->end - check->next < 2) {
        check->next = check->end;
        return fail_here(check, "");
    }
    char kind = check->next[1];
    if (kind == 'u') return check_code_point(check);
    if (!strchr("\"\\/bfnrt", kind)) return fail_here(check, "unknown escape in a string");
    check->next += 2;
    return STATUS_OK;
}

/* The string at the opening quote. */
static Status check_string(Check *check) {
    if (peek(check) != '"') return fail_here(check, "expected a string");
    check->next++;
    for (;;) {
        int c = peek(check);
        if (c == '\\') {
            TRY(check_escape(check));
            continue;
        }
        if (c < 0x20) return fail_here(check, "a control character in a string");
        check->next++;
        if (c == '"') return STATUS_OK;
    }
}

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

static Status skip_digits(Check *check) {
    if (!is_digit(peek(check))) return fail_here(check, "expected a digit");
    while (is_digit(peek(check))) check->next++;
    return STATUS_OK;
}

static Status check_number(Check *check) {
    const char *start = check->next;
    bool plain = peek(check) != '-';
    if (!plain) check->next++;
    if (peek(check) == '0')
        check->next++;
    else
        TRY(skip_digits(check));
    if (is_digit(peek(check))) return fail_at(check, start, "a number with a leading zero");
    if (peek(check) == '.') {
        plain = false;
        check->next++;
        TRY(skip_digits(check));
    }
    if (peek(check) == 'e' || peek(check) == 'E') {
        plain = false;
        check->next++;
        if (peek(check) == '+' || peek(check) == '-') check->next++;
        TRY(skip_digits(check));
    }
    size_t length = (size_t)(check->next - start);
    if (length > NUMBER_LIMIT) return fail_at(check, start, "a number of more than 60 characters");
    /* 2^53 has 16 digits, so equal lengths compare like the numbers. */
    bool exact = plain && (length < 16 || (length == 16 && memcmp(start, "9007199254740992", 16) < 0));
    if (check->limits.integers && !exact)
        return fail_at(check, start, "expected an integer between 0 and 2^53-1");
    char text[NUMBER_LIMIT + 1] = {0};
    memcpy(text, start, length);
    double number = strtod(text, NULL);
    if (number == 0 && strcspn(text, "123456789") < strcspn(text, "eE"))
        return fail_at(check, start, "a number is too close to 0");
    return isfinite(number) ? STATUS_OK : fail_at(check, start, "a number is too large");
}

static Status check_word(Check *check, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(check->end - check->next) < length || memcmp(check->next, word, length) != 0)
        return fail_here(check, "expected a value");
    check->next += length;
    return STATUS_OK;
}

static Status check_value(Check *check, int depth);

static Status check_member(Check *check) {
    TRY(check_string(check));
    TRY(skip_space(check));
    if (peek(check) != ':') return fail_here(check, "expected ':'");
    check->next++;
    return skip_space(check);
}

/* An array or object, at its opening bracket. */
static Status check_container(Check *check, int depth) {
    if (depth >= check->limits.depth) return fail_here(check, "arrays and objects are nested too deeply");
    bool object = *check->next++ == '{';
    int close = object ? '}' : ']';
    TRY(skip_space(check));
    if (peek(check) == close) {
        check->next++;
        return STATUS_OK;
    }
    for (;;) {
        MEM_GROW(check->lines, check->capacity, check->count + 1);
        check->lines[check->count++] = check->line;
        if (object) TRY(check_member(check));
        TRY(check_value(check, depth + 1));
        TRY(skip_space(check));
        int c = peek(check);
        if (c != ',' && c != close)
            return fail_here(check, object ? "expected ',' or '}'" : "expected ',' or ']'");
        const char *comma = check->next++;
        if (c == close) return STATUS_OK;
        TRY(skip_space(check));
        if (peek(check) == close)
            return fail_at(check, comma,
                           object ? "a comma before '}': remove it" : "a comma before ']': remove it");
    }
}

static Status check_value(Check *check, int depth) {
    if (check->limits.values-- <= 0) return fail_here(check, "too many values");
    int c = peek(check);
    switch (c) {
    case '{':
    case '[':
        return check_container(check, depth);
    case '"':
        return check_string(check);
    case 't':
        return check_word(check, "true");
    case 'f':
        return check_word(check, "false");
    case 'n':
        return check_word(check, "null");
    default:
        if (c == '-' || is_digit(c)) return check_number(check);
        return fail_here(check, "expected a value");
    }
}

static Status check_text(Check *check) {
    TRY(check_bytes(check));
    TRY(skip_space(check));
    TRY(check_value(check, 0));
    TRY(skip_space(check));
    return check->next < check->end ? fail_here(check, "text after the value") : STATUS_OK;
}

/* ---- the tree ---- */

static void *allocate(size_t bytes) { return mem_alloc(bytes, 1); }

static void use_our_memory(void) { cJSON_InitHooks(&(cJSON_Hooks){allocate, mem_free}); }

typedef struct {
    const int *lines; /* Check.lines */
    size_t count;     /* nodes met so far */
    HashMap *keys;    /* "NUMBER OF THE OBJECT:KEY" */
    StrBuf key;
} Walk;

/* Each child gets its line, in `valueint`, which nothing else here uses; no object has a key twice. */
static Status finish_children(Walk *walk, const Json *parent) {
    size_t number = walk->count;
    for (Json *child = parent->child; child; child = child->next) {
        child->valueint = walk->lines[walk->count++];
        if (child->string) {
            size_t before = hashmap_count(walk->keys);
            strbuf_clear(&walk->key);
            strbuf_format(&walk->key, "%zu:%s", number, child->string);
            hashmap_set(walk->keys, strbuf_view(&walk->key), 0);
            if (hashmap_count(walk->keys) == before)
                return status_fail(STATUS_DATA, "line %d: key '%.100s' occurs twice", child->valueint,
                                   child->string);
        }
        TRY(finish_children(walk, child));
    }
    return STATUS_OK;
}

/* Of text that the check let pass. */
static Status make_tree(Json **root, StrView text, const int *lines) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, use_our_memory);
    Json *tree = cJSON_ParseWithLengthOpts(text.data, text.length, NULL, false);
    assert(tree);
    Walk walk = {.lines = lines, .keys = hashmap_new()};
    Status status = finish_children(&walk, tree);
    hashmap_free(walk.keys);
    strbuf_free(&walk.key);
    if (status == STATUS_OK)
        *root = tree;
    else
        json_free(tree);
    return status;
}

Status json_parse_within(Json **root, StrView text, JsonLimits limits) {
    *root = NULL;
    if (text.length == 0) return status_fail(STATUS_DATA, "the text is empty");
    Check check = {
        .start = text.data, .next = text.data, .end = text.data + text.length, .line = 1, .limits = limits};
    if (sv_starts(text, SV("\xEF\xBB\xBF"))) {
        if (!limits.comments) return fail_here(&check, "a byte-order mark");
        check.start = check.next += 3; /* of an editor, to which it is no text */
        text = (StrView){check.start, text.length - 3};
    }
    if (limits.comments) check.plain = mem_strndup(text.data, text.length);
    Status status = check_text(&check);
    if (check.plain) text.data = check.plain;
    if (status == STATUS_OK) status = make_tree(root, text, check.lines);
    mem_free(check.plain);
    mem_free(check.lines);
    return status;
}

Status json_parse(Json **root, StrView text, bool comments) {
    return json_parse_within(root, text, (JsonLimits){.comments = comments, .depth = 32, .values = 1 << 20});
}

Status json_parse_header(Json **root, StrView text) {
    return json_parse_within(root, text, (JsonLimits){.integers = true, .depth = 4, .values = 1 << 18});
}

/* ---- looking around ---- */

void json_free(Json *root) { cJSON_Delete(root); }

JsonType json_type(const Json *value) {
    if (cJSON_IsBool(value)) return JSON_BOOL;
    if (cJSON_IsNumber(value)) return JSON_NUMBER;
    if (cJSON_IsString(value)) return JSON_STRING;
    if (cJSON_IsArray(value)) return JSON_ARRAY;
    if (cJSON_IsObject(value)) return JSON_OBJECT;
    return JSON_NULL;
}

const Json *json_get(const Json *object, const char *key) {
    return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, key) : NULL;
}

const Json *json_first(const Json *container) {
    return cJSON_IsObject(container) || cJSON_IsArray(container) ? container->child : NULL;
}

const Json *json_after(const Json *child) { return child->next; }

const char *json_key(const Json *member) { return member->string; }

const char *json_string(const Json *value) {
    assert(cJSON_IsString(value));
    return value->valuestring;
}

double json_number(const Json *value) {
    assert(cJSON_IsNumber(value));
    return value->valuedouble;
}

bool json_bool(const Json *value) { return cJSON_IsTrue(value); }

size_t json_count(const Json *container) {
    size_t count = 0;
    for (const Json *child = json_first(container); child; child = child->next) count++;
    return count;
}

int json_line(const Json *root, const char *path) {
    StrView rest = sv(path), name;
    while (root && sv_next(&rest, '.', &name)) {
        root = json_type(root) == JSON_OBJECT ? root->child : NULL;
        while (root && !sv_equal(sv(root->string), name)) root = root->next;
    }
    return root ? root->valueint : 0;
}

/* ---- writing ---- */

/* Does the text so far end in a value? What stands before a first or after a comma is one of these bytes. */
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
    strbuf_free(&sound);
}

void json_write_number(StrBuf *out, double value) {
    char text[40];
    int digits = 1;
    if (fabs(value) < 0x1p53 && value == floor(value)) {
        separate(out);
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
    separate(out);
    if (isfinite(value))
        strbuf_format(out, "%.*g", digits, value);
    else
        strbuf_add(out, SV("null"));
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
