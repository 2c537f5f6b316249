/* json.c - a recursive descent that builds cJSON's nodes as it goes, and nothing else of cJSON's reading. */
#include "base/json.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/utf8.h"

enum { NUMBER_LIMIT = 60 }; /* characters */

typedef struct {
    bool comments; /* allow // and C comments */
    bool integers; /* numbers only as 0..2^53-1 without sign, fraction and exponent */
    int depth;     /* of arrays and objects, which bounds the recursion */
    int values;    /* most values in all, which bounds the size of the tree */
} JsonRules;

typedef struct {
    const char *start, *next, *end;
    int line; /* of `next` */
    JsonRules rules;
    StrBuf string; /* the last one, its escapes resolved */
} Parser;

/* ---- places and space ---- */

static int peek(const Parser *parser) {
    return parser->next < parser->end ? (unsigned char)*parser->next : -1;
}

static Status fail_at(const Parser *parser, const char *where, const char *problem) {
    int line = 1, column = 1;
    for (const char *c = parser->start; c < where; c++) {
        if (*c == '\n')
            line++, column = 1;
        else if (!utf8_continues(*c))
            column++;
    }
    return status_fail(STATUS_DATA, "line %d column %d: %s", line, column, problem);
}

static Status fail_here(const Parser *parser, const char *problem) {
    return fail_at(parser, parser->next, parser->next < parser->end ? problem : "the text ends too early");
}

static Status skip_comment(Parser *parser) {
    const char *start = parser->next;
    size_t left = (size_t)(parser->end - start);
    if (left < 2 || (start[1] != '/' && start[1] != '*')) return fail_here(parser, "unexpected '/'");
    if (start[1] == '/') {
        const char *end = memchr(start, '\n', left);
        parser->next = end ? end : parser->end;
        return STATUS_OK;
    }
    for (const char *c = start + 2; c < parser->end; c++) {
        parser->line += *c == '\n';
        if (c[0] == '/' && c[-1] == '*' && c > start + 2) {
            parser->next = c + 1;
            return STATUS_OK;
        }
    }
    return fail_at(parser, start, "the comment has no end");
}

static Status skip_space(Parser *parser) {
    for (;; parser->next++) {
        int c = peek(parser);
        while (c == '/' && parser->rules.comments) {
            TRY(skip_comment(parser));
            c = peek(parser);
        }
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return STATUS_OK;
        parser->line += c == '\n';
    }
}

/* ---- strings ---- */

static Status check_bytes(const Parser *parser) {
    StrView text = {parser->start, (size_t)(parser->end - parser->start)};
    size_t sound = utf8_valid_length(text);
    const char *nul = memchr(text.data, 0, sound);
    if (nul) return fail_at(parser, nul, "a NUL byte");
    return sound < text.length ? fail_at(parser, text.data + sound, "invalid UTF-8") : STATUS_OK;
}

