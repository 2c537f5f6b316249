/* json.c - a strict check of the whole text, then a copy of cJSON's tree. */
#include "io/json.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hashmap.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { NUMBER_LIMIT = 60 }; /* characters; cJSON reads no more than 63 */

/* ---- the check ---- */

typedef struct {
    const char *start, *next, *end;
    int line; /* of `next` */
    JsonLimits limits;
    char *plain; /* a copy of the text with spaces for comments, or NULL */
    int *lines;  /* of arrays' and objects' children, in the order of the text; of members: of the keys */
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

/* For cJSON, a comment becomes spaces. */
static void blank(const Check *check, const char *start, const char *end) {
    memset(check->plain + (start - check->start), ' ', (size_t)(end - start));
}

static Status skip_comment(Check *check) {
    const char *start = check->next;
    size_t remaining = (size_t)(check->end - start);
    if (remaining < 2 || (start[1] != '/' && start[1] != '*')) return fail_here(check, "unexpected '/'");
    if (start[1] == '/') {
        const char *end = memchr(start, '\n', remaining);
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
    size_t valid = utf8_valid_length(text);
    const char *nul = memchr(text.data, 0, valid);
    if (nul) return fail_at(check, nul, "a NUL byte");
    return valid < text.length ? fail_at(check, text.data + valid, "invalid UTF-8") : STATUS_OK;
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

/* At the backslash of "\\uXXXX", or of a surrogate pair. */
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

/* At the opening quote. */
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

/* At the opening bracket of an array or object. */
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

/* ---- the tree, a copy of cJSON's ---- */

struct Json {
    JsonType type;
    int line; /* of a child: see Check.lines */
    double number;
    const char *key, *string;
    Json *child, *next;
};

/* A tree is one block: its nodes in the order of the text, then keys and strings. The block exists before
 * cJSON runs, because a scope (mem_scope.h) that runs out of memory would never delete cJSON's tree. */
typedef struct {
    Json *nodes;
    const int *lines; /* Check.lines */
    size_t count;     /* of nodes in use */
    char *text;       /* the rest of the block */
} Copy;

static JsonType type_of(const cJSON *value) {
    if (cJSON_IsBool(value)) return JSON_BOOL;
    if (cJSON_IsNumber(value)) return JSON_NUMBER;
    if (cJSON_IsString(value)) return JSON_STRING;
    if (cJSON_IsArray(value)) return JSON_ARRAY;
    if (cJSON_IsObject(value)) return JSON_OBJECT;
    return JSON_NULL;
}

static const char *copy_text(Copy *copy, const char *text) {
    if (!text) return NULL;
    size_t bytes = strlen(text) + 1;
    char *to = memcpy(copy->text, text, bytes);
    copy->text += bytes;
    return to;
}

static Json *copy_value(Copy *copy, const cJSON *value) {
    Json *node = &copy->nodes[copy->count++];
    *node = (Json){.type = type_of(value),
                   .number = cJSON_IsBool(value) ? cJSON_IsTrue(value) : value->valuedouble,
                   .key = copy_text(copy, value->string),
                   .string = copy_text(copy, value->valuestring)};
    Json **next = &node->child;
    for (const cJSON *child = value->child; child; child = child->next, next = &(*next)->next) {
        int line = copy->lines[copy->count - 1];
        *next = copy_value(copy, child);
        (*next)->line = line;
    }
    return node;
}

typedef struct {
    const Json *root;
    HashMap *seen; /* "NUMBER OF THE OBJECT:KEY" */
    StrBuf key;
} KeyCheck;

/* No object may have a key twice. */
static Status check_keys(KeyCheck *keys, const Json *parent) {
    for (const Json *child = parent->child; child; child = child->next) {
        if (child->key) {
            size_t before = hashmap_count(keys->seen);
            strbuf_clear(&keys->key);
            strbuf_format(&keys->key, "%zu:%s", (size_t)(parent - keys->root), child->key);
            hashmap_set(keys->seen, strbuf_view(&keys->key), 0);
            if (hashmap_count(keys->seen) == before)
                return status_fail(STATUS_DATA, "line %d: key '%.100s' occurs twice", child->line,
                                   child->key);
        }
        TRY(check_keys(keys, child));
    }
    return STATUS_OK;
}

/* Makes the tree of a text that passed the check and has `values` values. */
static Status make_tree(Json **root, StrView text, const int *lines, size_t values) {
    /* Decoded, a string with its NUL is shorter than in the text, where it has two quotes. */
    size_t nodes = values * sizeof(Json);
    Json *tree = mem_alloc(nodes + text.length, 1);
    Copy copy = {.nodes = tree, .lines = lines, .text = (char *)tree + nodes};
    cJSON *parsed = cJSON_ParseWithLengthOpts(text.data, text.length, NULL, false);
    if (!parsed) mem_exhausted(text.length); /* nothing else can fail after the check */
    copy_value(&copy, parsed);
    cJSON_Delete(parsed);

    KeyCheck keys = {.root = tree, .seen = hashmap_new()};
    Status status = check_keys(&keys, tree);
    hashmap_free(keys.seen);
    strbuf_free(&keys.key);
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
        check.start = check.next += 3; /* editors write it; it is not part of the text */
        text = (StrView){check.start, text.length - 3};
    }
    if (limits.comments) check.plain = mem_strndup(text.data, text.length);
    Status status = check_text(&check);
    if (check.plain) text.data = check.plain;
    size_t values = (size_t)(limits.values - check.limits.values);
    if (status == STATUS_OK) status = make_tree(root, text, check.lines, values);
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

/* ---- access ---- */

void json_free(Json *root) { mem_free(root); }

JsonType json_type(const Json *value) { return value ? value->type : JSON_NULL; }

const Json *json_get(const Json *object, const char *key) {
    if (!object || object->type != JSON_OBJECT) return NULL;
    const Json *member = object->child;
    while (member && strcmp(member->key, key) != 0) member = member->next;
    return member;
}

const Json *json_first(const Json *container) { return container ? container->child : NULL; }

const Json *json_after(const Json *child) { return child->next; }

const char *json_key(const Json *member) { return member->key; }

const char *json_string(const Json *value) {
    assert(value->type == JSON_STRING);
    return value->string;
}

double json_number(const Json *value) {
    assert(value->type == JSON_NUMBER);
    return value->number;
}

bool json_bool(const Json *value) { return value && value->type == JSON_BOOL && value->number != 0; }

size_t json_count(const Json *container) {
    size_t count = 0;
    for (const Json *child = json_first(container); child; child = child->next) count++;
    return count;
}

int json_line(const Json *root, const char *path) {
    StrView rest = sv(path), name;
    while (root && sv_next(&rest, '.', &name)) {
        root = root->type == JSON_OBJECT ? root->child : NULL;
        while (root && !sv_equal(sv(root->key), name)) root = root->next;
    }
    return root ? root->line : 0;
}