/* Value of the four hexadecimal digits after "\u", or -1. */
static int hex4(const Parser *parser, const char *digits) {
    if (parser->end - digits < 4) return -1;
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

/* The code point of "\\uXXXX" or of a pair of these, at the backslash. */
static Status read_code_point(Parser *parser) {
    int code_point = hex4(parser, parser->next + 2);
    if (code_point < 0) return fail_here(parser, "'\\u' needs four hexadecimal digits");
    if (code_point == 0) return fail_here(parser, "a NUL character in a string");
    if (code_point >= 0xD800 && code_point <= 0xDFFF) {
        const char *second = parser->next + 6;
        bool pair = parser->end - second >= 6 && second[0] == '\\' && second[1] == 'u';
        int low = pair ? hex4(parser, second + 2) : -1;
        if (code_point >= 0xDC00 || low < 0xDC00 || low > 0xDFFF)
            return fail_here(parser, "half a surrogate pair in a string");
        code_point = 0x10000 + ((code_point - 0xD800) << 10) + (low - 0xDC00);
        parser->next += 6;
    }
    parser->next += 6;
    utf8_add(&parser->string, code_point);
    return STATUS_OK;
}

static Status read_escape(Parser *parser) {
    static const char LETTERS[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
    if (parser->end - parser->next < 2) {
        parser->next = parser->end;
        return fail_here(parser, "");
    }
    char kind = parser->next[1];
    if (kind == 'u') return read_code_point(parser);
    const char *letter = strchr(LETTERS, kind); /* of text without NUL bytes (check_bytes) */
    if (!letter) return fail_here(parser, "unknown escape in a string");
    strbuf_add_char(&parser->string, MEANT[letter - LETTERS]);
    parser->next += 2;
    return STATUS_OK;
}

/* The string at the opening quote, as a copy for the tree. */
static Status read_string(Parser *parser, char **string) {
    if (peek(parser) != '"') return fail_here(parser, "expected a string");
    parser->next++;
    strbuf_clear(&parser->string);
    for (;;) {
        const char *start = parser->next;
        while (peek(parser) >= 0x20 && peek(parser) != '"' && peek(parser) != '\\') parser->next++;
        strbuf_add(&parser->string, (StrView){start, (size_t)(parser->next - start)});
        int c = peek(parser);
        if (c == '"') break;
        if (c != '\\') return fail_here(parser, "a control character in a string");
        TRY(read_escape(parser));
    }
    parser->next++;
    *string = mem_strdup(parser->string.data);
    return STATUS_OK;
}

/* ---- numbers and words ---- */

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

static Status skip_digits(Parser *parser) {
    if (!is_digit(peek(parser))) return fail_here(parser, "expected a digit");
    while (is_digit(peek(parser))) parser->next++;
    return STATUS_OK;
}

static Status read_number(Parser *parser, double *number) {
    const char *start = parser->next;
    bool plain = peek(parser) != '-';
    if (!plain) parser->next++;
    if (peek(parser) == '0')
        parser->next++;
    else
        TRY(skip_digits(parser));
    if (is_digit(peek(parser))) return fail_at(parser, start, "a number with a leading zero");
    if (peek(parser) == '.') {
        plain = false;
        parser->next++;
        TRY(skip_digits(parser));
    }
    if (peek(parser) == 'e' || peek(parser) == 'E') {
        plain = false;
        parser->next++;
        if (peek(parser) == '+' || peek(parser) == '-') parser->next++;
        TRY(skip_digits(parser));
    }
    size_t length = (size_t)(parser->next - start);
    if (length > NUMBER_LIMIT) return fail_at(parser, start, "a number of more than 60 characters");
    /* 2^53 has 16 digits, so equal lengths compare like the numbers. */
    bool exact = plain && (length < 16 || (length == 16 && memcmp(start, "9007199254740992", 16) < 0));
    if (parser->rules.integers && !exact)
        return fail_at(parser, start, "expected an integer between 0 and 2^53-1");
    char text[NUMBER_LIMIT + 1] = {0};
    memcpy(text, start, length);
    *number = strtod(text, NULL);
    if (*number == 0 && strcspn(text, "123456789") < strcspn(text, "eE"))
        return fail_at(parser, start, "a number is too close to 0");
    return isfinite(*number) ? STATUS_OK : fail_at(parser, start, "a number is too large");
}

static Status read_word(Parser *parser, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(parser->end - parser->next) < length || memcmp(parser->next, word, length) != 0)
        return fail_here(parser, "expected a value");
    parser->next += length;
    return STATUS_OK;
}

/* ---- the tree ---- */

/* A node without a value. It keeps its line in `valueint`, which nothing else here uses. */
static Json *new_node(const Parser *parser) {
    Json *node = mem_alloc(1, sizeof *node);
    node->type = cJSON_NULL;
    node->valueint = parser->line;
    return node;
}

static int by_key_and_line(const void *a, const void *b) {
    const Json *x = *(const Json *const *)a, *y = *(const Json *const *)b;
    int order = strcmp(json_key(x), json_key(y));
    return order ? order : x->valueint - y->valueint;
}

static Status check_keys(const Json *object) {
    size_t count = json_count(object), i = 0;
    const Json **members = mem_alloc(count, sizeof *members);
    for (const Json *child = json_first(object); child; child = json_after(child)) members[i++] = child;
    qsort(members, count, sizeof *members, by_key_and_line);
    Status status = STATUS_OK;
    for (i = 1; i < count && status == STATUS_OK; i++)
        if (strcmp(json_key(members[i - 1]), json_key(members[i])) == 0)
            status = status_fail(STATUS_DATA, "line %d: key '%.100s' occurs twice", members[i]->valueint,
                                 json_key(members[i]));
    mem_free(members);
    return status;
}

static Status read_value(Parser *parser, int depth, Json *node);

/* An array or object, at its opening bracket. Every child hangs in the tree before it is read, so that the
 * root owns all there is when reading fails. */
static Status read_container(Parser *parser, int depth, Json *node) {
    if (depth >= parser->rules.depth) return fail_here(parser, "arrays and objects are nested too deeply");
    bool object = *parser->next++ == '{';
    int close = object ? '}' : ']';
    node->type = object ? cJSON_Object : cJSON_Array;
    TRY(skip_space(parser));
    if (peek(parser) == close) {
        parser->next++;
        return STATUS_OK;
    }
    for (Json **link = &node->child;; link = &(*link)->next) {
        *link = new_node(parser);
        if (object) {
            TRY(read_string(parser, &(*link)->string));
            TRY(skip_space(parser));
            if (peek(parser) != ':') return fail_here(parser, "expected ':'");
            parser->next++;
            TRY(skip_space(parser));
        }
        TRY(read_value(parser, depth + 1, *link));
        TRY(skip_space(parser));
        int c = peek(parser);
        if (c != ',' && c != close)
            return fail_here(parser, object ? "expected ',' or '}'" : "expected ',' or ']'");
        const char *comma = parser->next++;
        if (c == close) return object ? check_keys(node) : STATUS_OK;
        TRY(skip_space(parser));
        if (peek(parser) == close)
            return fail_at(parser, comma,
                           object ? "a comma before '}': remove it" : "a comma before ']': remove it");
    }
}

/* The value at `next` into `node`. */
static Status read_value(Parser *parser, int depth, Json *node) {
    if (parser->rules.values-- <= 0) return fail_here(parser, "too many values");
    int c = peek(parser);
    switch (c) {
    case '{':
    case '[':
        return read_container(parser, depth, node);
    case '"':
        node->type = cJSON_String;
        return read_string(parser, &node->valuestring);
    case 't':
        node->type = cJSON_True;
        return read_word(parser, "true");
    case 'f':
        node->type = cJSON_False;
        return read_word(parser, "false");
    case 'n':
        return read_word(parser, "null");
    default:
        node->type = cJSON_Number;
        if (c == '-' || is_digit(c)) return read_number(parser, &node->valuedouble);
        return fail_here(parser, "expected a value");
    }
}

static Status read_text(Parser *parser, Json *root) {
    TRY(check_bytes(parser));
    TRY(skip_space(parser));
    TRY(read_value(parser, 0, root));
    TRY(skip_space(parser));
    return parser->next < parser->end ? fail_here(parser, "text after the value") : STATUS_OK;
}

static Status parse(Json **root, StrView text, JsonRules rules) {
    *root = NULL;
    if (text.length == 0) return status_fail(STATUS_DATA, "the text is empty");
    Parser parser = {text.data, text.data, text.data + text.length, 1, rules, {0}};
    if (sv_starts(text, SV("\xEF\xBB\xBF"))) {
        if (!rules.comments) return fail_here(&parser, "a byte-order mark");
        parser.start = parser.next += 3; /* of an editor, to which it is no text */
    }
    Json *tree = new_node(&parser);
    Status status = read_text(&parser, tree);
    strbuf_free(&parser.string);
    if (status == STATUS_OK)
        *root = tree;
    else
        json_free(tree);
    return status;
}

Status json_parse(Json **root, StrView text, bool comments) {
    return parse(root, text, (JsonRules){.comments = comments, .depth = 32, .values = 1 << 20});
}

Status json_parse_bounded(Json **root, StrView text, int values) {
    return parse(root, text, (JsonRules){.depth = 32, .values = values});
}

Status json_parse_header(Json **root, StrView text) {
    return parse(root, text, (JsonRules){.integers = true, .depth = 4, .values = 1 << 18});
}

/* ---- looking around ---- */

void json_free(Json *root) {
    while (root) {
        Json *next = root->next;
        json_free(root->child);
        mem_free(root->string);
        mem_free(root->valuestring);
        mem_free(root);
        root = next;
    }
}

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
